import { useEffect, useRef } from 'react'
import { type Answers, changeOf } from './answers.ts'
import { changeReview } from './queries.ts'

const rest = 500

/** Keeps what is written as it is written, so that nothing is lost when the page goes. */
export const useSaving = (
  id: string,
  answers: Answers,
  monitorIds: string[],
  isReady: boolean,
  onFault: (error: unknown, judged: string[]) => void,
) => {
  const sending = useRef<Promise<unknown>>(Promise.resolve())
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const told = useRef<string>(undefined)
  const latest = useRef(onFault)
  const change = changeOf(answers, monitorIds)
  const text = JSON.stringify(change)
  useEffect(() => {
    latest.current = onFault
  })
  useEffect(() => {
    if (!isReady) return
    told.current ??= text
    if (told.current === text) return
    timer.current = setTimeout(() => {
      told.current = text
      const body = JSON.parse(text) as typeof change
      sending.current = changeReview(id, body).catch((error: unknown) =>
        latest.current(
          error,
          body.judgments.map(({ monitorId }) => monitorId),
        ),
      )
    }, rest)
    return () => clearTimeout(timer.current)
  }, [id, text, isReady])
  return {
    /** Sends nothing more, and waits for what is on its way. */
    rest: async () => {
      clearTimeout(timer.current)
      await sending.current
    },
  }
}
