import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { Fault } from '../api/fault.ts'
import { useNames } from '../api/names.ts'
import { queryClient } from '../api/queries.ts'
import type { Bucket } from '../buckets/queries.ts'
import { inOrder } from '../conversations/results.tsx'
import { Button } from '../ui/button.tsx'
import { Key, useKeys } from '../ui/keys.tsx'
import { lazy } from '../ui/lazy.tsx'
import { FaultNote, Loading } from '../ui/states.tsx'
import { agrees, answersOf, answerTo, changeOf, describeAgreement, isEmpty, requiresNote } from './answers.ts'
import { Card } from './card.tsx'
import { issuesOf } from './issues.ts'
import { type Question, questionsOf } from './items.ts'
import styles from './judgment-form.module.css'
import { OverallRating } from './overall-rating.tsx'
import {
  changeReview,
  isLost,
  type Judged,
  type Result,
  type Review,
  reviewResultsOptions,
  reviewScorecardsOptions,
} from './queries.ts'
import { useResults } from './use-results.ts'
import { useSaving } from './use-saving.ts'

const ReviewTotals = lazy(async () => (await import('./scorecards.tsx')).ReviewTotals)

type JudgmentFormProps = {
  bucket: Bucket
  review: Review
  /** Called when the review is completed or skipped, with a message. */
  onDone: (said: string) => void
  /** Called when someone else has claimed the review, or when nobody can claim it. */
  onLost: (fault: Fault) => void
}

/** Returns the monitors to judge, and their results unless they are hidden. */
const useQuestions = (bucket: Bucket, { id, conversationId }: Review) => {
  const { found, isHidden, isReady, ...results } = useResults(bucket, conversationId)
  const [absent, setAbsent] = useState<string[]>([])
  const asked = bucket.monitorIds
  const isAsked = asked.length > 0
  const scorecards = useQuery({ ...reviewScorecardsOptions(id), enabled: isAsked })
  const withResult = asked.filter((one) => found.some(({ monitorId }) => monitorId === one))
  const questions: Question[] = isAsked
    ? questionsOf(isHidden ? asked : withResult, scorecards.data ?? [])
    : inOrder(found).map(({ monitorId }) => ({ monitorId }))
  return {
    questions,
    monitorIds: questions.map(({ monitorId }) => monitorId).filter((one) => !absent.includes(one)),
    isAsked,
    isReady: isReady && (!isAsked || scorecards.data !== undefined),
    error: results.error ?? (scorecards.data ? null : scorecards.error),
    retry: () => {
      results.retry()
      void scorecards.refetch()
    },
    found,
    isHidden,
    /** In a blind review, only the server knows which monitors have a result. */
    leaveOut: useCallback((ids: string[]) => setAbsent((before) => [...before, ...ids]), []),
  }
}

/** Shows the monitors to judge as a stack of cards. One is the current one. */
export const JudgmentForm = ({ bucket, review, onDone, onLost }: JudgmentFormProps) => {
  const { nameOf } = useNames('monitors')
  const { questions, monitorIds, isAsked, found, isHidden, isReady, error, retry, leaveOut } = useQuestions(
    bucket,
    review,
  )
  const [answers, setAnswers] = useState(() => answersOf(review))
  const [at, setAt] = useState(0)
  const [faults, setFaults] = useState<Record<string, string>>({})
  const [hint, setHint] = useState<string>()
  const [fault, setFault] = useState<unknown>()
  const [skipping, setSkipping] = useState(false)
  const [isCertain, setCertain] = useState(false)
  const [busy, setBusy] = useState(false)
  const note = useRef<HTMLTextAreaElement>(null)
  const stack = useRef<HTMLOListElement>(null)
  const last = monitorIds.length
  const focus = Math.min(at, last)
  const foundOf = (id: string): Result | undefined => found.find(({ monitorId }) => monitorId === id)
  const hasScorecards = questions.some(({ scorecardId }) => scorecardId !== undefined)
  const contextOf = (id: string): string | undefined => {
    const { scorecardId, section } = questions.find(({ monitorId }) => monitorId === id) ?? {}
    return scorecardId === undefined ? undefined : `${nameOf(scorecardId)}: ${section}`
  }

  const saving = useSaving(review.id, answers, monitorIds, isReady, (error, ids) => {
    if (isLost(error)) return onLost(error)
    const issues = issuesOf(error, ids)
    if (issues) leaveOut(issues.absent)
    else setFault(error)
  })

  const go = (to: number) => {
    setAt(Math.max(0, Math.min(last, to)))
    setSkipping(false)
  }
  const seen = useRef(focus)
  useEffect(() => {
    if (seen.current === focus) return
    seen.current = focus
    stack.current?.children[focus]?.scrollIntoView({ block: 'nearest' })
  }, [focus])

  const set = (id: string, part: { correctResult?: Judged; comment?: string }) => {
    setAnswers((before) => ({ ...before, judged: { ...before.judged, [id]: { ...answerTo(before, id), ...part } } }))
    setFaults(({ [id]: _, ...rest }) => rest)
    setHint(undefined)
  }
  const judge = (id: string, correctResult: Judged) => {
    set(id, { correctResult })
    const judged = { ...answers, judged: { ...answers.judged, [id]: { ...answerTo(answers, id), correctResult } } }
    if (!isHidden && requiresNote(bucket, judged, id, foundOf(id))) {
      setFaults((before) => ({ ...before, [id]: 'A note is required because you disagree with the monitor.' }))
      return
    }
    const open = monitorIds.findIndex((other) => other !== id && !answerTo(answers, other).correctResult)
    if (open >= 0) go(open)
  }

  const finish = async (status: 'completed' | 'skipped') => {
    if (busy) return
    const missing = isAsked ? monitorIds.findIndex((id) => !answerTo(answers, id).correctResult) : -1
    if (status === 'completed' && missing >= 0) {
      go(missing)
      setHint('Choose a result first.')
      return
    }
    if (status === 'completed' && !isAsked && !isCertain && isEmpty(changeOf(answers, monitorIds))) {
      setCertain(true)
      return
    }
    setBusy(true)
    setFault(undefined)
    const attempt = async (ids: string[], without: string[] = []): Promise<void> => {
      try {
        await saving.rest()
        await changeReview(review.id, { status, ...(status === 'completed' && changeOf(answers, ids)) })
      } catch (error) {
        const issues = issuesOf(error, ids)
        if (!issues) throw error
        const absent = [...without, ...issues.absent]
        const isLeft = (id: string) => !absent.includes(id)
        const [first] = Object.keys(issues.notes)
        if (first === undefined) {
          leaveOut(issues.absent)
          return attempt(ids.filter(isLeft), absent)
        }
        saving.goOn()
        // The note is rendered synchronously, because it can only receive the focus after it exists.
        flushSync(() => {
          leaveOut(issues.absent)
          setFaults(issues.notes)
          setAt(monitorIds.filter(isLeft).indexOf(first))
          setBusy(false)
        })
        note.current?.focus()
        return
      }
      onDone(status === 'skipped' ? 'Skipped.' : await said())
    }
    await attempt(changeOf(answers, monitorIds).judgments.map(({ monitorId }) => monitorId)).catch((error: unknown) => {
      if (isLost(error)) return onLost(error)
      setFault(error)
      // A scorecard may have been recomputed in the meantime, with different items to judge.
      void queryClient.invalidateQueries({ queryKey: reviewScorecardsOptions(review.id).queryKey })
      setBusy(false)
      saving.goOn()
    })
  }
  /** Handles an answer. After it, the monitors' results may become visible. */
  const said = async () => {
    const results = isHidden
      ? await queryClient.fetchQuery(reviewResultsOptions(review.conversationId)).catch(() => [])
      : found
    return describeAgreement(answers, results, nameOf)
  }

  const focused = monitorIds[focus]
  const rate = (rating: number | null) => setAnswers((before) => ({ ...before, rating }))
  const answerKeys: [string, Judged][] = [
    ['1', 'affected'],
    ['2', 'not_affected'],
    ['3', 'unsure'],
  ]
  useKeys({
    ...(focused !== undefined
      ? Object.fromEntries(
          answerKeys.map(([key, value]) => [
            key,
            {
              does: value === 'unsure' ? 'Unsure' : value === 'affected' ? 'Affected' : 'Not affected',
              run: () => judge(focused, value),
            },
          ]),
        )
      : Object.fromEntries(
          [1, 2, 3, 4, 5].map((value) => [String(value), { does: `Rate ${value} of 5`, run: () => rate(value) }]),
        )),
    j: { does: 'Next monitor', run: () => go(focus + 1) },
    k: { does: 'Previous monitor', run: () => go(focus - 1) },
    ArrowDown: { does: 'Next monitor', run: () => go(focus + 1) },
    ArrowUp: { does: 'Previous monitor', run: () => go(focus - 1) },
    n: { does: 'Write a note', run: () => note.current?.focus() },
    Enter: { does: 'Complete and claim next', run: () => void finish('completed') },
    'mod+Enter': { does: 'Complete from a note', run: () => void finish('completed'), always: true },
    s: { does: 'Skip (press twice)', run: () => (skipping ? void finish('skipped') : setSkipping(true)) },
    Escape: { does: 'Cancel skip', run: () => setSkipping(false) },
  })

  if (error) return <FaultNote error={error} retry={retry} />
  if (!isReady) return <Loading lines={6} />
  const leaveNote = () => note.current?.blur()
  return (
    <div className={styles.desk}>
      <ol ref={stack} className={styles.stack} aria-label="Judgments">
        {monitorIds.map((id, index) => (
          <Card
            key={id}
            monitorId={id}
            name={nameOf(id)}
            context={contextOf(id)}
            answer={answerTo(answers, id)}
            found={foundOf(id)}
            differs={agrees(answerTo(answers, id).correctResult, foundOf(id)) === false}
            focused={index === focus}
            fault={faults[id] ?? (index === focus ? hint : undefined)}
            noteRef={index === focus ? note : null}
            onFocus={() => go(index)}
            onAnswer={(value) => judge(id, value)}
            onComment={(comment) => set(id, { comment })}
            onLeaveNote={leaveNote}
          />
        ))}
        <OverallRating
          focused={focus === last}
          rating={answers.rating}
          notes={answers.notes}
          noteRef={focus === last ? note : null}
          onFocus={() => go(last)}
          onRating={rate}
          onNotes={(notes) => setAnswers((before) => ({ ...before, notes }))}
          onLeaveNote={leaveNote}
        />
      </ol>
      {hasScorecards && <ReviewTotals reviewId={review.id} />}
      {fault !== undefined && <FaultNote error={fault} />}
      {saving.isBehind && <p role="status">Your changes aren’t saved yet. Retrying…</p>}
      <div className={styles.ways}>
        {isCertain && !skipping && <p role="alert">You haven’t rated anything. Press Enter again to submit anyway.</p>}
        {skipping ? (
          <>
            <p role="alert">Another reviewer will get this conversation. You won’t see it again.</p>
            <Button busy={busy} onClick={() => void finish('skipped')}>
              Skip review <Key>s</Key>
            </Button>
            <Button look="quiet" onClick={() => setSkipping(false)}>
              Keep review <Key>esc</Key>
            </Button>
          </>
        ) : (
          <>
            <Button look="primary" busy={busy} onClick={() => void finish('completed')}>
              Complete and claim next
            </Button>
            <span>
              <Key>enter</Key>
            </span>
            <Button look="quiet" onClick={() => setSkipping(true)}>
              Skip <Key>s</Key>
            </Button>
          </>
        )}
      </div>
    </div>
  )
}
