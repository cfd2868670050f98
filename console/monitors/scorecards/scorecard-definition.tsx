import { Link } from '@tanstack/react-router'
import { useNames } from '../../api/names.ts'
import { formatNumber } from '../../lib/format.ts'
import type { NotApplicable, StoredScorecard } from './draft.ts'
import styles from './scorecard.module.css'

const words: Record<NotApplicable, string> = {
  exclude: 'Excluded',
  full: 'Full points',
  zero: 'No points',
}

/** Shows a scorecard's definition: its items by section, and its bands. */
export const ScorecardDefinition = ({ definition }: { definition: Record<string, unknown> }) => {
  const { nameOf } = useNames('monitors')
  // The service has validated the definition for its kind.
  const { sections, bands, affectedBelow } = definition as StoredScorecard
  return (
    <>
      {sections.map(({ name, items }) => (
        <table key={items[0]?.monitorId} className={styles.table}>
          <caption>{name}</caption>
          <thead>
            <tr>
              <th scope="col">Item</th>
              <th scope="col">Points</th>
              <th scope="col">If not applicable</th>
            </tr>
          </thead>
          <tbody>
            {items.map(({ monitorId, version, points, notApplicable, autoFail }) => (
              <tr key={monitorId}>
                <th scope="row">
                  <Link to="/monitors/$id" params={{ id: monitorId }} search={{}}>
                    {nameOf(monitorId)}
                  </Link>
                  {version !== undefined && `, version ${version}`}
                  {autoFail && ' (fails the whole scorecard)'}
                </th>
                <td>{formatNumber(points)}</td>
                <td>{words[notApplicable]}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ))}
      <p className={styles.soft}>
        Affected below {formatNumber(affectedBelow)}.
        {bands.length > 0 &&
          ` Bands: ${bands.map(({ name, from }) => `${name} from ${formatNumber(from)}`).join(', ')}.`}
      </p>
    </>
  )
}
