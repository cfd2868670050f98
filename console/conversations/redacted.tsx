import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useMay } from '../api/session.ts'
import { formatMs, plural } from '../lib/format.ts'
import { organizationOptions } from '../settings/queries.ts'
import { Button } from '../ui/button.tsx'
import { lazy } from '../ui/lazy.tsx'
import styles from './aside.module.css'
import { PlayFrom } from './play-from.tsx'

const OpenOriginal = lazy(async () => (await import('./open-original.tsx')).OpenOriginal)

type Span = { startMs: number; endMs: number }

/** Lists the redactions in the recording, and lets admins open its sealed original. */
export const Redacted = ({ id, spans }: { id: string; spans: Span[] }) => {
  const isAdmin = useMay('admin')
  const { data: organization } = useQuery({ ...organizationOptions, enabled: isAdmin })
  const [isOpen, setIsOpen] = useState(false)
  const totalMs = spans.reduce((total, { startMs, endMs }) => total + endMs - startMs, 0)
  const [first] = spans
  return (
    <div className={styles.gap}>
      <p>
        {spans.length === 0
          ? 'Nothing was redacted.'
          : `${plural(spans.length, 'span')} redacted, ${formatMs(totalMs)} in total.`}
      </p>
      {first && <PlayFrom ms={first.startMs}>Play the first redacted span</PlayFrom>}
      {organization?.originalRecordings === 'seal' && (
        <Button onClick={() => setIsOpen(true)}>Open original recording…</Button>
      )}
      {isOpen && <OpenOriginal id={id} onClose={() => setIsOpen(false)} />}
    </div>
  )
}
