/** The open row of a list in the settings, and the status that filters its deliveries. */
export type SettingsSearch = { open?: string; status?: string }

export const readSettingsSearch = ({ open, status }: Record<string, unknown>): SettingsSearch => ({
  ...(typeof open === 'string' && open !== '' && { open }),
  ...(typeof status === 'string' && status !== '' && { status }),
})
