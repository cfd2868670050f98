import { openGroup, talk } from '../template.ts'

const { rule } = openGroup('chat')

const good = talk(
  'customer: Where is my order?',
  'agent: It arrives on Friday.',
  'customer: Thanks!',
  'agent: You’re welcome.',
)

export const chat = [
  rule({
    key: 'left-unanswered',
    name: 'Left unanswered',
    description: 'The last message is the customer’s, and the agent doesn’t answer it.',
    expression:
      "turns.filter(t, t.kind == 'message').size() > 0 && turns.filter(t, t.kind == 'message').last().role == 'customer'",
    affected: { ...talk('agent: Hello!', 'customer: Where is my order?'), channel: 'chat' },
    notAffected: { ...good, channel: 'chat' },
  }),
  rule({
    key: 'repeats-itself',
    name: 'Repeats itself',
    description: 'The agent sends the same message of more than 20 characters twice.',
    expression:
      "turns.by('agent').exists(a, a.text.size() > 20 && turns.after([a]).by('agent').exists(b, b.text == a.text))",
    affected: {
      ...talk(
        'agent: Please tell me your order number.',
        'customer: I have none.',
        'agent: Please tell me your order number.',
      ),
      channel: 'chat',
    },
    notAffected: { ...good, channel: 'chat' },
  }),
  rule({
    key: 'placeholder',
    name: 'Shows a placeholder',
    description: 'An agent message contains a placeholder such as {{name}} or [NAME].',
    expression:
      "turns.by('agent').mentions(r'\\{\\{\\s*\\w|\\$\\{\\w|<[a-z]+_[a-z_]+>') || turns.by('agent').exists(t, t.text.matches(r'\\[[A-Z][A-Z_ ]+\\]'))",
    affected: { ...talk('customer: Hello.', 'agent: Hello {{first_name}}, how can I help?'), channel: 'chat' },
    notAffected: { ...good, channel: 'chat' },
  }),
  rule({
    key: 'spoken-markup',
    name: 'Speaks markup',
    description: 'A spoken agent message contains Markdown, which the voice reads aloud.',
    expression:
      "conversation.channel == 'call' && turns.by('agent').mentions(r'\\*\\*\\w|^#{1,4} |`|\\]\\(http|^\\s*[-*] \\w')",
    affected: talk('customer: What do you offer?', 'agent: We offer **two** plans.'),
    notAffected: talk('customer: What do you offer?', 'agent: We offer two plans.'),
  }),
  rule({
    key: 'very-long-reply',
    name: 'Very long reply',
    description: 'An agent’s chat message has more than 1,200 characters.',
    expression: "conversation.channel == 'chat' && turns.by('agent').exists(t, t.text.size() > 1200)",
    affected: {
      ...talk('customer: What do you offer?', `agent: ${'We also offer this plan. '.repeat(60)}`),
      channel: 'chat',
    },
    notAffected: { ...good, channel: 'chat' },
  }),
  rule({
    key: 'language-model-phrase',
    name: 'Language model phrase',
    description: 'The agent says “as an AI language model” or something similar.',
    language: 'en',
    expression:
      'turns.by(\'agent\').mentions(r"as an? (ai|artificial|large)? ?(language )?(model|ai)\\b|my training data|knowledge cutoff")',
    inAnyLanguage: 'The agent refers to itself as a language model or to its training data.',
    affected: {
      ...talk('customer: Is it good?', 'agent: As an AI language model, I have no opinion.'),
      channel: 'chat',
    },
    notAffected: { ...good, channel: 'chat' },
  }),
]
