import { openGroup, talk } from '../template.ts'

const { rule, judge } = openGroup('task')

export const task = [
  rule({
    key: 'hangs-up-early',
    name: 'Hangs up early',
    description: 'The customer ends the call within 20 seconds.',
    expression: "conversation.endReason == 'customer-ended' && conversation.durationSeconds < 20",
    affected: { ...talk('agent: Good morning, Acme Energy.'), durationSeconds: 9, endReason: 'customer-ended' },
    notAffected: {
      ...talk('agent: Good morning, Acme Energy.', 'customer: I have moved.', 'agent: I have changed the address.'),
      durationSeconds: 140,
      endReason: 'customer-ended',
    },
  }),
  rule({
    key: 'problem-remains',
    name: 'Problem remains',
    description: 'In one of the last messages, the customer says that the problem is not solved.',
    language: 'en',
    expression:
      "turns.by('customer').last(2).mentions(r\"still (not|doesn't|isn't|does not|is not)|(doesn't|does not|didn't|did not) (help|work)|not solved\")",
    inAnyLanguage: 'At the end, the customer says or clearly implies that the problem is not solved.',
    affected: talk('agent: Please restart the router.', "customer: I did. It still doesn't work.", 'agent: Goodbye.'),
    notAffected: talk(
      "customer: It doesn't work.",
      'agent: Restart it.',
      'customer: It works now.',
      'customer: Thanks.',
    ),
  }),
  rule({
    key: 'repeats-request',
    name: 'Has to repeat the request',
    description: 'The customer says that they have already told the agent.',
    language: 'en',
    expression:
      "turns.by('customer').mentions(r\"(as|like) i (just |already )?said|i('ve| have)? (just|already) (told|said|gave|given)\")",
    inAnyLanguage: 'The customer has to repeat something that they have already told the agent, and says so.',
    affected: talk('agent: What is your name?', 'customer: I already told you my name.'),
    notAffected: talk('agent: What is your name?', 'customer: Ada Park.'),
  }),
  rule({
    key: 'promises-to-call-back',
    name: 'Promises to call back',
    description: 'The agent says that someone will call or write, so someone has to follow up.',
    language: 'en',
    expression:
      'turns.by(\'agent\').mentions(r"(call|ring|phone) you back|get back to you|(someone|a colleague) will (call|contact|email|write)")',
    inAnyLanguage: 'The agent promises that someone will call or write to the customer later.',
    affected: talk('customer: When is it ready?', 'agent: I will get back to you tomorrow.'),
    notAffected: talk('customer: When is it ready?', 'agent: It is ready now.'),
  }),
  judge({
    key: 'request-not-fulfilled',
    name: 'Request not fulfilled',
    description: 'The customer’s request was neither fulfilled nor clearly declined with a reason.',
    criteria:
      'Affected if the main request of the customer was neither fulfilled nor clearly declined with a reason or a next step ' +
      'by the end. Not affected if the customer changed their mind or asked for nothing.',
    affected: talk('customer: I want to change my delivery date.', 'agent: Our shop opens at nine. Goodbye.'),
    notAffected: talk(
      'customer: I want to change my delivery date.',
      'agent: It now arrives on Friday. Anything else?',
    ),
  }),
]
