import { openGroup, talk } from '../template.ts'

const { rule, judge } = openGroup('tone')

const polite = talk(
  'agent 0-2: How can I help?',
  'customer 2.5-4: I have moved.',
  'agent 4.5-6: What is the new address?',
  'customer 6.5-8: Lindenstraße 4.',
)

export const tone = [
  rule({
    key: 'agent-interrupts',
    name: 'Agent interrupts',
    description: 'The agent interrupts the customer at least twice. The score is the number of interruptions.',
    expression: 'signals.interruptions.byAgent >= 2',
    score: 'signals.interruptions.byAgent',
    affected: talk(
      'customer 0-5!: I would like to change the address of',
      'agent 3-6: What is the new address?',
      'customer 6.5-12!: It is Lindenstraße four, and please also',
      'agent 9-12.5: I have changed it.',
    ),
    notAffected: polite,
  }),
  rule({
    key: 'customer-interrupts',
    name: 'Customer interrupts',
    description: 'The customer interrupts the agent at least twice. The score is the number of interruptions.',
    expression: 'signals.interruptions.byCustomer >= 2',
    score: 'signals.interruptions.byCustomer',
    affected: talk(
      'agent 0-6!: Thank you for calling. Before we begin, I would like to',
      'customer 3-6.5: I have moved.',
      'agent 7-14!: You can also change your address on our website. To do so',
      'customer 10-14.5: No, please do it.',
    ),
    notAffected: polite,
  }),
  rule({
    key: 'monologue',
    name: 'Monologue',
    description: 'A spoken agent message has more than 600 characters, which takes about 40 seconds.',
    expression: "conversation.channel == 'call' && turns.by('agent').exists(t, t.text.size() > 600)",
    affected: talk(`agent: ${'There is one more thing that you should know. '.repeat(15)}`, 'customer: Hello?'),
    notAffected: polite,
  }),
  rule({
    key: 'talks-most',
    name: 'Agent does most of the talking',
    description: 'The agent speaks more than 85% of the time, although the customer answers. The score is the share.',
    expression: 'signals.talkRatio > 0.85 && signals.turns.customer >= 2',
    score: 'signals.talkRatio',
    affected: talk('agent 0-30: Our offer.', 'customer 31-32: Yes.', 'agent 33-70: More.', 'customer 71-72: Yes.'),
    notAffected: polite,
  }),
  rule({
    key: 'customer-swears',
    name: 'Customer swears',
    description: 'The customer uses a swear word.',
    language: 'en',
    expression: "turns.by('customer').mentions(r'\\b(fuck|fucking|shit|bullshit|damn|bastard|asshole|crap)\\b')",
    inAnyLanguage: 'The customer uses swear words.',
    affected: talk('agent: Please hold.', 'customer: This is bullshit.'),
    notAffected: polite,
  }),
  rule({
    key: 'apologizes-often',
    name: 'Apologizes often',
    description: 'The agent apologizes in at least three messages. The score is the number of these messages.',
    language: 'en',
    expression: "turns.by('agent').mentioning(r'\\bsorry\\b|apologi[sz]e').size() >= 3",
    score: "double(turns.by('agent').mentioning(r'\\bsorry\\b|apologi[sz]e').size())",
    inAnyLanguage: 'The agent apologizes at least three times.',
    affected: talk(
      'agent: Sorry?',
      'customer: Lindenstraße.',
      'agent: I am sorry, again?',
      'agent: Sorry, I missed that.',
    ),
    notAffected: talk('agent: Sorry to hear that.', 'customer: Thanks.'),
  }),
  judge({
    key: 'customer-frustrated',
    name: 'Customer is frustrated',
    description: 'The customer becomes frustrated or angry.',
    criteria:
      'Affected if the customer clearly shows frustration or anger about the agent or the company. Mild impatience by itself is not ' +
      'affected.',
    affected: talk('customer: I have explained this three times now. This is ridiculous!', 'agent: I see.'),
    notAffected: talk('customer: No problem, take your time.', 'agent: Thank you.'),
  }),
  judge({
    key: 'agent-impolite',
    name: 'Agent is impolite',
    description: 'The agent is rude, sarcastic, or dismissive.',
    criteria:
      'Affected if the agent is rude, sarcastic, dismissive, or blames the customer. Being brief is not affected.',
    affected: talk('customer: I don’t understand.', 'agent: That is hardly my fault. Listen next time.'),
    notAffected: talk('customer: I don’t understand.', 'agent: Let me explain it differently.'),
  }),
]
