import { openGroup, talk, use } from '../template.ts'

const { rule, judge } = openGroup('escalation')

const person = 'real person|human|speak (to|with) (a person|someone)|talk to (a person|someone)|representative|operator'

export const escalation = [
  rule({
    key: 'asks-for-a-person',
    name: 'Asks for a person',
    description: 'The customer wants to talk to a human.',
    language: 'en',
    expression: `turns.by('customer').mentions('${person}')`,
    inAnyLanguage: 'The customer asks to talk to a person instead of the agent.',
    affected: talk('agent: How can I help?', 'customer: I want to speak to a person.'),
    notAffected: talk('agent: How can I help?', 'customer: I want to book a table.'),
  }),
  rule({
    key: 'asks-for-a-person-again',
    name: 'Asks for a person again',
    description: 'The customer has to ask for a human more than once.',
    language: 'en',
    expression: `turns.by('customer').mentioning('${person}').size() > 1`,
    inAnyLanguage: 'The customer asks at least twice to talk to a person.',
    affected: talk('customer: A real person, please.', 'agent: How can I help?', 'customer: I said a human!'),
    notAffected: talk('customer: A real person, please.', 'agent: I am putting you through.'),
  }),
  rule({
    key: 'transferred',
    name: 'Transferred',
    description: 'A human takes over, or a tool is called that has “transfer” or “handoff” in its name.',
    expression:
      "turns.by('human_agent').size() > 0 || turns.exists(t, t.kind == 'tool_call' && t.tool.name.matches('(?i)transfer|hand_?off|escalat'))",
    affected: talk('customer: A person, please.', use('transfer_call', 'ok'), 'human_agent: Hello, this is Kim.'),
    notAffected: talk('customer: A table for two.', use('book_table', 'ok'), 'agent: Done.'),
  }),
  rule({
    key: 'cancellation',
    name: 'Wants to cancel',
    description: 'The customer wants to end a contract, subscription, or account.',
    language: 'en',
    expression:
      "turns.by('customer').mentions(r'(cancel|close|end|terminate) (my|the|our|this) (account|subscription|contract|plan|membership|policy)')",
    inAnyLanguage: 'The customer says that they want to cancel a contract, subscription, or account.',
    affected: talk('customer: I want to cancel my subscription.', 'agent: May I ask why?'),
    notAffected: talk('customer: Can I cancel the booking for tonight?', 'agent: Yes.'),
  }),
  rule({
    key: 'threatens-with-complaint',
    name: 'Threatens to complain',
    description: 'The customer mentions a lawyer, a regulator, the press, or a formal complaint.',
    language: 'en',
    expression:
      "turns.by('customer').mentions(r'\\b(lawyer|attorney|solicitor|sue|ombudsman|regulator|formal complaint|small claims|newspaper)\\b')",
    inAnyLanguage:
      'The customer threatens to involve a lawyer, a regulator, or the press, or to file a formal complaint.',
    affected: talk('customer: Then my lawyer will write to you.', 'agent: I am sorry to hear that.'),
    notAffected: talk('customer: That took long, but thank you.', 'agent: You are welcome.'),
  }),
  judge({
    key: 'transfer-refused',
    name: 'Transfer refused',
    description: 'The customer asks for a person and the agent neither transfers them nor says how to reach one.',
    criteria:
      'Affected if the customer asks for a person and the agent neither transfers them, nor offers a call back, nor says how a ' +
      'person can be reached. Not affected if the customer never asks for a person.',
    affected: talk(
      'customer: I want a person.',
      'agent: I can help you myself.',
      'customer: A person!',
      'agent: Goodbye.',
    ),
    notAffected: talk('customer: I want a person.', 'agent: Of course, one moment.', use('transfer_call', 'ok')),
  }),
]
