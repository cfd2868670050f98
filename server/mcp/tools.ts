// What models may do here: each tool is an operation of the interface, by its operationId, and nothing more.

import type { JsonSchema } from '../platform/http/examples.ts'
import { type Shorten, shortExperiment, shortTranscript, transcriptArguments } from './shorten.ts'

export type Tool = {
  name: string
  operationId: string
  /** When to use it, for the model; what the arguments mean is in the operation's own schema. */
  about: string
  /** How the answer is made to fit a model's reading. */
  shorten?: Shorten
  /** Arguments for that alone, which the operation does not know. */
  reading?: Record<string, JsonSchema>
  /** An operation with the same id that answers with a link, once the answer has a `downloadPath`. */
  link?: string
}

export const tools: Tool[] = [
  {
    name: 'search_conversations',
    operationId: 'searchConversations',
    about: 'Find conversations by a filter: text, agents, dates, channel, what monitors found, metadata. Newest first.',
  },
  {
    name: 'count_conversations',
    operationId: 'countConversations',
    about: 'Count the conversations that a filter selects, without listing them.',
  },
  {
    name: 'get_conversation',
    operationId: 'getConversation',
    about: 'Get a conversation: its times, agent, customer, metadata and measured signals. Not its transcript.',
  },
  {
    name: 'read_transcript',
    operationId: 'getTranscript',
    about: 'Read what was said in a conversation, some turns at a time. Begin with turn 0 and follow `nextTurn`.',
    shorten: shortTranscript,
    reading: transcriptArguments,
  },
  {
    name: 'list_conversation_results',
    operationId: 'listConversationResults',
    about: 'List what each monitor found in one conversation, with its reasoning.',
  },
  {
    name: 'list_agents',
    operationId: 'listAgents',
    about: 'List the voice and text agents whose conversations are stored.',
  },
  { name: 'list_companies', operationId: 'listCompanies', about: 'List the companies that the agents work for.' },
  {
    name: 'list_monitors',
    operationId: 'listMonitors',
    about: 'List the monitors: what every conversation is checked for.',
  },
  {
    name: 'get_monitor_trend',
    operationId: 'getMonitorTrend',
    about: 'See how often a monitor was affected over time, and how many conversations it was asked of.',
  },
  {
    name: 'list_monitor_results',
    operationId: 'listMonitorResults',
    about: 'List the conversations that a monitor judged, with result and reasoning.',
  },
  { name: 'list_findings', operationId: 'listFindings', about: 'List findings: problems and praise to look at.' },
  { name: 'get_finding', operationId: 'getFinding', about: 'Get a finding with its description.' },
  {
    name: 'list_finding_conversations',
    operationId: 'listFindingConversations',
    about: 'List the conversations that show a finding.',
  },
  {
    name: 'create_finding',
    operationId: 'createFinding',
    about: 'File a finding. Look first whether one exists (list_findings). Then attach the conversations that show it.',
  },
  {
    name: 'attach_conversation',
    operationId: 'attachConversation',
    about: 'Attach a conversation to a finding (`id`) as an example of it. Attaching it again changes nothing.',
  },
  {
    name: 'create_export',
    operationId: 'createMonitorExport',
    about:
      'Ask for a file of monitor results. Choose a new UUID as `operationId`; the same one again is the same export. ' +
      'Then ask get_export until it is completed.',
  },
  {
    name: 'get_export',
    operationId: 'getMonitorExport',
    about: 'Get an export and, once it is completed, `downloadUrl`: a link that opens for anyone for 15 minutes.',
    link: 'downloadMonitorExport',
  },
  { name: 'list_experiments', operationId: 'listExperiments', about: 'List experiments between two prompt versions.' },
  {
    name: 'get_experiment',
    operationId: 'getExperiment',
    about:
      'Get an experiment: for each outcome the two arms, the difference with its interval, and the verdict in words.',
    shorten: shortExperiment,
  },
]
