/**
 * The lines of people and agents in the demo. A line belongs to the agent (`a`) or the customer (`c`), or is a tool
 * call (`t`) with its result. One of the alternatives is chosen, and words in braces are replaced.
 */

export type ScriptLine =
  | { by: 'a' | 'c'; say: readonly string[] }
  | { by: 't'; tool: string; arguments: Record<string, string>; result: Record<string, string | number | boolean> }

export type Script = {
  topic: string
  lines: readonly ScriptLine[] /** The ending if things go wrong. */
  sour: readonly ScriptLine[]
}

const a = (...say: string[]): ScriptLine => ({ by: 'a', say })
const c = (...say: string[]): ScriptLine => ({ by: 'c', say })
const t = (
  tool: string,
  args: Record<string, string>,
  result: Record<string, string | number | boolean>,
): ScriptLine => ({
  by: 't',
  tool,
  arguments: args,
  result,
})

const thanks = [
  a('Is there anything else I can help you with?', 'Can I do anything else for you today?'),
  c('No, that was all. Thank you.', 'No thanks, you have been very helpful.', 'That is it, thanks.'),
  a('Thank you for calling {company}. Have a good day.', 'My pleasure. Goodbye.'),
]

const giveUp = [
  c('This is the third time I’ve explained this.', 'That is not what I asked.', 'You are not listening to me.'),
  a('I am sorry about that. Let me try again.', 'I apologize for the confusion.'),
  c('Just let me speak to a person.', 'I want to talk to a human, please.', 'Can I have a real person?'),
  a('I understand. I will put you through to a colleague.', 'One moment, I am transferring you.'),
]

const hangUp = [
  c('Hello? Are you still there?', 'Hello?'),
  a('Yes, I am here. One moment please.', 'Sorry for the wait, I am still looking.'),
  c('Forget it, I will call another time.', 'I do not have time for this.'),
]

export const support: readonly Script[] = [
  {
    topic: 'refund',
    lines: [
      c('Hi, I want a refund for order {order}.', 'Hello, I would like my money back for order {order}.'),
      a('I am sorry to hear that. May I ask what was wrong with it?', 'Of course. What happened with the order?'),
      c('The {item} arrived broken.', 'It is the wrong {item}.', 'I never received the {item}.'),
      a('Thank you. Let me look up the order.', 'One moment, I am looking it up.'),
      t('find_order', { orderNumber: '{order}' }, { found: true, total: 84.5, state: 'delivered' }),
      a('I see it here: one {item}, delivered on {day}.', 'I found it: one {item}, delivered on {day}.'),
      c('Yes, that’s the one.', 'Right.'),
      a('I can refund the full price of {amount} euros to your card. Shall I do that?'),
      c('Yes please.', 'That would be great, yes.'),
      t('refund_order', { orderNumber: '{order}', amount: '{amount}' }, { refunded: true }),
      a('Done. You will see {amount} euros on your card within five days.'),
      ...thanks,
    ],
    sour: giveUp,
  },
  {
    topic: 'delivery',
    lines: [
      c('Where is my order? It should have been here on {day}.', 'My order {order} has not arrived yet.'),
      a('I will check that for you. What is the order number?', 'Let me check. Could you give me the order number?'),
      c('It is {order}.', '{order}.'),
      t('track_order', { orderNumber: '{order}' }, { state: 'in transit', depot: 'Leipzig' }),
      a('It left our depot yesterday and is due on {day}.', 'It is on its way and should be with you on {day}.'),
      c('You said that last week too.', 'All right, I will wait then.', 'Can it get here earlier?'),
      a('I understand. I have marked it as urgent with the carrier.', 'I have asked the carrier to hurry.'),
      c('Okay.', 'Fine.'),
      ...thanks,
    ],
    sour: hangUp,
  },
  {
    topic: 'password',
    lines: [
      c('I can’t log in anymore.', 'My password does not work.'),
      a('I can send you a new link. Which email address do you use?', 'Let’s fix that. What is your email address?'),
      c('{name} at example dot com.', 'It is {name} at example dot com.'),
      t('send_reset_link', { user: '{name}' }, { sent: true }),
      a('I have sent you a link. It works for one hour.', 'Please check your inbox. The link should be there.'),
      c('Got it. It works now.', 'Yes, it came. Thank you.'),
      ...thanks,
    ],
    sour: giveUp,
  },
]

export const booking: readonly Script[] = [
  {
    topic: 'appointment',
    lines: [
      c('I’d like to book an appointment.', 'Hi, do you have something free this week?'),
      a('Happy to help. What is it for?', 'Sure. What do you need?'),
      c('A {service}.', 'I need a {service}.'),
      t('find_slots', { service: '{service}' }, { slots: 3, first: '{day} {hour}:30' }),
      a('I have {day} at {hour} thirty. Would that work for you?', 'How about {day} at half past {hour}?'),
      c('Later would be better.', 'That works.', 'Do you have anything in the afternoon?'),
      a('I can also offer four thirty on the same day.', 'There is also a free slot at four thirty.'),
      c('I’ll take that one.', 'Four thirty is good.'),
      a('May I have your name?', 'What name is it under?'),
      c('{name}.', 'My name is {name}.'),
      t('book_slot', { name: '{name}', service: '{service}' }, { booked: true, reference: 'B-{order}' }),
      a('You are booked for a {service} on {day}. You will get a message the day before.'),
      ...thanks,
    ],
    sour: hangUp,
  },
  {
    topic: 'reschedule',
    lines: [
      c('I need to move my appointment on {day}.', 'Can I change my appointment?'),
      a('Of course. What is your name?', 'Certainly. What name is it under?'),
      c('{name}.', 'It is {name}.'),
      t('find_booking', { name: '{name}' }, { found: true, service: '{service}' }),
      a('I have your {service} here. When would you like to come instead?'),
      c('Next week, on {day}.', 'Maybe {day} in the morning.'),
      t('move_booking', { name: '{name}', to: '{day}' }, { moved: true }),
      a('It is moved to {day} at {hour}. You will get a new confirmation.'),
      ...thanks,
    ],
    sour: giveUp,
  },
  {
    topic: 'prices',
    lines: [
      c('How much is a {service}?', 'What do you charge for a {service}?'),
      a('A {service} is {amount} euros.', 'That’s {amount} euros, all included.'),
      c('Does insurance cover that?', 'That is more than last year.'),
      a('Most insurers cover half of it.', 'I’m afraid it went up in the spring.'),
      c('Good to know.', 'Okay, I’ll think about it.'),
      ...thanks,
    ],
    sour: hangUp,
  },
]

export const collections: readonly Script[] = [
  {
    topic: 'overdue',
    lines: [
      a('Good morning, am I speaking with {name}?', 'Hello, is this {name}?'),
      c('Yes, speaking.', 'Who is calling?'),
      a('This is an automated call on behalf of {company}. It is about your invoice {order}.'),
      c('What about it?', 'I already paid that.', 'I know, I’m late with it.'),
      a('The balance of {amount} euros has been due since {day}.'),
      t('find_invoice', { invoice: '{order}' }, { open: true, amount: '{amount}' }),
      c('I can pay half of it now.', 'I didn’t get an invoice.', 'Can I pay in installments?'),
      a('You can pay in three installments. Should I set that up?', 'I can offer you three monthly payments.'),
      c('Yes, that helps.', 'All right, let’s do that.'),
      t('create_plan', { invoice: '{order}', instalments: '3' }, { created: true }),
      a('It’s set up. You’ll get it in writing within two days. Goodbye.'),
      c('Thank you, bye.', 'Bye.'),
    ],
    sour: [
      c('Stop calling me.', 'I don’t want to get these calls anymore.', 'This is the fifth time you’ve called.'),
      a('I understand. I will note that you do not wish to be called.', 'I am sorry. I will make a note of it.'),
      c('I’m going to talk to my lawyer.', 'You had better.'),
    ],
  },
  {
    topic: 'wrong number',
    lines: [
      a('Hello, am I speaking with {name}?'),
      c('No, you have the wrong number.', 'There is no {name} here.'),
      a('I apologize for disturbing you. I will correct our records.'),
      t('flag_number', { name: '{name}' }, { flagged: true }),
      c('Please do. Bye.', 'Okay.'),
    ],
    sour: hangUp,
  },
]

export const voicemail: readonly string[] = [
  'Hello {name}, this is a message from {company} about your invoice {order}. Please call us back. Thank you.',
  'This is {company}. We could not reach you about {order}. We will try again on {day}.',
]

export const slots = {
  item: ['coffee machine', 'lamp', 'jacket', 'keyboard', 'suitcase', 'blender', 'pair of shoes'],
  day: ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'],
  hour: ['nine', 'ten', 'eleven', 'two', 'three'],
  service: ['dental check', 'haircut', 'tyre change', 'eye test', 'massage', 'boiler inspection'],
  name: [
    'Anna Berg',
    'Tom Keller',
    'Maria Silva',
    'Jan Novak',
    'Lea Martin',
    'Omar Haddad',
    'Sofie Jensen',
    'Paul Moreau',
  ],
} as const
