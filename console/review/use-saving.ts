import { useEffect, useRef, useState } from 'react'
import { isRefusal } from '../api/fault.ts'
import { queryClient } from '../api/queries.ts'
import { type Answers, changeOf } from './answers.ts'
import { changeReview, reviewScorecardsOptions } from './queries.ts'

const rest = 500
const patience = 5_000

/** Returns whether an error is permanent. Too many requests and an unreachable server are temporary. */
const isLasting = (error: unknown) => isRefusal(error) && error.status !== 429

/** Saves input as it is typed, so that nothing is lost when the page closes. */
export const useSaving = (
  id: string,
  answers: Answers,
  monitorIds: string[],
  isReady: boolean,
  onRefusal: (error: unknown, judged: string[]) => void,
) => {
  const sending = useRef<Promise<unknown>>(Promise.resolve())
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const sent = useRef<string>(undefined)
  /** Saves pending changes immediately. */
  const send = useRef<() => void>(undefined)
  /** Whether the whole review is being submitted. Meanwhile, individual changes aren't saved. */
  const resting = useRef(false)
  const latest = useRef<typeof onRefusal>(undefined)
  const [failures, setFailures] = useState(0)
  const text = JSON.stringify(changeOf(answers, monitorIds))
  useEffect(() => {
    latest.current = onRefusal
  })
  useEffect(() => {
    if (!isReady || resting.current) return
    sent.current ??= text
    send.current = undefined
    if (sent.current === text) return
    send.current = () => {
      send.current = undefined
      const before = sent.current
      sent.current = text
      const body = JSON.parse(text) as ReturnType<typeof changeOf>
      sending.current = changeReview(id, body).then(
        () => {
          setFailures(0)
          void queryClient.invalidateQueries({ queryKey: reviewScorecardsOptions(id).queryKey })
        },
        (error: unknown) => {
          if (isLasting(error)) {
            latest.current?.(
              error,
              body.judgments.map(({ monitorId }) => monitorId),
            )
            return
          }
          sent.current = before
          setFailures((count) => count + 1)
        },
      )
    }
    timer.current = setTimeout(() => send.current?.(), failures === 0 ? rest : patience)
    return () => clearTimeout(timer.current)
  }, [id, text, isReady, failures])
  useEffect(
    () => () => {
      // This saves the last changes. The page is closed, so errors can't be shown.
      send.current?.()
      latest.current = undefined
    },
    [],
  )
  return {
    /** Whether the server couldn't be reached to save the last changes, which will be retried. */
    isBehind: failures > 0,
    /** Stops saving and waits for requests in progress. */
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
