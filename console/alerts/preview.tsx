import { useQuery } from '@tanstack/react-query'
import { useDeferred } from '../lib/deferred.ts'
import { formatNumber, formatPercent, plural } from '../lib/format.ts'
import { BandLine } from '../ui/charts/band-line.tsx'
import { Section } from '../ui/page.tsx'
import { Await } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import styles from './alerts.module.css'
import { type Preview as Previewed, previewOptions } from './queries.ts'

type PreviewRequest = Parameters<typeof previewOptions>[0]

const shownIncidents = 5
/** A preview counts 90 days, so it is only requested after this pause in typing. */
const typingMs = 400

const Summary = ({ incidents, incidentCount }: Previewed) => {
  if (incidentCount === 0) return <p>This rule would not have fired in the last 90 days.</p>
  return (
    <>
      <p>This rule would have fired {plural(incidentCount, 'time')} in the last 90 days.</p>
      <ul className={styles.timeline}>
        {incidents.slice(0, shownIncidents).map(({ group, openedAt, resolvedAt }) => (
          <li key={`${openedAt} ${group?.key}`}>
            <Time at={openedAt} />
            {resolvedAt ? (
              <>
                {' '}
                to <Time at={resolvedAt} />
              </>
            ) : (
              ', still open'
            )}
            {group && <span className={styles.soft}> · {group.label ?? group.key}</span>}
          </li>
        ))}
      </ul>
    </>
  )
}

/** Shows when a rule would have fired in the past, with a chart of its measure. */
export const Preview = ({ request }: { request: PreviewRequest }) => {
  const query = useQuery(previewOptions(useDeferred(request, typingMs)))
  const { condition, windowMinutes } = request
  const isRate =
    ['rate', 'category'].includes(condition.kind) || (condition.kind === 'change' && condition.field === undefined)
  const format = isRate ? formatPercent : formatNumber
  const threshold = 'threshold' in condition ? condition.threshold : undefined
  return (
    <Section title="Preview" context="Last 90 days">
      <Await query={query}>
        {(preview) => (
          <div className={styles.stack}>
            <Summary {...preview} />
            {preview.series.length > 1 && (
              <BandLine
                title="Value per window"
                valueName="Value"
                height={180}
                format={format}
                formatTick={format}
                points={preview.series.map(({ at, value, low, high, sample }) => ({
                  start: new Date(Date.parse(at) - windowMinutes * 60_000).toISOString(),
                  end: at,
                  value,
                  low,
                  high,
                  n: sample,
                }))}
                {...(threshold !== undefined && { reference: { value: threshold, label: 'Threshold' } })}
              />
            )}
          </div>
        )}
      </Await>
    </Section>
  )
}
