import { openGroup, talk } from '../template.ts'

const { rule } = openGroup('voicemail')

const greeting =
  "leave (a|your) message|after the (tone|beep)|(is|am|are) not available|can't come to the phone|voice ?mail"

export const voicemail = [
  rule({
    key: 'reached-voicemail',
    name: 'Reached voicemail',
    description: 'The channel is voicemail, or a voicemail greeting answers.',
    language: 'en',
    expression: `conversation.channel == 'voicemail' || turns.by('customer').first(2).mentions(r"${greeting}")`,
    inAnyLanguage: 'A voicemail greeting answers instead of a person.',
    affected: talk('customer: Please leave a message after the tone.', 'agent: This is Acme.'),
    notAffected: talk('customer: Park, hello?', 'agent: This is Acme.'),
  }),
  rule({
    key: 'talks-to-voicemail',
    name: 'Talks to voicemail',
    description: 'After a voicemail greeting, the agent says more than two messages, as if someone answered.',
    language: 'en',
    expression: `turns.after(turns.by('customer').mentioning(r"${greeting}")).by('agent').size() > 2`,
    inAnyLanguage: 'A voicemail greeting answers, and the agent keeps talking as if someone could answer.',
    affected: talk(
      'customer: Please leave a message after the tone.',
      'agent: Hello?',
      'agent: Am I speaking to Ms. Park?',
      'agent: Are you still there?',
    ),
    notAffected: talk('customer: Please leave a message after the tone.', 'agent: This is Acme. Please call us.'),
  }),
  rule({
    key: 'message-without-number',
    name: 'Message without a number',
    description: 'The agent leaves a voicemail message without any digit, so nobody knows where to call back.',
    expression: "conversation.channel == 'voicemail' && !turns.by('agent').mentions(r'\\d')",
    affected: { ...talk('agent: This is Acme. Please call us back.'), channel: 'voicemail' },
    notAffected: { ...talk('agent: This is Acme. Please call us back at 555 0134.'), channel: 'voicemail' },
  }),
]
