/** The open row of a list in the settings, and the filters of its deliveries or the audit log. */
export type SettingsSearch = {
  open?: string
  status?: string
  /** The resource that events of the audit log are about. */
  about?: string
  /** The person who caused the events. */
  by?: string
  /** Days, in the time zone of the browser. */
  from?: string
  to?: string
}

const names = ['open', 'status', 'about', 'by', 'from', 'to'] as const

export const readSettingsSearch = (search: Record<string, unknown>): SettingsSearch =>
  Object.fromEntries(
    names.flatMap((name) => (typeof search[name] === 'string' && search[name] ? [[name, search[name]]] : [])),
  )
