import { useQuery } from '@tanstack/react-query'
import { useDeferred } from '../lib/deferred.ts'
import { plural } from '../lib/format.ts'
import { FaultNote, Loading } from '../ui/states.tsx'
import styles from './new-export.module.css'
import { type Config, previewOptions } from './queries.ts'

/** Shows the number of matching conversations, and the first rows of the file. */
export const Preview = ({ read }: { read: { config: Config } | { missing: string } }) => {
  const config = useDeferred('config' in read ? read.config : undefined, 300)
  const { data, error, isFetching } = useQuery({ ...previewOptions(config), placeholderData: (before) => before })
  if ('missing' in read) {
    return (
      <section className={styles.preview} aria-label="Preview">
        <p className={styles.soft}>{read.missing}</p>
      </section>
    )
  }
  return (
    <section className={styles.preview} aria-label="Preview" aria-busy={isFetching}>
      {error && <FaultNote error={error} />}
      {!data && !error && <Loading lines={6} />}
      {data && (
        <>
          <div className={isFetching ? styles.stale : undefined}>
            <p className={styles.count} aria-live="polite">
              {plural(data.count, 'conversation')}
            </p>
            <p className={styles.soft}>
              {data.exceedsLimit
                ? 'Too many conversations for one export. Choose a shorter period.'
                : data.count === 0
                  ? 'No conversations match in this period.'
                  : `One row per conversation. ${data.count > data.rows.length ? `First ${data.rows.length}:` : 'All rows:'}`}
            </p>
          </div>
          {data.rows.length > 0 && (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
            <section className={styles.rows} tabIndex={0} aria-label="Preview rows">
              <table>
                <thead>
                  <tr>
                    {data.columns.map((column) => (
                      <th key={column} scope="col">
                        {column}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {data.rows.map((row) => (
                    <tr key={String(row[0])}>
                      {row.map((value, at) => (
                        <td key={data.columns[at]} title={String(value ?? '')}>
                          {value}
                        </td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
            </section>
          )}
        </>
      )}
    </section>
  )
}
