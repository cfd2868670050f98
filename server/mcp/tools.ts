// What models may do here: each tool is an operation of the interface, by its operationId, and nothing more.

import { richTextOf } from '../findings/rich-text/markdown.ts'
import type { JsonSchema } from '../platform/http/examples.ts'
import { type Shorten, shortExperiment, shortTranscript, transcriptArguments } from './shorten.ts'

export type Tool = {
  name: string
  /** For people, who see it in their client. */
  title: string
  operationId: string
  /** When to use it, for the model; what the arguments mean is in the operation's own schema. */
  about: string
  /** How the answer is made to fit a model's reading. */
  shorten?: Shorten
  /** Arguments for that alone, which the operation does not know. */
  reading?: Record<string, JsonSchema>
  /** Arguments that models write in another form than the operation reads. */
  written?: Record<string, { schema: JsonSchema; read: (value: string) => unknown }>
  /** Where the console shows what it returns, by its id. */
  page?: string
  /** An operation with the same id that answers with a link, once the answer has a `downloadPath`. */
  link?: string
}

export const tools: Tool[] = [
  {
    name: 'search_conversations',
    title: 'Search conversations',
    operationId: 'searchConversations',
    page: '/conversations/',
    about: 'Find conversations by a filter: text, agents, dates, channel, what monitors found, metadata. Newest first.',
  },
  {
    name: 'count_conversations',
    title: 'Count conversations',
    operationId: 'countConversations',
    about: 'Count the conversations that a filter selects, without listing them.',
  },
  {
    name: 'get_conversation',
    title: 'Get a conversation',
    operationId: 'getConversation',
    page: '/conversations/',
    about: 'Get a conversation: its times, agent, customer, metadata and measured signals. Not its transcript.',
  },
  {
    name: 'read_transcript',
    title: 'Read a transcript',
    operationId: 'getTranscript',
    about: 'Read what was said in a conversation, some turns at a time. Begin with turn 0 and follow `nextTurn`.',
    shorten: shortTranscript,
    reading: transcriptArguments,
  },
  {
    name: 'list_conversation_results',
    title: 'List the results of a conversation',
    operationId: 'listConversationResults',
    about: 'List what each monitor found in one conversation, with its reasoning.',
  },
  {
    name: 'list_agents',
    title: 'List agents',
    operationId: 'listAgents',
    page: '/agents/',
    about: 'List the voice and text agents whose conversations are stored.',
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
    about: 'List the monitors: what every conversation is checked for.',
  },
  {
    name: 'get_monitor_trend',
    title: 'Get the trend of a monitor',
    operationId: 'getMonitorTrend',
    about: 'See how often a monitor was affected over time, and how many conversations it was asked of.',
  },
  {
    name: 'compare_monitors',
    title: 'Compare monitors with the period before',
    operationId: 'compareMonitors',
    about:
      'See which monitors got worse or better: the affected rate of each in a period (the last 7 days by default) and in ' +
      'the period before, the difference with its 95% interval, and examples with their links. The largest rises come first.',
  },
  {
    name: 'list_monitor_results',
    title: 'List the results of a monitor',
    operationId: 'listMonitorResults',
    about: 'List the conversations that a monitor judged, with result and reasoning.',
  },
  {
    name: 'list_findings',
    title: 'List findings',
    operationId: 'listFindings',
    page: '/findings/',
    about: 'List findings: problems and praise to look at.',
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
    title: 'List the conversations of a finding',
    operationId: 'listFindingConversations',
    about: 'List the conversations that show a finding.',
  },
  {
    name: 'create_finding',
    title: 'Create a finding',
    operationId: 'createFinding',
    page: '/findings/',
    about: 'File a finding. Look first whether one exists (list_findings). Then attach the conversations that show it.',
    written: {
      description: {
        schema: { type: 'string', maxLength: 10_000, description: 'In Markdown.' },
        read: richTextOf,
      },
    },
  },
  {
    name: 'attach_conversation',
    title: 'Attach a conversation to a finding',
    operationId: 'attachConversation',
    about: 'Attach a conversation to a finding (`id`) as an example of it. Attaching it again changes nothing.',
  },
  {
    name: 'create_export',
    title: 'Create an export',
    operationId: 'createMonitorExport',
    about:
      'Ask for a file of monitor results. Choose a new UUID as `operationId`; the same one again is the same export. ' +
      'Then ask get_export until it is completed.',
  },
  {
    name: 'get_export',
    title: 'Get an export',
    operationId: 'getMonitorExport',
    about: 'Get an export and, once it is completed, `downloadUrl`: a link that opens for anyone for 15 minutes.',
    link: 'downloadMonitorExport',
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
    about:
      'Get an experiment: for each outcome the two arms, the difference with its interval, and the verdict in words.',
    shorten: shortExperiment,
  },
]
