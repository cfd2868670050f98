import { Link, useSearch } from '@tanstack/react-router'
import { useNames } from '../api/names.ts'
import { useList } from '../api/queries.ts'
import { formatCount, plural } from '../lib/format.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Confusion } from '../ui/charts/confusion.tsx'
import { Estimate } from '../ui/estimate.tsx'
import { Kappa } from '../ui/kappa.tsx'
import { Prose } from '../ui/page.tsx'
import { Empty, FaultNote, Loading } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import styles from './agreement.module.css'
import { type Agreement, agreementOptions, type Monitor } from './queries.ts'

type Share = { value: number; low: number | null; high: number | null } | null

const OfShare = ({ share, n }: { share: Share; n: number }) =>
  share ? (
    <Estimate rate={share.value} low={share.low} high={share.high} n={n} />
  ) : (
    <span className={styles.soft}>–</span>
  )

const comparedOf = ({ matrix }: Agreement) => Object.values(matrix).reduce((sum, count) => sum + count, 0)

const LeftOut = ({ unsure, unscored, failed, missing }: Agreement) => {
  const excluded = [
    unsure > 0 && plural(unsure, 'unsure judgment'),
    unscored > 0 && `${formatCount(unscored)} unscored`,
    failed > 0 && `${formatCount(failed)} failed`,
    missing > 0 && `${formatCount(missing)} without a result`,
  ].filter(Boolean)
  return excluded.length > 0 ? excluded.join(', ') : <span className={styles.soft}>none</span>
}

const columns: Column<Agreement>[] = [
  { key: 'version', label: 'Version', cell: ({ version }) => version },
  {
    key: 'precision',
    label: 'Precision',
    cell: (row) => <OfShare share={row.precision} n={row.matrix.truePositives + row.matrix.falsePositives} />,
  },
  {
    key: 'recall',
    label: 'Recall',
    cell: (row) => <OfShare share={row.recall} n={row.matrix.truePositives + row.matrix.falseNegatives} />,
  },
  {
    key: 'agreement',
    label: 'Accuracy',
    from: 720,
    cell: (row) => <OfShare share={row.agreement} n={comparedOf(row)} />,
  },
  { key: 'kappa', label: 'κ', cell: (row) => <Kappa of={row.kappa} n={comparedOf(row)} /> },
  { key: 'left', label: 'Excluded', from: 960, cell: (row) => <LeftOut {...row} /> },
]

/** Shows how well people agree. If they disagree, the question is unclear, so the monitor can't be blamed yet. */
const BetweenPeople = ({ betweenPeople }: Agreement) => {
  const { nameOf } = useNames('members')
  const { conversations, pairs, fleissKappa, krippendorffsAlpha } = betweenPeople
  if (conversations === 0) return null
  return (
    <div className={styles.people}>
      <h3>Agreement between reviewers</h3>
      <p className={styles.soft}>
        Based on {plural(conversations, 'conversation')} judged by at least two reviewers. If reviewers agree with each
        other no more than they agree with the monitor, clarify the question before you change the monitor.
      </p>
      <dl className={styles.figures}>
        {krippendorffsAlpha && (
          <div>
            <dt>Krippendorff’s α</dt>
            <dd>
              <Kappa of={krippendorffsAlpha} n={krippendorffsAlpha.conversations} />
            </dd>
          </div>
        )}
        {fleissKappa && (
          <div>
            <dt>Fleiss’ κ ({fleissKappa.people} reviewers each)</dt>
            <dd>
              <Kappa of={fleissKappa} n={fleissKappa.conversations} />
            </dd>
          </div>
        )}
        {pairs.slice(0, 6).map((pair) => (
          <div key={pair.reviewerUserIds.join(' ')}>
            <dt>Cohen’s κ: {pair.reviewerUserIds.map(nameOf).join(' and ')}</dt>
            <dd>
              <Kappa of={pair.kappa} n={pair.conversations} />
            </dd>
          </div>
        ))}
      </dl>
    </div>
  )
}

const Reviewed = ({ id }: { id: string }) => (
  <p className={styles.soft}>
    View the reviewed conversations with the result{' '}
    <Link
      to="/conversations"
      search={{ filter: { reviewStatus: 'completed', monitors: [{ id, result: 'affected' }] } }}
    >
      affected
    </Link>{' '}
    or{' '}
    <Link
      to="/conversations"
      search={{ filter: { reviewStatus: 'completed', monitors: [{ id, result: 'not_affected' }] } }}
    >
      not affected
    </Link>
    .
  </p>
)

export const AgreementPart = ({ monitor: { id, name } }: { monitor: Monitor }) => {
  const { version } = useSearch({ from: '/app/monitors/$id' })
  const list = useList(agreementOptions(id))
  const { rows = [] } = list
  const shown = rows.find((row) => (version === undefined ? comparedOf(row) > 0 : row.version === version))
  if (list.isPending) return <Loading lines={6} />
  if (list.error) return <FaultNote error={list.error} retry={list.retry} />
  if (rows.length === 0) {
    return (
      <Empty title="No judgments yet" action={<ButtonLink to="/buckets">Add conversations to a bucket</ButtonLink>}>
        <p>
          When people judge “{name}” in reviews, each version’s precision, recall, and κ appear here. Reviews from a
          randomly sampled bucket also correct the monitor’s rate.
        </p>
      </Empty>
    )
  }
  return (
    <div className={styles.part}>
      <Table
        label="Agreement by version"
        columns={columns}
        rows={rows}
        idOf={({ version: number }) => String(number)}
        more={list.more}
        isFetchingMore={list.isFetchingMore}
      />
      <Prose>
        <p className={styles.soft}>
          Precision: the share of the monitor’s affected results that reviewers confirm. Recall: the share of
          conversations reviewers call affected that the monitor finds. κ: agreement corrected for chance, from 0
          (chance) to 1 (perfect). Each has a 95% confidence interval.
        </p>
      </Prose>
      {shown && (
        <div className={styles.both}>
          <div>
            <Confusion title={`Version ${shown.version} compared with reviewers`} matrix={shown.matrix} />
            <Reviewed id={id} />
          </div>
          <BetweenPeople {...shown} />
        </div>
      )}
    </div>
  )
}
