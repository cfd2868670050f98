import { ChevronsUp, Minus, SignalHigh, SignalLow, SignalMedium } from 'lucide-react'
import { sentenceCase } from '../lib/format.ts'
import { Badge, type Tone } from '../ui/badge.tsx'
import styles from './findings.module.css'
import type { Finding, FindingStatus, Priority } from './queries.ts'

export const statuses: FindingStatus[] = ['open', 'acknowledged', 'resolved', 'ignored']

/** The priorities in the order of their keyboard shortcuts. */
export const priorities: Priority[] = ['urgent', 'high', 'medium', 'low', 'none']

const tones: Record<FindingStatus, Tone> = {
  open: 'affected',
  acknowledged: 'accent',
  resolved: 'clear',
  ignored: 'unscored',
}

export const StatusBadge = ({ status }: { status: FindingStatus }) => (
  <Badge tone={tones[status]}>{sentenceCase(status)}</Badge>
)

const icons = { urgent: ChevronsUp, high: SignalHigh, medium: SignalMedium, low: SignalLow, none: Minus }

export const priorityWords: Record<Priority, string> = {
  urgent: 'Urgent',
  high: 'High',
  medium: 'Medium',
  low: 'Low',
  none: 'No priority',
}

export const PriorityMark = ({ priority, bare = false }: { priority: Priority; bare?: boolean }) => {
  const Icon = icons[priority]
  return (
    <span className={styles.priority} title={priorityWords[priority]}>
      <Icon
        className={priority === 'urgent' ? styles.urgent : undefined}
        {...(bare ? { role: 'img', 'aria-label': priorityWords[priority] } : { 'aria-hidden': true })}
      />
      {!bare && priorityWords[priority]}
    </span>
  )
}

/** The built-in types. Organizations can add others. */
export const typeWords: Record<number, string> = {
  0: 'Manual',
  1: 'Monitor spike',
  2: 'Experiment health',
  3: 'Latency',
}

export const typeInWords = ({ findingType }: Pick<Finding, 'findingType'>): string =>
  typeWords[findingType] ?? `Type ${findingType}`
