import type { Message } from '../message.ts'

/** One HTTP request of a delivery. */
export type DeliveryRequest = { url: string; headers: Record<string, string>; body: string }

/** Data for every kind, in addition to the message. */
export type About = {
  /** Identifies what the message is about, the same in all messages about it. */
  subjectId: string
  createdAt: Date
  /** The address of the console. */
  baseUrl: string
}

/** Writes a message in the form of a destination. Returns undefined if the destination has no such message. */
export type Write<Settings> = (message: Message, settings: Settings, about: About) => DeliveryRequest | undefined

export const jsonRequest = (url: string, body: object, headers: Record<string, string> = {}): DeliveryRequest => ({
  url,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})
