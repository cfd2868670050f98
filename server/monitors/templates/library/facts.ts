import { openGroup, talk, use } from '../template.ts'

const { rule, judge } = openGroup('facts')

export const facts = [
  rule({
    key: 'amount-without-lookup',
    name: 'States an amount without a lookup',
    description: 'The agent states an amount of money that no customer mentioned, without using a tool first.',
    expression:
      "turns.by('agent').exists(t, t.mentions(r'[$€£]\\s?\\d|\\d\\s?[$€£]') && turns.before([t]).filter(u, u.kind == 'tool_result').size() == 0 && !turns.before([t]).by('customer').mentions(r'[$€£]'))",
    affected: talk('customer: What does it cost?', 'agent: It costs €49.'),
    notAffected: talk('customer: What does it cost?', use('find_price', { euros: 49 }), 'agent: It costs €49.'),
  }),
  rule({
    key: 'claims-action-without-tool',
    name: 'Claims an action without a tool',
    description:
      'The agent says that it has booked, canceled, changed, or sent something, without calling a tool first.',
    language: 'en',
    expression:
      "turns.by('agent').exists(t, t.mentions(r\"\\b(i have|i've|i just) (now |just )?(booked|canceled|cancelled|changed|sent|updated|scheduled|ordered|moved)\") && turns.before([t]).filter(u, u.kind == 'tool_call').size() == 0)",
    inAnyLanguage:
      'The agent says that it has done something, such as booked, canceled, or sent, although no tool call before could have done it.',
    affected: talk('customer: Friday at ten, please.', "agent: I've booked Friday at ten."),
    notAffected: talk('customer: Friday at ten, please.', use('book', 'ok'), "agent: I've booked Friday at ten."),
  }),
  rule({
    key: 'gives-contact-without-lookup',
    name: 'Gives a link or number without a lookup',
    description: 'The agent gives a web address, an email address, or a phone number without using a tool first.',
    expression:
      "turns.by('agent').exists(t, t.mentions(r'https?://|www\\.|\\b[\\w.+-]+@[\\w-]+\\.\\w|\\b\\d{3}[- ]\\d{3}[- ]\\d{4}\\b') && turns.before([t]).filter(u, u.kind == 'tool_result').size() == 0)",
    affected: talk('customer: Where can I read that?', 'agent: At www.acme-returns.example.'),
    notAffected: talk('customer: Where can I read that?', 'agent: It is in the letter that we sent you.'),
  }),
  judge({
    key: 'unsupported-statement',
    name: 'States facts that no tool returned',
    description: 'The agent states specific facts about an order, a price, or a policy that no tool result contains.',
    criteria:
      'Affected if the agent states a specific fact about an order, account, price, availability, or policy that is neither in a ' +
      'tool result nor said by the customer, and that it could not know otherwise. Greetings and general knowledge do not count.',
    affected: talk(
      'customer: Where is my parcel?',
      use('find_order', { status: 'unknown' }),
      'agent: It arrives tomorrow at 9.',
    ),
    notAffected: talk(
      'customer: Where is my parcel?',
      use('find_order', { eta: 'Friday' }),
      'agent: It arrives on Friday.',
    ),
  }),
  judge({
    key: 'contradicts-tool',
    name: 'Contradicts a tool',
    description: 'The agent says the opposite of what a tool returned.',
    criteria:
      'Affected if the agent states something that contradicts a tool result of the conversation, such as another date, amount, ' +
      'or status.',
    affected: talk('customer: Is it in stock?', use('check_stock', { inStock: 0 }), 'agent: Yes, it is in stock.'),
    notAffected: talk('customer: Is it in stock?', use('check_stock', { inStock: 0 }), 'agent: Sorry, it is sold out.'),
  }),
  judge({
    key: 'contradicts-itself',
    name: 'Contradicts itself',
    description: 'The agent makes two statements that can’t both be true.',
    criteria:
      'Affected if the agent makes two statements that cannot both be true, without correcting itself openly. A correction that ' +
      'names the mistake is not affected.',
    affected: talk(
      'agent: We are open on Sunday.',
      'customer: On Sunday?',
      'agent: No, never on Sunday.',
      'agent: Come on Sunday.',
    ),
    notAffected: talk('agent: We are open on Sunday.', 'customer: Until when?', 'agent: Until four.'),
  }),
]
