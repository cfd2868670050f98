/** The open row in a settings list, and the filters for its deliveries or for the audit log. */
export type SettingsSearch = {
  open?: string
  status?: string
  /** The resource that audit log events are about. */
  about?: string
  /** The person who caused the events. */
  by?: string
  /** Days in the browser's time zone. */
  from?: string
  to?: string
}

const names = ['open', 'status', 'about', 'by', 'from', 'to'] as const

export const readSettingsSearch = (search: Record<string, unknown>): SettingsSearch =>
  Object.fromEntries(
    names.flatMap((name) => (typeof search[name] === 'string' && search[name] ? [[name, search[name]]] : [])),
  )
