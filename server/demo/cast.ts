import { booking, collections, type Script, support } from './scripts.ts'
import type { Voice } from './speech.ts'

/** The demo's cast: agents with their prompt versions, and the companies that they work for. */

export type AgentPrompt = {
  label: string
  systemPrompt: string
  /** The share of conversations that go badly. */
  sourShare: number
  latencyMs: number
}

export type Cast = {
  externalId: string
  name: string
  channel: 'voice' | 'text'
  /** The agent's voice in recordings. */
  voice: Voice
  scripts: readonly Script[]
  outbound: boolean
  /** The agent's share of all conversations. */
  share: number
  prompts: readonly [AgentPrompt, ...AgentPrompt[]]
  /** The last two prompts run in parallel at the end, as in an experiment. */
  splits: boolean
}

const prompt = (label: string, systemPrompt: string, sourShare: number, latencyMs: number): AgentPrompt => ({
  label,
  systemPrompt,
  sourShare,
  latencyMs,
})

const supportPrompts: Cast['prompts'] = [
  prompt('support-1', 'You are Leo, the phone agent of an online shop. Be friendly. Help with orders.', 0.22, 1_450),
  prompt(
    'support-2',
    'You are Leo, the phone agent of an online shop. Ask for the order number first. Only refund after looking it up.',
    0.16,
    1_250,
  ),
  prompt(
    'support-3',
    'You are Leo, the phone agent of an online shop. Ask for the order number first. Only refund after looking it up. ' +
      'Offer a colleague as soon as someone asks for one, and never ask the same thing twice.',
    0.11,
    1_050,
  ),
]

export const cast: readonly [Cast, ...Cast[]] = [
  {
    externalId: 'demo-leo',
    name: 'Leo, support',
    channel: 'voice',
    voice: 'rms',
    scripts: support,
    outbound: false,
    share: 0.4,
    prompts: supportPrompts,
    splits: true,
  },
  {
    externalId: 'demo-leo-chat',
    name: 'Leo, support chat',
    channel: 'text',
    voice: 'rms',
    scripts: support,
    outbound: false,
    share: 0.2,
    prompts: [prompt('chat-1', 'You are Leo, the chat agent of an online shop. Keep it short.', 0.14, 1_900)],
    splits: false,
  },
  {
    externalId: 'demo-mia',
    name: 'Mia, bookings',
    channel: 'voice',
    voice: 'slt',
    scripts: booking,
    outbound: false,
    share: 0.25,
    prompts: [
      prompt('booking-1', 'You are Mia, who books appointments. Offer the next free slot.', 0.12, 1_100),
      prompt(
        'booking-2',
        'You are Mia, who books appointments. Offer two slots, and confirm the chosen one.',
        0.08,
        980,
      ),
    ],
    splits: false,
  },
  {
    externalId: 'demo-sam',
    name: 'Sam, reminders',
    channel: 'voice',
    voice: 'rms',
    scripts: collections,
    outbound: true,
    share: 0.15,
    prompts: [
      prompt('reminder-1', 'You are Sam, who calls about unpaid invoices. Be polite. Offer installments.', 0.3, 1_200),
      prompt(
        'reminder-2',
        'You are Sam, who calls about unpaid invoices. First say that you are an automated agent.',
        0.26,
        1_150,
      ),
    ],
    splits: false,
  },
]

export const companyNames = [
  'Acme Dental',
  'Nordlicht Energie',
  'Casa Verde',
  'Blue Harbour Travel',
  'Kiosk 24',
] as const
