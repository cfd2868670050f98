/**
 * What people and agents of the demo say. A line is said by the agent (`a`), the customer (`c`), or is a tool call
 * (`t`) with its result. Words in braces are filled in; of alternatives, one is chosen.
 */

export type Line =
  | { by: 'a' | 'c'; say: readonly string[] }
  | { by: 't'; tool: string; arguments: Record<string, string>; result: Record<string, string | number | boolean> }

export type Script = {
  topic: string
  lines: readonly Line[] /** How it ends when things go wrong. */
  sour: readonly Line[]
}

const a = (...say: string[]): Line => ({ by: 'a', say })
const c = (...say: string[]): Line => ({ by: 'c', say })
const t = (tool: string, args: Record<string, string>, result: Record<string, string | number | boolean>): Line => ({
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
  c('This is the third time I explain this.', 'That is not what I asked.', 'You are not listening to me.'),
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
      c('The {item} arrived broken.', 'It is the wrong {item}.', 'I have never received the {item}.'),
      a('Thank you. Let me look the order up.', 'One moment, I am looking it up.'),
      t('find_order', { orderNumber: '{order}' }, { found: true, total: 84.5, state: 'delivered' }),
      a('I see it here: one {item}, delivered on {day}.', 'I found it, one {item} that was delivered on {day}.'),
      c('Yes, that is the one.', 'Right.'),
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
      c('You said that last week as well.', 'All right, I will wait then.', 'Can it be there earlier?'),
      a('I understand. I have marked it as urgent with the carrier.', 'I have asked the carrier to hurry.'),
      c('Okay.', 'Fine.'),
      ...thanks,
    ],
    sour: hangUp,
  },
  {
    topic: 'password',
    lines: [
      c('I cannot log in any more.', 'My password does not work.'),
      a('I can send you a new link. Which e-mail address do you use?', 'Let us fix that. What is your e-mail address?'),
      c('{name} at example dot com.', 'It is {name} at example dot com.'),
      t('send_reset_link', { user: '{name}' }, { sent: true }),
      a('I have sent you a link. It works for one hour.', 'Please look into your inbox, the link is there.'),
      c('I have it. It works now.', 'Yes, it came. Thank you.'),
      ...thanks,
    ],
    sour: giveUp,
  },
]

export const booking: readonly Script[] = [
  {
    topic: 'appointment',
    lines: [
      c('I would like to make an appointment.', 'Hi, do you have something free this week?'),
      a('With pleasure. What is it for?', 'Sure. What do you need?'),
      c('A {service}.', 'I need a {service}.'),
      t('find_slots', { service: '{service}' }, { slots: 3, first: '{day} {hour}:30' }),
      a('I have {day} at {hour} thirty. Would that suit you?', 'How about {day} at half past {hour}?'),
      c('Later would be better.', 'That works.', 'Do you have anything in the afternoon?'),
      a('I can offer four thirty on the same day as well.', 'There is also a free slot at four thirty.'),
      c('I take that one.', 'Four thirty is good.'),
      a('May I have your name?', 'Under which name?'),
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
      a('Of course. What is your name?', 'Certainly, under which name is it?'),
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
      a('A {service} is {amount} euros.', 'That is {amount} euros, everything included.'),
      c('Does the insurance pay for that?', 'That is more than last year.'),
      a('Most insurances pay for half of it.', 'It went up in spring, I am afraid.'),
      c('Good to know.', 'Okay, I will think about it.'),
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
      c('What about it?', 'I have paid that already.', 'I know, I am late with it.'),
      a('The amount of {amount} euros has been open since {day}.'),
      t('find_invoice', { invoice: '{order}' }, { open: true, amount: '{amount}' }),
      c('I can pay half of it now.', 'I did not get an invoice.', 'Can I pay in instalments?'),
      a('You can pay in three instalments. Shall I set that up?', 'I can offer you three monthly payments.'),
      c('Yes, that helps.', 'All right, do that.'),
      t('create_plan', { invoice: '{order}', instalments: '3' }, { created: true }),
      a('It is set up. You will get it in writing within two days. Goodbye.'),
      c('Thank you, bye.', 'Bye.'),
    ],
    sour: [
      c('Stop calling me.', 'I do not want to get these calls any more.', 'You are calling for the fifth time.'),
      a('I understand. I will note that you do not wish to be called.', 'I am sorry. I will make a note of it.'),
      c('I will talk to my lawyer.', 'You had better.'),
    ],
  },
  {
    topic: 'wrong number',
    lines: [
      a('Hello, am I speaking with {name}?'),
      c('No, you have the wrong number.', 'There is no {name} here.'),
      a('I apologize for the disturbance. I will correct our records.'),
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
