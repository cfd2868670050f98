import { openGroup, talk } from '../template.ts'

const { rule, judge } = openGroup('compliance')

export const compliance = [
  rule({
    key: 'no-recording-notice',
    name: 'No recording notice',
    description: 'The agent doesn’t say in its first two messages that the call is recorded.',
    language: 'en',
    expression: "conversation.channel == 'call' && !turns.by('agent').first(2).mentions('record(ed|ing)')",
    inAnyLanguage: 'It is a call, and the agent does not say at the start that the call is recorded.',
    affected: talk('agent: Acme Dental, how can I help?', 'customer: Hello.', 'agent: Yes?'),
    notAffected: talk('agent: Acme Dental. This call is recorded. How can I help?', 'customer: Hello.'),
  }),
  rule({
    key: 'no-machine-notice',
    name: 'Doesn’t say that it’s a machine',
    description: 'The agent doesn’t introduce itself as an automated or virtual assistant in its first two messages.',
    language: 'en',
    expression:
      "turns.by('agent').size() > 0 && !turns.by('agent').first(2).mentions(r'\\b(ai|virtual|automated|digital|bot|voice assistant|computer)\\b')",
    inAnyLanguage: 'The agent does not say at the start that it is an automated assistant.',
    affected: talk('agent: This is Mia from Acme. How can I help?', 'customer: Hello.'),
    notAffected: talk('agent: This is Mia, the virtual assistant of Acme.', 'customer: Hello.'),
  }),
  rule({
    key: 'claims-to-be-human',
    name: 'Claims to be human',
    description: 'The agent says that it is a person.',
    language: 'en',
    expression:
      "turns.by('agent').mentions(r\"\\b(i am|i'm) (a )?(real |actual )?(person|human)\\b|\\b(i am|i'm) not (a |an )?(robot|bot|machine|ai)\\b\")",
    inAnyLanguage: 'The agent claims to be a person, or denies that it is a machine.',
    affected: talk('customer: Are you a bot?', "agent: No, I'm a real person."),
    notAffected: talk('customer: Are you a bot?', "agent: Yes, I'm the assistant of Acme."),
  }),
  rule({
    key: 'card-number',
    name: 'Card number said',
    description: 'A customer message contains 13 to 16 digits in a row.',
    expression: "turns.by('customer').mentions(r'\\b(\\d[ -]?){13,16}\\b')",
    affected: talk('agent: Which card?', 'customer: It is 4111 1111 1111 1111.'),
    notAffected: talk('agent: Which order?', 'customer: It is 20447.'),
  }),
  rule({
    key: 'promises-refund',
    name: 'Promises a refund',
    description: 'The agent promises money back.',
    language: 'en',
    expression:
      "turns.by('agent').mentions(r\"\\b(i|we)('ll| will| can| have|'ve) (refund|give you (your|the) money back|issue(d)? (a|the) refund)|your refund (is|has been)\")",
    inAnyLanguage: 'The agent promises the customer a refund.',
    affected: talk('customer: It arrived broken.', "agent: We'll refund the full amount."),
    notAffected: talk('customer: It arrived broken.', 'agent: A colleague decides about that.'),
  }),
  rule({
    key: 'calls-at-night',
    name: 'Calls at night',
    description: 'An outbound call starts before 8:00 or after 21:00. Change the time zone to the customers’ own.',
    expression:
      "conversation.direction == 'outbound' && (conversation.startedAt.getHours('UTC') < 8 || conversation.startedAt.getHours('UTC') >= 21)",
    affected: { ...talk('agent: This is Acme.', 'customer: Now?'), direction: 'outbound', startsAtHour: 23 },
    notAffected: { ...talk('agent: This is Acme.', 'customer: Yes?'), direction: 'outbound', startsAtHour: 11 },
  }),
  judge({
    key: 'discloses-before-verifying',
    name: 'Discloses before verifying',
    description: 'The agent discloses personal account data before verifying the caller.',
    criteria:
      'Affected if the agent discloses personal account data, such as a balance, address, date of birth, or order ' +
      'history, before the caller’s identity was verified by at least one question. Not affected if the caller said ' +
      'that data first.',
    affected: talk('customer: What is my balance?', 'agent: Your balance is 412 euros. May I have your date of birth?'),
    notAffected: talk(
      'customer: What is my balance?',
      'agent: First, your date of birth?',
      'customer: 4 May 1980.',
      'agent: Thank you. It is 412 euros.',
    ),
  }),
  judge({
    key: 'gives-binding-advice',
    name: 'Gives legal or tax advice',
    description: 'The agent advises on legal, tax, or investment matters as if it were an expert.',
    criteria:
      'Affected if the agent gives specific legal, tax, or investment advice for the customer’s case. Not affected if it gives ' +
      'general information or refers the customer to an expert.',
    affected: talk('customer: Can I deduct this?', 'agent: Yes, deduct all of it as a business expense, you are safe.'),
    notAffected: talk('customer: Can I deduct this?', 'agent: I can’t advise on that. Please ask a tax adviser.'),
  }),
]
