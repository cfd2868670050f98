import { useQuery } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { useDeferred } from '../lib/deferred.ts'
import type { Document } from './rich-text.tsx'
import styles from './similar-findings.module.css'

/** Shorter titles are not compared, because people are still typing them. */
const shortest = 8
const pauseMs = 500

type SimilarFindingsProps = { title: string; description?: Document | null }

/**
 * Lists open findings that may describe the same problem as a new one. They open in a new tab, so that the new finding
 * is not lost.
 */
export const SimilarFindings = ({ title, description }: SimilarFindingsProps) => {
  const draft = useDeferred({ title: title.trim(), ...(description && { description }) }, pauseMs)
  const { data } = useQuery({
    queryKey: ['findings', 'similar', draft],
    queryFn: ({ signal }) => answer(api.POST('/v1/findings/similar', { body: draft, signal })),
    enabled: draft.title.length >= shortest,
    // If search by meaning is disabled, retrying doesn't help, and no findings are suggested.
    retry: false,
    placeholderData: (before) => before,
  })
  const similar = draft.title.length >= shortest ? (data?.data ?? []) : []
  return (
    <div role="status">
      {similar.length > 0 && (
        <section className={styles.similar} aria-label="Similar findings">
          <h3>Already filed?</h3>
          <ul>
            {similar.map(({ finding: { id, title: other } }) => (
              <li key={id}>
                <a href={`/findings/${id}`} target="_blank" rel="noreferrer">
                  {other}
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}
