/** Of a list in the settings: the row that is open, of which the deliveries in this state are listed. */
export type SettingsSearch = { open?: string; status?: string }

export const readSettingsSearch = ({ open, status }: Record<string, unknown>): SettingsSearch => ({
  ...(typeof open === 'string' && open !== '' && { open }),
  ...(typeof status === 'string' && status !== '' && { status }),
})
