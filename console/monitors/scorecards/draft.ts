// Converts a scorecard's definition between form fields and the API's format.

export type NotApplicable = 'exclude' | 'full' | 'zero'

/** Numbers are kept as typed text. If the version is empty, the item uses the monitor's current version. */
export type ItemDraft = {
  monitorId: string
  version: string
  points: string
  notApplicable: NotApplicable
  autoFail: boolean
}

export type ScorecardDraft = {
  sections: { name: string; items: ItemDraft[] }[]
  bands: { name: string; from: string }[]
  affectedBelow: string
}

type StoredItem = {
  monitorId: string
  version?: number
  points: number
  notApplicable: NotApplicable
  autoFail: boolean
}

/** The service stores definitions with all defaults. */
export type StoredScorecard = {
  sections: { name: string; items: StoredItem[] }[]
  bands: { name: string; from: number }[]
  affectedBelow: number
}

export const itemOf = (monitorId: string): ItemDraft => ({
  monitorId,
  version: '',
  points: '10',
  notApplicable: 'exclude',
  autoFail: false,
})

const empty: ScorecardDraft = {
  sections: [{ name: 'Section 1', items: [] }],
  bands: [
    { name: 'Fail', from: '0' },
    { name: 'Pass', from: '80' },
  ],
  affectedBelow: '80',
}

/** Returns the form fields for a stored definition, or for a new scorecard if the definition is not a scorecard. */
export const readScorecard = (stored: Record<string, unknown>): ScorecardDraft => {
  if (!Array.isArray(stored.sections)) return structuredClone(empty)
  // Only scorecards have sections.
  const { sections, bands, affectedBelow } = stored as StoredScorecard
  return {
    sections: sections.map(({ name, items }) => ({
      name,
      items: items.map(({ version, points, ...item }) => ({
        ...item,
        version: version === undefined ? '' : String(version),
        points: String(points),
      })),
    })),
    bands: bands.map(({ name, from }) => ({ name, from: String(from) })),
    affectedBelow: String(affectedBelow),
  }
}

export const scorecardDefinition = ({ sections, bands, affectedBelow }: ScorecardDraft): Record<string, unknown> => ({
  sections: sections.map(({ name, items }) => ({
    name: name.trim(),
    items: items.map(({ monitorId, version, points, notApplicable, autoFail }) => ({
      monitorId,
      ...(version !== '' && { version: Number(version) }),
      points: Number(points),
      notApplicable,
      autoFail,
    })),
  })),
  bands: bands.map(({ name, from }) => ({ name: name.trim(), from: Number(from) })),
  affectedBelow: Number(affectedBelow),
})

/** Returns the share of each section in the total points, from 0 to 1. */
export const sharesOf = ({ sections }: Pick<ScorecardDraft, 'sections'>): { points: number; share: number }[] => {
  const points = sections.map(({ items }) => items.reduce((sum, item) => sum + (Number(item.points) || 0), 0))
  const total = points.reduce((sum, each) => sum + each, 0)
  return points.map((each) => ({ points: each, share: total > 0 ? each / total : 0 }))
}
