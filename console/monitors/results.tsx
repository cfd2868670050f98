import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { formatMoney, formatNumber } from '../lib/format.ts'
import { OutcomeBadge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Choice } from '../ui/controls.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Empty, FaultNote, Loading } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { type Monitor, reviewResultsOptions, useNewest } from './queries.ts'
import styles from './results.module.css'
import { foundKinds, type ResultFilter } from './search.ts'

const words: Record<ResultFilter, string> = {
  affected: 'Affected',
  not_affected: 'Not affected',
  unscored: 'Unscored',
  failed: 'Failed',
}

type Result = Schemas['MonitorResult']

/** Links a quote to its turn. */
const Quote = ({ id, turn, quote }: { id: string; turn: number; quote: string }) => (
  <Link to="/conversations/$id" params={{ id }} search={{ turn }}>
    “{quote}”
  </Link>
)

/** Shows a result's evidence. The evidence for fields is shown with their values. */
const Quotes = ({ result: { conversationId, evidence, fields } }: { result: Result }) => {
  const own = evidence.filter(({ field }) => field === undefined || !fields || !(field in fields))
  return (
    own.length > 0 && (
      <ul className={styles.quotes}>
        {own.map(({ turn, quote }) => (
          <li key={`${turn} ${quote}`}>
            <Quote id={conversationId} turn={turn} quote={quote} />
          </li>
        ))}
      </ul>
    )
  )
}

const ScorecardBreakdown = lazy(async () => (await import('./scorecards/breakdown.tsx')).ScorecardBreakdown)
const OutputValues = lazy(async () => (await import('./output-values.tsx')).OutputValues)

/** Shows a conversation's start and agent, if known. */
const Conversation = ({ id, of }: { id: string; of: ReturnType<ReturnType<typeof useNewest>> }) => {
  const { nameOf } = useNames('agents')
  return (
    <Link className={styles.conversation} to="/conversations/$id" params={{ id }} search={{}}>
      {of ? (
        <>
          <Time at={of.startedAt} /> · {nameOf(of.agentId)}
        </>
      ) : (
        <code>{id}</code>
      )}
    </Link>
  )
}

export const Results = ({ monitor: { id, kind } }: { monitor: Monitor }) => {
  const { result = 'affected', version } = useSearch({ from: '/app/monitors/$id' })
  const navigate = useNavigate({ from: '/monitors/$id' })
  const list = useList(reviewResultsOptions(id, result, version))
  const newest = useNewest(result === 'failed' ? {} : { monitors: [{ id, result }] }, 100)
  return (
    <div className={styles.found}>
      <Choice
        label="Result"
        hideLabel
        value={result}
        options={foundKinds.map((value) => ({ value, label: words[value] }))}
        onChange={(next) =>
          void navigate({
            search: (search) => ({ ...search, result: next as ResultFilter }),
            replace: true,
            resetScroll: false,
          })
        }
      />
      {list.error && <FaultNote error={list.error} retry={list.retry} />}
      {list.isPending && <Loading lines={6} />}
      {list.rows?.length === 0 && (
        <Empty title={`No ${words[result].toLowerCase()} results`}>
          <p>
            {kind === 'external'
              ? 'Results appear here when you post them.'
              : 'The monitor evaluates each conversation when it ends. Start a backfill to evaluate stored conversations.'}
          </p>
        </Empty>
      )}
      <ol className={styles.results} aria-label={`${words[result]} results, latest conversations first`}>
        {list.rows?.map((row) => (
          <li key={`${row.conversationId} ${row.monitorVersion}`}>
            <div className={styles.line}>
              <Conversation id={row.conversationId} of={newest(row.conversationId)} />
              {row.result !== result && <OutcomeBadge {...row} />}
              {row.score !== null && <span className={styles.soft}>score {formatNumber(row.score)}</span>}
              <span className={styles.soft}>version {row.monitorVersion}</span>
              {row.cost !== null && <span className={styles.soft}>{formatMoney(row.cost)}</span>}
            </div>
            {row.breakdown && (
              <ScorecardBreakdown
                breakdown={row.breakdown}
                quote={({ turn, quote }) => <Quote id={row.conversationId} turn={turn} quote={quote} />}
              />
            )}
            {(row.categories || row.fields) && (
              <OutputValues
                {...row}
                quote={({ turn, quote }) => (
                  <span className={styles.quotes}>
                    <Quote id={row.conversationId} turn={turn} quote={quote} />
                  </span>
                )}
              />
            )}
            {row.reasoning && <p>{row.reasoning}</p>}
            <Quotes result={row} />
          </li>
        ))}
      </ol>
      {list.more && (
        <div>
          <Button small busy={list.isFetchingMore} onClick={list.more}>
            Show more
          </Button>
        </div>
      )}
    </div>
  )
}
