import { useQuery } from '@tanstack/react-query'
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { isNotFound } from '../api/fault.ts'
import type { Schemas } from '../api/schema.d.ts'
import { lazy } from '../ui/lazy.tsx'
import { RenderLater } from '../ui/render-later.tsx'
import { FaultNote, Loading } from '../ui/states.tsx'
import { Player } from './player.tsx'
import { conversationOptions, type Result, transcriptOptions } from './queries.ts'
import { Selection } from './selection.tsx'
import styles from './stage.module.css'
import { bandsOf, marksOf } from './timeline.ts'
import { Transcript } from './transcript.tsx'
import { usePlayer } from './use-player.ts'
import { type Position, usePosition } from './use-position.ts'

const TranscriptionNote = lazy(async () => (await import('./transcription-note.tsx')).TranscriptionNote)

const Regions = lazy(async () => (await import('./regions.tsx')).Regions)

type Stage = {
  /** Marks a turn and plays from it. */
  goTo: (turn: number) => void
  /** Plays from a time. */
  playFrom: (seconds: number) => void
  /** Returns a turn's start in seconds. */
  startOf: (turn: number) => number | null
}

const StageContext = createContext<Stage | undefined>(undefined)

/** Returns the functions with which components next to a transcript link to its turns. */
export const useStage = (): Stage => {
  const stage = useContext(StageContext)
  if (!stage) throw new Error('useStage needs a Stage around it.')
  return stage
}

type StageProps = {
  id: string
  results: Result[]
  place: Position
  onPlace: (place: Position) => void
  /** Shown above everything else. */
  head?: ReactNode
  /** Shown on the right, or below if there is not enough space. */
  aside: ReactNode
  asideLabel: string
  /** The surrounding element already scrolls. */
  narrow?: boolean
}

type Conversation = Schemas['Conversation']
type Read = Schemas['Transcript']

/** Returns the path of the recording, because the API serves it under this origin. */
const pathOf = (url: string | undefined): string | undefined => {
  if (url === undefined) return undefined
  const { pathname, search } = new URL(url)
  return pathname + search
}

/** Rounds to tenths of a second, which is precise enough to find a word again. */
const roundly = (seconds: number) => Math.round(seconds * 10) / 10

const none: Result[] = []

/** A span of the recording, in seconds, that is being marked. */
export type Range = { from: number; to: number }

/**
 * The time for which a recording's URL is used. The URL is valid for most of a day, and replacing it earlier would
 * interrupt playback.
 */
const urlLifetimeMs = 12 * 60 * 60 * 1_000

/** Returns the first URL of a conversation's recording until it becomes too old. */
const useStableUrl = (id: string, address: string | undefined): string | undefined => {
  const [kept, setKept] = useState({ id, address, at: Date.now() })
  const isOld = kept.id !== id || Date.now() - kept.at > urlLifetimeMs
  const isOver = isOld || kept.address === undefined || address === undefined
  if (isOver && (kept.id !== id || kept.address !== address)) setKept({ id, address, at: Date.now() })
  return isOver ? address : kept.address
}

const Loaded = ({
  conversation,
  transcript,
  results = none,
  place,
  onPlace,
  head,
  aside,
  asideLabel,
  narrow = false,
}: Omit<StageProps, 'id'> & { conversation: Conversation; transcript: Read }) => {
  const { turns, unreadable, content } = transcript
  const src = useStableUrl(conversation.id, pathOf(transcript.recordingUrl))
  const bands = useMemo(() => bandsOf(turns), [turns])
  const marks = useMemo(() => marksOf(results, turns), [results, turns])
  const { shown, led, move } = usePosition(place, onPlace)
  const onRest = useCallback((seconds: number) => move((before) => ({ ...before, at: roundly(seconds) })), [move])
  const startMs = place.turn === undefined ? null : (turns[place.turn]?.startMs ?? null)
  const player = usePlayer(src, place.at ?? (startMs === null ? 0 : startMs / 1_000), onRest)
  const { seek, play } = player
  useEffect(() => {
    if (led?.at !== undefined) seek(led.at)
  }, [led, seek])
  const spoken = bands.reduce((latestEnd, { to }) => Math.max(latestEnd, to), 0)
  const length = bands.length === 0 && src === undefined ? 0 : Math.max(player.duration ?? 0, spoken)

  const { id } = conversation
  const [selected, setSelected] = useState<Range & { id: string }>()
  const onRange = useCallback((from: number, to: number) => setSelected({ id, from, to }), [id])

  const stage = useMemo<Stage>(() => {
    const startOf = (turn: number) => {
      const ms = turns[turn]?.startMs
      return ms == null ? null : ms / 1_000
    }
    return {
      startOf,
      playFrom: (seconds) => {
        move(() => ({ at: roundly(seconds) }))
        seek(seconds)
        play()
      },
      goTo: (turn) => {
        const start = startOf(turn)
        move(() => ({ turn, ...(start !== null && { at: roundly(start) }) }))
        if (start === null) return
        seek(start)
        play()
      },
    }
  }, [turns, seek, play, move])
  const onSeek = useCallback(
    (seconds: number, turn?: number) => {
      seek(seconds)
      move(() => ({ at: roundly(seconds), ...(turn !== undefined && { turn }) }))
    },
    [seek, move],
  )
  const onTurn = useCallback(
    (turn: number) => {
      const start = stage.startOf(turn)
      if (start === null) move(() => ({ turn }))
      else onSeek(start, turn)
    },
    [stage, onSeek, move],
  )
  return (
    <StageContext.Provider value={stage}>
      <div className={narrow ? `${styles.stage} ${styles.narrow}` : styles.stage}>
        <div className={styles.inner}>
          {head}
          <div className={styles.top}>
            <Player
              conversation={conversation}
              src={src}
              player={player}
              bands={bands}
              marks={marks}
              length={length}
              onSeek={onSeek}
              onTurn={onTurn}
              onRange={onRange}
              marked={shown.turn}
            />
          </div>
          {conversation.recording?.status === 'stored' && (
            <RenderLater>
              <Regions
                id={id}
                range={selected?.id === id ? selected : undefined}
                onClose={() => setSelected(undefined)}
              />
            </RenderLater>
          )}
          <div className={styles.columns}>
            <section className={styles.transcript} aria-label="Transcript">
              {(transcript.transcription || transcript.transcribedBy) && <TranscriptionNote {...transcript} />}
              <Selection conversation={conversation} turns={turns}>
                <Transcript
                  turns={turns}
                  unreadable={unreadable}
                  content={content}
                  bands={bands}
                  marks={marks}
                  player={player}
                  onTurn={onTurn}
                  marked={shown.turn}
                />
              </Selection>
            </section>
            <aside className={styles.aside} aria-label={asideLabel}>
              {aside}
            </aside>
          </div>
        </div>
      </div>
    </StageContext.Provider>
  )
}

/** Shows a conversation to listen to and read, with a panel that links to its turns. */
export const Stage = ({ id, ...rest }: StageProps) => {
  const conversation = useQuery(conversationOptions(id))
  const transcript = useQuery(transcriptOptions(id))
  const { refetch } = transcript
  const { updatedAt, recording } = conversation.data ?? {}
  const version = updatedAt && `${updatedAt} ${recording?.status}`
  const seen = useRef<string>(undefined)
  useEffect(() => {
    // The version changes when the conversation or its recording is updated.
    if (version !== undefined && seen.current !== undefined && seen.current !== version) void refetch()
    seen.current = version ?? seen.current
  }, [version, refetch])
  const isGone = [conversation, transcript].some(({ error }) => isNotFound(error))
  // The transcript is rendered in small steps, between which the browser can handle input.
  const isShown = useDeferredValue(conversation.data !== undefined && transcript.data !== undefined)
  if (isShown && conversation.data && transcript.data && !isGone) {
    return <Loaded {...rest} conversation={conversation.data} transcript={transcript.data} />
  }
  const faulty = [conversation, transcript].find(({ error }) => error)
  return (
    <div className={styles.waiting}>
      {faulty ? <FaultNote error={faulty.error} retry={() => void faulty.refetch()} /> : <Loading lines={8} />}
    </div>
  )
}
