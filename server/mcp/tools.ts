// Defines the tools for models. Each tool is one API operation, named by its operationId.

import type { JsonSchema } from '../platform/http/examples.ts'
import { richTextOf } from '../rich-text/markdown.ts'
import {
  type Shorten,
  shortExperiment,
  shortSound,
  shortTopics,
  shortTranscript,
  transcriptArguments,
} from './shorten.ts'

export type Tool = {
  name: string
  /** The name that clients display. */
  title: string
  operationId: string
  /** Tells the model when to use the tool. The operation's schema describes the arguments. */
  about: string
  /** Shortens the response for a model. */
  shorten?: Shorten
  /** The arguments of `shorten`, which are not part of the operation. */
  reading?: Record<string, JsonSchema>
  /** Arguments that models write in a different format than the operation's. */
  written?: Record<string, { schema: JsonSchema; read: (value: string) => unknown }>
  /** The console page for the returned resource. Its URL ends with the resource's ID. */
  page?: string
  /** The operation that returns a link for the same ID. It is called if the response has a `downloadPath`. */
  link?: string
}

const markdown: NonNullable<Tool['written']>[string] = {
  schema: { type: 'string', maxLength: 10_000, description: 'In Markdown.' },
  read: richTextOf,
}

export const tools: Tool[] = [
  {
    name: 'search_conversations',
    title: 'Search conversations',
    operationId: 'searchConversations',
    page: '/conversations/',
    about:
      'Find conversations by a filter: text, meaning (`similarTo`), agents, dates, channel, monitor results, ' +
      'extracted fields, or metadata. Newest first, or most similar first with `sort`.',
  },
  {
    name: 'count_conversations',
    title: 'Count conversations',
    operationId: 'countConversations',
    about: 'Count the conversations that match a filter.',
  },
  {
    name: 'get_conversation',
    title: 'Get a conversation',
    operationId: 'getConversation',
    page: '/conversations/',
    about: 'Get a conversation with its times, agent, customer, metadata, and signals, but without its transcript.',
  },
  {
    name: 'read_transcript',
    title: 'Read a transcript',
    operationId: 'getTranscript',
    about: 'Read the transcript of a conversation, some turns at a time. Start with turn 0 and follow `nextTurn`.',
    shorten: shortTranscript,
    reading: transcriptArguments,
  },
  {
    name: 'get_sound',
    title: 'Get a conversation’s sound',
    operationId: 'getSound',
    about:
      'Get the measures of a conversation’s recording: response times, interruptions, talk-over, levels, and ' +
      'faults, and how measured response times differ from reported ones.',
    shorten: shortSound,
  },
  {
    name: 'list_conversation_results',
    title: 'List a conversation’s results',
    operationId: 'listConversationResults',
    about: 'List the results of all monitors for a conversation, with their reasoning.',
  },
  {
    name: 'list_tags',
    title: 'List tags',
    operationId: 'listConversationTags',
    about: 'List the tags that people put on conversations, most frequent first.',
  },
  {
    name: 'replace_tags',
    title: 'Replace a conversation’s tags',
    operationId: 'putConversationTags',
    about: 'Set all tags on a conversation. Read its tags first, because tags that you leave out are removed.',
  },
  {
    name: 'query_analytics',
    title: 'Chart a measure',
    operationId: 'queryAnalytics',
    about:
      'Compute a volume, rate, score, duration, response time, or cost, by up to two dimensions and over time. Values come ' +
      'with the number of conversations and 95% intervals.',
  },
  {
    name: 'explain_change',
    title: 'Explain what changed',
    operationId: 'explainChange',
    about:
      'Find the agents, versions, companies, or other groups that explain why a measure moved between two periods.',
  },
  {
    name: 'compare_conversations',
    title: 'Compare two groups',
    operationId: 'compareConversations',
    about:
      'Compare two versions, agents, companies, or periods, monitor by monitor. Says which differences are more ' +
      'than chance, given how many were compared. Conversations were not assigned at random, so a difference does ' +
      'not show its cause.',
  },
  {
    name: 'list_boards',
    title: 'List boards',
    operationId: 'listBoards',
    page: '/boards/',
    about: 'List the boards with their charts. query_analytics can compute the charts’ measures.',
  },
  {
    name: 'list_saved_views',
    title: 'List saved views',
    operationId: 'listSavedViews',
    about: 'List the saved views. Their filters work in search_conversations, query_analytics, and exports.',
  },
  {
    name: 'list_alert_incidents',
    title: 'List alert incidents',
    operationId: 'listAlertIncidents',
    page: '/alerts/incidents/',
    about: 'List the incidents of alert rules, newest first. Filter by status to see what is firing.',
  },
  {
    name: 'get_alert_incident',
    title: 'Get an alert incident',
    operationId: 'getAlertIncident',
    page: '/alerts/incidents/',
    about: 'Get an incident with its value, interval, timeline, and examples.',
  },
  {
    name: 'check_health',
    title: 'Check the health of Earshot',
    operationId: 'checkHealth',
    about: 'Check whether ingestion, evaluations, judges, and deliveries work, and why results may be missing.',
  },
  {
    name: 'list_agents',
    title: 'List agents',
    operationId: 'listAgents',
    page: '/agents/',
    about: 'List the voice and text agents.',
  },
  {
    name: 'list_companies',
    title: 'List companies',
    operationId: 'listCompanies',
    page: '/companies/',
    about: 'List the companies that the agents work for.',
  },
  {
    name: 'list_monitors',
    title: 'List monitors',
    operationId: 'listMonitors',
    page: '/monitors/',
    about: 'List the monitors, which are the checks that run on conversations.',
  },
  {
    name: 'get_monitor_trend',
    title: 'Get a monitor’s trend',
    operationId: 'getMonitorTrend',
    about: 'Get the affected rate of a monitor and the number of evaluated conversations over time.',
  },
  {
    name: 'compare_monitors',
    title: 'Compare monitors with the previous period',
    operationId: 'compareMonitors',
    about:
      'Compare the affected rate of each monitor in a period (the last 7 days by default) with the previous period. ' +
      'Returns the differences with 95% intervals and links to examples, largest increases first.',
  },
  {
    name: 'list_monitor_results',
    title: 'List a monitor’s results',
    operationId: 'listMonitorResults',
    about: 'List the conversations that a monitor evaluated, with result and reasoning.',
  },
  {
    name: 'list_alignments',
    title: 'List a judge’s alignments',
    operationId: 'listMonitorAlignments',
    about: 'List comparisons between a judge (`id`) and people, newest first, with their progress and costs.',
  },
  {
    name: 'get_alignment',
    title: 'Get an alignment',
    operationId: 'getMonitorAlignment',
    about:
      'Get a judge’s agreement with people on held-out conversations, and the proposed improvements, each with its ' +
      'gain and interval.',
  },
  {
    name: 'create_alignment',
    title: 'Align a judge with people',
    operationId: 'createMonitorAlignment',
    about:
      'Start comparing a judge with people’s judgments. It can cost money: call it with `dryRun` first and tell the user the ' +
      'estimate. Then call get_alignment until its status is completed.',
  },
  {
    name: 'list_topics',
    title: 'List topics',
    operationId: 'listTopics',
    page: '/topics/',
    about:
      'List what customers ask for first, with the share of each topic, its change, and the monitors that cover it. ' +
      'The filter `topicIds` finds their conversations.',
    shorten: shortTopics,
  },
  {
    name: 'list_uncovered_topics',
    title: 'List topics without a monitor',
    operationId: 'listUncoveredTopics',
    page: '/topics/',
    about: 'List the topics that no monitor covers, largest first.',
    shorten: shortTopics,
  },
  {
    name: 'draft_topic_monitor',
    title: 'Draft a monitor from a topic',
    operationId: 'draftTopicMonitor',
    about: 'Draft a judge or a rule that finds the conversations of a topic. Saves nothing.',
  },
  {
    name: 'list_findings',
    title: 'List findings',
    operationId: 'listFindings',
    page: '/findings/',
    about: 'List findings, which are reported issues and noteworthy conversations.',
  },
  {
    name: 'get_finding',
    title: 'Get a finding',
    operationId: 'getFinding',
    page: '/findings/',
    about: 'Get a finding with its description.',
  },
  {
    name: 'list_finding_conversations',
    title: 'List a finding’s conversations',
    operationId: 'listFindingConversations',
    about: 'List the conversations attached to a finding.',
  },
  {
    name: 'find_similar_findings',
    title: 'Find similar findings',
    operationId: 'findSimilarFindings',
    about: 'Find open findings that mean the same as a title, before you create one.',
    written: { description: markdown },
  },
  {
    name: 'create_finding',
    title: 'Create a finding',
    operationId: 'createFinding',
    page: '/findings/',
    about:
      'Create a finding. First check with find_similar_findings that it does not exist yet. Then attach example conversations.',
    written: {
      description: markdown,
    },
  },
  {
    name: 'attach_conversation',
    title: 'Attach a conversation to a finding',
    operationId: 'attachConversation',
    about: 'Attach an example conversation to a finding (`id`). Attaching it again changes nothing.',
  },
  {
    name: 'create_export',
    title: 'Create an export',
    operationId: 'createMonitorExport',
    about:
      'Create a file of monitor results. Pass a new UUID as `operationId`; the same UUID returns the same export. ' +
      'Then call get_export until its status is completed.',
  },
  {
    name: 'get_export',
    title: 'Get an export',
    operationId: 'getMonitorExport',
    about: 'Get an export. Once it is completed, `downloadUrl` is a link that works for anyone for 15 minutes.',
    link: 'downloadMonitorExport',
  },
  {
    name: 'create_conversation_export',
    title: 'Create a conversation export',
    operationId: 'createConversationExport',
    about:
      'Create a file of the conversations that a filter selects, with chosen columns. Pass a new UUID as `operationId`; the ' +
      'same UUID returns the same export. Then call get_conversation_export until its status is completed.',
  },
  {
    name: 'get_conversation_export',
    title: 'Get a conversation export',
    operationId: 'getConversationExport',
    about: 'Get an export. Once it is completed, `downloadUrl` is a link that works for anyone for 15 minutes.',
    link: 'downloadConversationExport',
  },
  {
    name: 'list_experiments',
    title: 'List experiments',
    operationId: 'listExperiments',
    page: '/experiments/',
    about: 'List experiments between two prompt versions.',
  },
  {
    name: 'get_experiment',
    title: 'Get an experiment',
    operationId: 'getExperiment',
    page: '/experiments/',
    about: 'Get an experiment with both arms, the difference with its interval, and the verdict for each outcome.',
    shorten: shortExperiment,
  },
]
