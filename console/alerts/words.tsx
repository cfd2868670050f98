import { Badge, type Tone } from '../ui/badge.tsx'
import type { Incident, Rule } from './queries.ts'

const severities: Record<Rule['severity'], { tone: Tone; word: string }> = {
  info: { tone: 'accent', word: 'Info' },
  warning: { tone: 'affected', word: 'Warning' },
  critical: { tone: 'failed', word: 'Critical' },
}

export const SeverityBadge = ({ severity }: Pick<Rule, 'severity'>) => (
  <Badge tone={severities[severity].tone}>{severities[severity].word}</Badge>
)

const statuses: Record<Incident['status'], { tone: Tone; word: string }> = {
  firing: { tone: 'failed', word: 'Firing' },
  acknowledged: { tone: 'affected', word: 'Acknowledged' },
  resolved: { tone: 'clear', word: 'Resolved' },
}

export const IncidentStatus = ({ status }: Pick<Incident, 'status'>) => (
  <Badge tone={statuses[status].tone}>{statuses[status].word}</Badge>
)

export const RuleState = ({ enabled, state }: Pick<Rule, 'enabled' | 'state'>) => {
  if (!enabled) return <Badge tone="unscored">Disabled</Badge>
  if (state === 'firing') return <Badge tone="failed">Firing</Badge>
  return state === 'muted' ? <Badge tone="unscored">Muted</Badge> : <Badge tone="clear">OK</Badge>
}
