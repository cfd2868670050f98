import { useEffect, useRef, useState } from 'react'
import { isRefusal } from '../api/fault.ts'
import { type Answers, changeOf } from './answers.ts'
import { changeReview } from './queries.ts'

const rest = 500
const patience = 5_000

/** Not what may pass by itself: too much at once, or a service out of reach. */
const isLasting = (error: unknown) => isRefusal(error) && error.status !== 429

/** Keeps what is written as it is written, so that nothing is lost when the page goes. */
export const useSaving = (
  id: string,
  answers: Answers,
  monitorIds: string[],
  isReady: boolean,
  onRefusal: (error: unknown, judged: string[]) => void,
) => {
  const sending = useRef<Promise<unknown>>(Promise.resolve())
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const told = useRef<string>(undefined)
  /** Sends what waits for its moment. */
  const send = useRef<() => void>(undefined)
  /** While the whole is sent, its parts are not. */
  const resting = useRef(false)
  const latest = useRef<typeof onRefusal>(undefined)
  const [failures, setFailures] = useState(0)
  const text = JSON.stringify(changeOf(answers, monitorIds))
  useEffect(() => {
    latest.current = onRefusal
  })
  useEffect(() => {
    if (!isReady || resting.current) return
    told.current ??= text
    send.current = undefined
    if (told.current === text) return
    send.current = () => {
      send.current = undefined
      const before = told.current
      told.current = text
      const body = JSON.parse(text) as ReturnType<typeof changeOf>
      sending.current = changeReview(id, body).then(
        () => setFailures(0),
        (error: unknown) => {
          if (isLasting(error)) {
            latest.current?.(
              error,
              body.judgments.map(({ monitorId }) => monitorId),
            )
            return
          }
          told.current = before
          setFailures((count) => count + 1)
        },
      )
    }
    timer.current = setTimeout(() => send.current?.(), failures === 0 ? rest : patience)
    return () => clearTimeout(timer.current)
  }, [id, text, isReady, failures])
  useEffect(
    () => () => {
      // What was written at last is not left behind; nobody is here to be told of it.
      send.current?.()
      latest.current = undefined
    },
    [],
  )
  return {
    /** Whether the service could not be reached for what was written at last; it is tried again. */
    isBehind: failures > 0,
    /** Sends nothing more, and waits for what is on its way. */
    rest: async () => {
      clearTimeout(timer.current)
      send.current = undefined
      resting.current = true
      await sending.current
    },
    goOn: () => {
      resting.current = false
    },
  }
}
