// What stands where there is no data: not yet, none, or a fault.

import type { ReactNode } from 'react'
import { asFault } from '../api/fault.ts'
import { Button } from './button.tsx'
import { Copy } from './copy.tsx'
import styles from './states.module.css'

/** Grey lines in the place of what comes. */
export const Loading = ({ label = 'Loading', lines = 3 }: { label?: string; lines?: number }) => (
  <div className={styles.loading} role="status" aria-label={label}>
    {Array.from({ length: lines }, (_, line) => line).map((line) => (
      <span key={line} className={styles.bone} />
    ))}
  </div>
)

/** An empty place that says what it is for, and the one way to fill it. */
export const Empty = ({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) => (
  <div className={styles.empty}>
    <h3>{title}</h3>
    {children && <div className={styles.teaching}>{children}</div>}
    {action && <div>{action}</div>}
  </div>
)

/** A refusal, at the place where it happened. */
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
            Request <code>{requestId}</code> <Copy text={requestId} label="Copy the request id" />
          </span>
        )}
      </div>
    </div>
  )
}

type Answered<T> = { data: T | undefined; error: unknown; refetch: () => unknown }

/** What a query answered, or where it stands. */
export const Await = <T,>({
  query: { data, error, refetch },
  lines,
  children,
}: {
  query: Answered<T>
  lines?: number
  children: (data: T) => ReactNode
}) => {
  // At once: the head of the page often comes of the same answer, and would push the grey lines down.
  if (data !== undefined) return children(data)
  if (error) return <FaultNote error={error} retry={() => void refetch()} />
  return <Loading {...(lines !== undefined && { lines })} />
}
