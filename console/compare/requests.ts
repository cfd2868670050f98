import { queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { inOwnZone } from '../api/own-zone.ts'
import { queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { chartOptions, inZone } from '../boards/queries.ts'
import type { Filter } from '../filters/filter.ts'
import { readRange, type TimeRange } from '../filters/range.ts'
import { ownZone } from '../lib/zones.ts'
import { filterOfSide, lastVersions, precedenceOf, type Sides, twoPeriods } from './sides.ts'

export type GroupComparison = Schemas['GroupComparison']
export type ComparedRow = GroupComparison['rows'][number]

type Compared = { sides: Sides; both: Filter; time: TimeRange }

/** Returns the filters for the request. */
export const filtersOf = ({ sides: { a, b }, both, time }: Compared): { a: Filter; b: Filter } => {
  const timeOfA = precedenceOf(a) ? {} : (readRange(a.time, ownZone()) ?? time)
  return { a: { ...filterOfSide(a, both), ...timeOfA }, b: { ...filterOfSide(b, both), ...time } }
}

/**
 * Requests a comparison. It is not refreshed whenever a conversation arrives, because counting everything again takes
 * time.
 */
export const comparisonOptions = (compared: Compared) => {
  const compareTo = precedenceOf(compared.sides.a)
  const { a, b } = filtersOf(compared)
  return queryOptions({
    queryKey: ['comparison', a, b, compareTo],
    queryFn: ({ signal }) =>
      inOwnZone((timezone) => {
        const body = { a: inZone(a, timezone), b: inZone(b, timezone), timezone, ...(compareTo && { compareTo }) }
        return answer(api.POST('/v1/analytics/compare', { body, signal }))
      }),
    staleTime: 60_000,
  })
}

/** The periods in which two versions are searched. Undefined is the period that the page shows. */
const periods = [undefined, 'last:90d', 'last:12mo']

type Chosen = { sides: Sides; time: string | undefined }

type Selection = { agent: string | undefined; both: Filter; time: TimeRange }

/**
 * Finds the last two versions with conversations, in a longer period if necessary. If there are none, the page compares
 * a period with the previous one.
 */
export const defaultSidesOptions = ({ agent, both, time }: Selection) =>
  queryOptions({
    queryKey: ['comparison', 'sides', agent, both, time],
    queryFn: async (): Promise<Chosen> => {
      const filter = filterOfSide(agent === undefined ? {} : { agent }, both)
      for (const code of periods) {
        const { groups } = await queryClient.fetchQuery(
          chartOptions(
            { query: { measure: { kind: 'volume' }, groupBy: ['agent', 'version'] } },
            { filter: { ...filter, ...(readRange(code, ownZone()) ?? time) }, compareTo: undefined },
          ),
        )
        const sides = lastVersions(groups)
        if (sides) return { sides, time: code }
      }
      return { sides: twoPeriods(agent), time: undefined }
    },
    staleTime: 60_000,
  })
