import { openGroup, talk } from '../template.ts'

const { rule, judge } = openGroup('sales')

export const sales = [
  rule({
    key: 'price-objection',
    name: 'Too expensive',
    description: 'The customer objects to the price.',
    language: 'en',
    expression:
      "turns.by('customer').mentions(r\"too (expensive|much|pricey)|(can't|cannot) afford|over (my|our) budget|cheaper\")",
    inAnyLanguage: 'The customer says that the price is too high.',
    affected: talk('agent: It costs 49 a month.', 'customer: That is too expensive.'),
    notAffected: talk('agent: It costs 49 a month.', 'customer: Fine, I take it.'),
  }),
  rule({
    key: 'mentions-other-supplier',
    name: 'Mentions another supplier',
    description: 'The customer mentions another company. Add the names of your competitors to the pattern.',
    language: 'en',
    expression:
      "turns.by('customer').mentions(r'competitor|(another|other|different) (company|provider|supplier|vendor|bank)|switch(ing)? to')",
    inAnyLanguage: 'The customer mentions another supplier of the same kind of product.',
    affected: talk('agent: It costs 49 a month.', 'customer: Another provider offers it for 39.'),
    notAffected: talk('agent: It costs 49 a month.', 'customer: Fine, I take it.'),
  }),
  rule({
    key: 'do-not-call',
    name: 'Asks not to be called',
    description: 'The customer asks to be removed from the list or not to be called again.',
    language: 'en',
    expression:
      "turns.by('customer').mentions(r\"(stop|don't|do not|never) call(ing)?( me)?( again)?|(take|remove) me (off|from)|do not call list|unsubscribe\")",
    inAnyLanguage: 'The customer asks not to be contacted again.',
    affected: talk('agent: This is Acme with an offer.', 'customer: Please take me off your list.'),
    notAffected: talk('agent: This is Acme with an offer.', 'customer: Tell me more.'),
  }),
  judge({
    key: 'objection-unanswered',
    name: 'Objection not addressed',
    description: 'The customer raises an objection, and the agent continues without addressing it.',
    criteria:
      'Affected if the customer raises an objection, such as price, time, or trust, and the agent does not address it. Not ' +
      'affected if there is no objection.',
    affected: talk('customer: I don’t trust contracts by phone.', 'agent: Great! What is your bank account?'),
    notAffected: talk('customer: I don’t trust contracts by phone.', 'agent: I can send it by post, to sign at home.'),
  }),
  judge({
    key: 'no-next-step',
    name: 'Ends without a next step',
    description: 'The conversation with an interested customer ends without a next step.',
    criteria:
      'Affected if the customer shows interest and the conversation ends without an agreed next step, such as an order, an ' +
      'appointment, or a message. Not affected if the customer declines.',
    affected: talk('customer: That sounds interesting.', 'agent: Yes, it is. Goodbye.'),
    notAffected: talk('customer: That sounds interesting.', 'agent: May I call on Monday?', 'customer: Yes.'),
  }),
  judge({
    key: 'pressures-customer',
    name: 'Pressures the customer',
    description: 'The agent creates false urgency or continues after a clear no.',
    criteria:
      'Affected if the agent creates false urgency, makes the customer feel guilty, or continues to sell after a clear refusal.',
    affected: talk('customer: No, thank you.', 'agent: You would be a fool to miss this. Only today!'),
    notAffected: talk('customer: No, thank you.', 'agent: All right. Have a good day.'),
  }),
]
