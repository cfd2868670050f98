import type { Schemas } from '../api/schema.d.ts'
import { splitModel } from '../monitors/model-name.ts'
import { Badge } from '../ui/badge.tsx'
import styles from './transcript.module.css'

type Transcript = Schemas['Transcript']

const aboutCost = (cost: number | null | undefined): string =>
  typeof cost === 'number' ? ` It cost $${cost.toFixed(cost < 0.1 ? 4 : 2)}.` : ''

/** Explains that a model created the transcript from the recording, or why it hasn't. */
export const TranscriptionNote = ({ transcribedBy, transcription }: Transcript) => {
  const model = transcription ? splitModel(transcription.model).model : transcribedBy
  if (transcription?.status === 'failed') {
    return (
      <p className={styles.note} role="status">
        <Badge tone="failed">Not transcribed</Badge> {transcription.failure}
      </p>
    )
  }
  if (transcription?.status === 'pending') {
    return (
      <p className={styles.note} role="status">
        <Badge>Transcribing</Badge> {model} will transcribe the recording unless a transcript arrives first.
      </p>
    )
  }
  if (transcribedBy === null) return <p className={styles.note}>{model} found no speech in the recording.</p>
  return (
    <p className={styles.note}>
      <Badge tone="accent">Transcribed by {model}</Badge> Generated from the recording.
      {aboutCost(transcription?.cost)}
    </p>
  )
}
