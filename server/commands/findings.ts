import type { Schemas } from '../../client/src/earshot.ts'
import { type Called, type RunCommand, WronglyCalled } from './call.ts'
import { columns, day, plain, print, printJson } from './columns.ts'
import { connect } from './connect.ts'

type Finding = Schemas['Finding']

/** The maximum number of conversations to print. The console shows all of them. */
const mostConversations = 20

const rowOf = ({ id, status, priority, conversationCount, updatedAt, title }: Finding): string[] => [
  id,
  status,
  priority,
  String(conversationCount),
  day(updatedAt),
  plain(title),
]

const list = async (called: Called): Promise<number> => {
  const [status, priority] = [called.text('status'), called.text('priority')]
  const filters = { ...(status !== undefined && { status }), ...(priority !== undefined && { priority }) }
  const found = await connect(called).earshot.findings.list(filters).all()
  if (called.flag('json')) return printJson(found)
  if (found.length === 0) return print('No findings.\n')
  return print(columns([['ID', 'STATUS', 'PRIORITY', 'CALLS', 'CHANGED', 'TITLE'], ...found.map(rowOf)], [3]))
}

const show = async (called: Called): Promise<number> => {
  const { earshot } = connect(called)
  // The command line requires the argument.
  const id = called.args[0] as string
  const finding = await earshot.findings.get(id)
  const { data: conversations } = await earshot.findings.listConversations(id, { limit: mostConversations }).page()
  if (called.flag('json')) return printJson({ ...finding, conversations })
  const { title, status, priority, tags, createdAt, source, conversationCount } = finding
  print(`${plain(title)}\n\n`)
  print(
    columns([
      ['status', status],
      ['priority', priority],
      ['tags', plain(tags.join(', '))],
      ['filed', `${day(createdAt)} (${source.kind})`],
      ['calls', String(conversationCount)],
    ]),
  )
  return print(conversations.map(({ conversationId }) => `  ${conversationId}\n`).join(''))
}

const triage = async (called: Called): Promise<number> => {
  const { text, args, flag } = called
  const [status, priority, reason] = [text('status'), text('priority'), text('reason')]
  if (status === undefined && priority === undefined) throw new WronglyCalled('Pass --status or --priority.', true)
  // The command line only accepts the choices of the API.
  const moved = {
    ...(status !== undefined && { status: status as Finding['status'] }),
    ...(priority !== undefined && { priority: priority as Finding['priority'] }),
    ...(reason !== undefined && { reason }),
  }
  const finding = await connect(called).earshot.findings.triage(args[0] as string, moved)
  return flag('json') ? printJson(finding) : print(columns([rowOf(finding)]))
}

export const run: RunCommand = (called) => ({ list, show, triage })[called.action as 'list' | 'show' | 'triage'](called)
