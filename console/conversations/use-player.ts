import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { type Clock, makeClock } from './clock.ts'

export type Player = {
  audio: RefObject<HTMLAudioElement | null>
  clock: Clock
  /** Whether there is a recording that this browser can play. */
  sounds: boolean
  broken: boolean
  playing: boolean
  /** The recording's length, once known. */
  duration: number | undefined
  speed: number
  setSpeed: (speed: number) => void
  seek: (seconds: number) => void
  play: () => void
  toggle: () => void
}

const storageKey = 'earshot-speed'

export const speeds = [0.75, 1, 1.25, 1.5, 2]

/** Returns the playback speed that the browser remembers. */
const readSpeed = (): number => speeds.find((speed) => String(speed) === localStorage.getItem(storageKey)) ?? 1

/** Plays the recording at `src`. Without one, the position is moved manually. */
export const usePlayer = (src: string | undefined, start: number, onRest: (seconds: number) => void): Player => {
  const audio = useRef<HTMLAudioElement>(null)
  const [clock] = useState(() => makeClock(start))
  const [playing, setPlaying] = useState(false)
  const [broken, setBroken] = useState(false)
  const [duration, setDuration] = useState<number>()
  const [speed, setSpeedState] = useState(readSpeed)
  const rest = useRef(onRest)
  useEffect(() => {
    rest.current = onRest
  })

  useEffect(() => {
    const element = audio.current
    if (!element || src === undefined) return
    // The playback has this speed and position even after the element reloads.
    element.defaultPlaybackRate = speed
    element.playbackRate = speed
  }, [src, speed])

  useEffect(() => {
    const element = audio.current
    if (!element || src === undefined) return
    let frame = 0
    let triedAgain = false
    const follow = () => {
      clock.set(element.currentTime)
      frame = requestAnimationFrame(follow)
    }
    const on: Record<string, () => void> = {
      loadedmetadata: () => {
        setDuration(Number.isFinite(element.duration) ? element.duration : undefined)
        if (clock.now() > 0) element.currentTime = clock.now()
      },
      play: () => {
        setPlaying(true)
        cancelAnimationFrame(frame)
        follow()
      },
      pause: () => {
        setPlaying(false)
        cancelAnimationFrame(frame)
        clock.set(element.currentTime)
        rest.current(element.currentTime)
      },
      error: () => {
        // If the URL has expired, refetching returns a new one.
        if (!triedAgain && element.currentTime > 0) {
          triedAgain = true
          element.load()
        } else setBroken(true)
      },
    }
    for (const [name, run] of Object.entries(on)) element.addEventListener(name, run)
    if (element.readyState >= HTMLMediaElement.HAVE_METADATA) on.loadedmetadata?.()
    return () => {
      cancelAnimationFrame(frame)
      for (const [name, run] of Object.entries(on)) element.removeEventListener(name, run)
      element.pause()
    }
  }, [src, clock])

  const seek = useCallback(
    (seconds: number) => {
      const to = Math.max(0, seconds)
      const element = audio.current
      if (element && element.readyState >= HTMLMediaElement.HAVE_METADATA) element.currentTime = to
      clock.set(to)
    },
    [clock],
  )
  // Browsers that block sound before the first click reject the promise, and then nothing plays.
  const play = useCallback(() => void audio.current?.play().catch(() => setPlaying(false)), [])
  const toggle = useCallback(() => {
    if (audio.current && !audio.current.paused) audio.current.pause()
    else play()
  }, [play])
  const setSpeed = useCallback((next: number) => {
    localStorage.setItem(storageKey, String(next))
    setSpeedState(next)
  }, [])
  return useMemo(
    () => ({
      audio,
      clock,
      sounds: src !== undefined && !broken,
      broken,
      playing,
      duration,
      speed,
      setSpeed,
      seek,
      play,
      toggle,
    }),
    [clock, src, broken, playing, duration, speed, setSpeed, seek, play, toggle],
  )
}
