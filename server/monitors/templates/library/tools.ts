import { openGroup, talk, use } from '../template.ts'

const { rule, judge } = openGroup('tools')

export const tools = [
  rule({
    key: 'tool-failed',
    name: 'Tool failed',
    description: 'A tool call failed. The score is the number of failures.',
    expression: 'signals.toolFailures > 0',
    score: 'signals.toolFailures',
    affected: talk('customer: Order 12.', use('find_order', 'timed out', { isError: true }), 'agent: One moment.'),
    notAffected: talk('customer: Order 12.', use('find_order', { eta: 'Friday' }), 'agent: It arrives on Friday.'),
  }),
  rule({
    key: 'many-tool-calls',
    name: 'Many tool calls',
    description: 'The agent calls tools more than ten times. The score is the number of calls.',
    expression: 'signals.toolCalls > 10',
    score: 'signals.toolCalls',
    affected: talk(
      'customer: Order 12.',
      ...Array.from({ length: 11 }, (_, at) => use('find_order', 'nothing', { callId: `call-${at}` })),
      'agent: I can’t find it.',
    ),
    notAffected: talk('customer: Order 12.', use('find_order', { eta: 'Friday' }), 'agent: It arrives on Friday.'),
  }),
  rule({
    key: 'tool-without-result',
    name: 'Tool call without a result',
    description: 'A tool was called and its result never arrived.',
    expression: "turns.filter(t, t.kind == 'tool_call').size() > turns.filter(t, t.kind == 'tool_result').size()",
    affected: talk('customer: Order 12.', use('find_order', undefined), 'agent: One moment.'),
    notAffected: talk('customer: Order 12.', use('find_order', { eta: 'Friday' }), 'agent: It arrives on Friday.'),
  }),
  rule({
    key: 'success-after-failure',
    name: 'Claims success after a failure',
    description: 'The last tool result is an error, but the agent says that the action worked.',
    language: 'en',
    expression:
      "turns.filter(t, t.kind == 'tool_result').size() > 0 && turns.filter(t, t.kind == 'tool_result').last().tool.isError && turns.after([turns.filter(t, t.kind == 'tool_result').last()]).by('agent').mentions(r\"\\b(all set|done|booked|confirmed|i've (changed|sent|moved|canceled))\\b\")",
    inAnyLanguage: 'A tool call failed, was not repeated with success, and the agent says that the action worked.',
    affected: talk('customer: Friday.', use('book', 'full', { isError: true }), 'agent: You are all set for Friday.'),
    notAffected: talk('customer: Friday.', use('book', 'full', { isError: true }), 'agent: Friday is full, sorry.'),
  }),
  rule({
    key: 'reads-error-aloud',
    name: 'Reads an error aloud',
    description: 'The agent says technical words such as “exception”, “undefined”, or “status code”.',
    expression:
      "turns.by('agent').mentions(r'\\b(exception|undefined|null|json|status code|http [45]\\d\\d|stack trace|traceback|nan)\\b')",
    affected: talk('customer: When?', 'agent: Your appointment is on undefined.'),
    notAffected: talk('customer: When?', 'agent: Your appointment is on Friday.'),
  }),
  judge({
    key: 'wrong-tool',
    name: 'Tool misused',
    description:
      'The agent calls a tool that doesn’t fit the request, or with arguments that the customer didn’t give.',
    criteria:
      'Affected if the agent calls a tool that does not fit what the customer asked, or with arguments that contradict what the ' +
      'customer said. Not affected if no tool was called.',
    affected: talk('customer: How late are you open?', use('cancel_order', 'ok'), 'agent: Until six.'),
    notAffected: talk('customer: Cancel order 12.', use('cancel_order', 'ok'), 'agent: It is canceled.'),
  }),
]
