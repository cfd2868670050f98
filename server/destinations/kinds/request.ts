import type { Message } from '../message.ts'

/** The HTTP request of a delivery. */
export type DeliveryRequest = { url: string; headers: Record<string, string>; body: string }

/** The data that destinations need in addition to the message. */
export type About = {
  /** Identifies the message's subject. All messages about a subject have the same ID. */
  subjectId: string
  createdAt: Date
  /** The URL of the console. */
  baseUrl: string
}

/**
 * Converts a message to the format of a kind of destination. Returns undefined if such messages are not sent to that
 * kind.
 */
export type Write<Settings> = (message: Message, settings: Settings, about: About) => DeliveryRequest | undefined

export const jsonRequest = (url: string, body: object, headers: Record<string, string> = {}): DeliveryRequest => ({
  url,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})
