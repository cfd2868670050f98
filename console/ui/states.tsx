// Shows loading, empty, and error states.

import type { ReactNode } from 'react'
import { asFault } from '../api/fault.ts'
import { Button } from './button.tsx'
import { Copy } from './copy.tsx'
import styles from './states.module.css'

/** Shows placeholder lines while loading. */
export const Loading = ({ label = 'Loading', lines = 3 }: { label?: string; lines?: number }) => (
  <div className={styles.loading} role="status" aria-label={label}>
    {Array.from({ length: lines }, (_, line) => line).map((line) => (
      <span key={line} className={styles.bone} />
    ))}
  </div>
)

/** Shows an empty state: what will appear here, and how to create it. */
export const Empty = ({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) => (
  <div className={styles.empty}>
    <h3>{title}</h3>
    {children && <div className={styles.teaching}>{children}</div>}
    {action && <div>{action}</div>}
  </div>
)

/** Shows an error at the place where it happened. */
export const FaultNote = ({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) => {
  const { message, issues, requestId } = asFault(error)
  return (
    <div className={styles.fault} role="alert">
      <p>{message}</p>
      {issues.length > 0 && (
        <ul>
          {issues.map((issue) => (
            <li key={issue.path + issue.message}>
              {issue.path && <code>{issue.path}</code>} {issue.message}
            </li>
          ))}
        </ul>
      )}
      <div className={styles.ways}>
        {retry && (
          <Button small onClick={retry}>
            Try again
          </Button>
        )}
        {requestId && (
          <span className={styles.request}>
            Request <code>{requestId}</code> <Copy text={requestId} label="Copy request ID" />
          </span>
        )}
      </div>
    </div>
  )
}

type Answered<T> = { data: T | undefined; error: unknown; refetch: () => unknown }

/** Shows a query's data, or its loading or error state. */
export const Await = <T,>({
  query: { data, error, refetch },
  lines,
  children,
}: {
  query: Answered<T>
  lines?: number
  children: (data: T) => ReactNode
}) => {
  // The data is rendered synchronously. Otherwise, the page's heading, which often comes from the same response, would
  // push the placeholder down.
  if (data !== undefined) return children(data)
  if (error) return <FaultNote error={error} retry={() => void refetch()} />
  return <Loading {...(lines !== undefined && { lines })} />
}
