// Summarizes an organization's events in a period. The summary names no conversations, so it reveals nothing to people
// who review them blind.

import { getOrganization } from '../../organizations/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { dayMs } from '../../platform/durations.ts'
import { compareMonitors } from '../../trends/comparison/compare.ts'
import { listExperimentsIn, listNewFindings, listNewIncidents, listReviewedBuckets } from './queries.ts'

type Period = { since: Date; until: Date }

/** A line of text, and the path of the page with more details. */
export type Line = { text: string; path: string }
export type Section = { title: string; lines: Line[] }

/** The maximum number of lines in each section. */
const mostLines = 5
const mostMonitors = 200
/** The maximum number of experiments to read, newest first. Only experiments with news are listed. */
const mostExperiments = 200
/**
 * The maximum length of the period. Otherwise, the period after an outage could be longer than anyone wants to read
 * about.
 */
const longestMs = 31 * dayMs

const percent = (share: number): string => `${(share * 100).toFixed(1)}%`
const points = (difference: number): string => `${difference > 0 ? '+' : ''}${(difference * 100).toFixed(1)}`
const decimal = (value: number): string => `${value > 0 ? '+' : ''}${Number(value.toPrecision(3))}`
const count = (number: number, noun: string): string =>
  `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`

/** Adds a line with the number of items that are not listed. */
const andMore = (lines: Line[], total: number, path: string): Line[] =>
  total > lines.length ? [...lines, { text: `${(total - lines.length).toLocaleString('en')} more`, path }] : lines

const monitorLines = async (db: Db, org: OrgId, { since, until }: Period): Promise<Line[]> => {
  const before = new Date(since.getTime() - (until.getTime() - since.getTime()))
  const compared = await compareMonitors(db, org, { before, since, until }, { mostMonitors, together: true })
  const changed = compared.flatMap(({ change, current, previous, difference, ...monitor }) =>
    change === 'unclear' || !current.rate || !previous.rate || !difference
      ? []
      : { change, rate: current.rate, previous: previous.rate, difference, current, ...monitor },
  )
  const strongest = changed.toSorted((a, b) => Math.abs(b.difference.value) - Math.abs(a.difference.value))
  const lines = strongest.slice(0, mostLines).map((each) => {
    const { monitorId, monitorName, change, rate, previous, difference, current, definitionChanged } = each
    const n = (current.affected + current.notAffected).toLocaleString('en')
    const interval = `${(rate.low * 100).toFixed(1)}–${percent(rate.high)}`
    const changedBy = `${points(difference.value)} points, ${points(difference.low)} to ${points(difference.high)}`
    const note = definitionChanged ? ' Its definition changed as well.' : ''
    return {
      text: `${monitorName}: ${change}. ${percent(rate.value)} affected (${interval}, n = ${n}), before ${percent(previous.value)} (${changedBy}).${note}`,
      path: `/monitors/${monitorId}`,
    }
  })
  return andMore(lines, changed.length, '/monitors')
}

const findingLines = async (db: Db, org: OrgId, period: Period): Promise<Line[]> => {
  const findings = await listNewFindings(db, org, period, mostLines)
  const lines = findings.map(({ id, title, priority, conversations }) => {
    const urgency = priority === 'none' ? '' : `, ${priority} priority`
    return { text: `${title} (${count(conversations, 'conversation')}${urgency})`, path: `/findings/${id}` }
  })
  return andMore(lines, findings[0]?.total ?? 0, '/findings')
}

const incidentLines = async (db: Db, org: OrgId, period: Period): Promise<Line[]> => {
  const incidents = await listNewIncidents(db, org, period, mostLines)
  const lines = incidents.map(({ id, name, text, resolvedAt }) => ({
    text: `${name}: ${resolvedAt === null ? 'still open' : 'resolved'}. ${text}`,
    path: `/alerts/incidents/${id}`,
  }))
  return andMore(lines, incidents[0]?.total ?? 0, '/alerts')
}

const reviewLines = async (db: Db, org: OrgId, period: Period): Promise<Line[]> => {
  const buckets = await listReviewedBuckets(db, org, period, mostLines)
  return buckets.map(({ id, name, completed, waiting }) => ({
    text: `${name}: ${count(completed, 'review')} completed, ${count(waiting, 'conversation')} waiting`,
    path: `/buckets/${id}`,
  }))
}

type Experiment = Awaited<ReturnType<typeof listExperimentsIn>>[number]

/** Describes the newest interim analysis of the primary outcome. */
const resultOf = ({ outcome, kind, point }: Experiment): string => {
  const [, observedA, observedB, , , difference, low, high] = point ?? []
  if (typeof difference !== 'number' || typeof low !== 'number' || typeof high !== 'number') {
    return `${outcome}: not enough data yet`
  }
  const spell = kind === 'boolean' ? points : decimal
  const n = (Number(observedA) + Number(observedB)).toLocaleString('en')
  return `${outcome}: B − A is ${spell(difference)}${kind === 'boolean' ? ' points' : ''} (${spell(low)} to ${spell(high)}, n = ${n})`
}

const experimentLines = async (db: Db, org: OrgId, period: Period): Promise<Line[]> => {
  const experiments = await listExperimentsIn(db, org, period, mostExperiments)
  const lines = experiments.flatMap((experiment) => {
    const { id, name, finishedAt, point } = experiment
    const isFinished = finishedAt !== null && finishedAt < period.until
    const isNews = point !== null && point[0] >= period.since.getTime() && point[0] < period.until.getTime()
    if (!isFinished && !isNews) return []
    return { text: `${name}${isFinished ? ' (finished)' : ''}. ${resultOf(experiment)}.`, path: `/experiments/${id}` }
  })
  return andMore(lines.slice(0, mostLines), lines.length, '/experiments')
}

/** Returns the sections that are not empty. */
export const summarize = async (db: Db, org: OrgId, period: Period): Promise<Section[]> => {
  const since = new Date(Math.max(period.since.getTime(), period.until.getTime() - longestMs))
  const within = { since, until: period.until }
  const { entitlements } = await getOrganization(db, org)
  const sections = [
    {
      title: 'Monitors that changed, compared with the period before',
      lines: entitlements.monitors ? await monitorLines(db, org, within) : [],
    },
    { title: 'New findings', lines: await findingLines(db, org, within) },
    { title: 'New incidents', lines: await incidentLines(db, org, within) },
    { title: 'Reviews', lines: await reviewLines(db, org, within) },
    { title: 'Experiments', lines: await experimentLines(db, org, within) },
  ]
  return sections.filter(({ lines }) => lines.length > 0)
}
