import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { answer, api } from '../api/client.ts'
import { queryClient, useList } from '../api/queries.ts'
import { announce } from '../ui/announce.tsx'
import { Button } from '../ui/button.tsx'
import { Field, Input, Row, Select } from '../ui/controls.tsx'
import { FaultNote } from '../ui/states.tsx'
import { findingsOfOptions } from './queries.ts'
import styles from './regions.module.css'
import type { Range } from './stage.tsx'

const channels = [
  { value: '', label: 'Both' },
  { value: '0', label: '1' },
  { value: '1', label: '2' },
]

const toMs = (seconds: string): number => Math.round(Number(seconds) * 1_000)
const asSeconds = (seconds: number): string => String(Math.round(seconds * 10) / 10)

type MarkRegionProps = { id: string; range: Range; onClose: () => void }

/** Marks a span of the recording with a note. */
export const MarkRegion = ({ id, range, onClose }: MarkRegionProps) => {
  const { rows: findings = [] } = useList(findingsOfOptions(id))
  const [from, setFrom] = useState(asSeconds(range.from))
  const [to, setTo] = useState(asSeconds(range.to))
  const [note, setNote] = useState('')
  const [channel, setChannel] = useState('')
  const [findingId, setFindingId] = useState('')
  const noteBox = useRef<HTMLDivElement>(null)
  useEffect(() => noteBox.current?.querySelector('input')?.focus(), [])
  const save = useMutation({
    mutationFn: async () => {
      const body = {
        startMs: toMs(from),
        endMs: toMs(to),
        note,
        ...(channel !== '' && { channel: Number(channel) }),
        ...(findingId !== '' && { findingId }),
      }
      await answer(api.POST('/v1/conversations/{id}/regions', { params: { path: { id } }, body }))
      await queryClient.invalidateQueries({ queryKey: ['conversations', id, 'regions'] })
      announce('Region marked')
      onClose()
    },
  })
  const options = [{ value: '', label: 'None' }, ...findings.map((each) => ({ value: each.id, label: each.title }))]
  const isComplete = note.trim() !== '' && toMs(to) > toMs(from)
  return (
    <form
      className={styles.form}
      aria-label="Mark region"
      onSubmit={(event) => {
        event.preventDefault()
        if (isComplete && !save.isPending) save.mutate()
      }}
    >
      <div ref={noteBox}>
        <Field label="Note">
          {(ids) => (
            <Input {...ids} value={note} maxLength={2_000} required onChange={({ target }) => setNote(target.value)} />
          )}
        </Field>
      </div>
      <Row>
        <Field label="From (s)">
          {(ids) => (
            <Input
              {...ids}
              type="number"
              min={0}
              step={0.1}
              required
              value={from}
              onChange={({ target }) => setFrom(target.value)}
            />
          )}
        </Field>
        <Field label="To (s)" fault={toMs(to) > toMs(from) ? undefined : 'Must be after the start.'}>
          {(ids) => (
            <Input
              {...ids}
              type="number"
              min={0}
              step={0.1}
              required
              value={to}
              onChange={({ target }) => setTo(target.value)}
            />
          )}
        </Field>
        <Field label="Channel">
          {(ids) => (
            <Select {...ids} options={channels} value={channel} onChange={({ target }) => setChannel(target.value)} />
          )}
        </Field>
        {findings.length > 0 && (
          <Field label="Finding">
            {(ids) => (
              <Select
                {...ids}
                options={options}
                value={findingId}
                onChange={({ target }) => setFindingId(target.value)}
              />
            )}
          </Field>
        )}
      </Row>
      {save.error && <FaultNote error={save.error} />}
      <div className={styles.ways}>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={save.isPending}>
          Save region
        </Button>
      </div>
    </form>
  )
}
