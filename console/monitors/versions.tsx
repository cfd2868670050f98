import { useNavigate, useSearch } from '@tanstack/react-router'
import { useList } from '../api/queries.ts'
import { Button } from '../ui/button.tsx'
import { Field, Row, Select } from '../ui/controls.tsx'
import { Code } from '../ui/copy.tsx'
import { Difference } from '../ui/difference.tsx'
import { FaultNote, Loading } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { textOf } from './definition-text.ts'
import { type Monitor, versionsOptions } from './queries.ts'
import styles from './versions.module.css'

type Version = Monitor['currentVersion']

const Comparison = ({ monitor, versions }: { monitor: Monitor; versions: Version[] }) => {
  const search = useSearch({ from: '/app/monitors/$id' })
  const navigate = useNavigate({ from: '/monitors/$id' })
  const to = versions.find(({ number }) => number === search.to) ?? versions[0]
  const from = versions.find(({ number }) => number === search.from) ?? versions[1]
  if (!from || !to) return null
  const options = versions.map(({ number }) => ({ value: String(number), label: `Version ${number}` }))
  const set = (name: 'from' | 'to', number: string) =>
    void navigate({
      search: (before) => ({ ...before, [name]: Number(number) }),
      replace: true,
      resetScroll: false,
    })
  return (
    <>
      <div className={styles.choices}>
        <Row>
          <Field label="From">
            {(ids) => (
              <Select
                {...ids}
                options={options}
                value={String(from.number)}
                onChange={({ target }) => set('from', target.value)}
              />
            )}
          </Field>
          <Field label="To">
            {(ids) => (
              <Select
                {...ids}
                options={options}
                value={String(to.number)}
                onChange={({ target }) => set('to', target.value)}
              />
            )}
          </Field>
        </Row>
      </div>
      <Difference
        label={`Changes from version ${from.number} to version ${to.number}`}
        before={textOf(monitor.kind, from.definition)}
        after={textOf(monitor.kind, to.definition)}
        mono={monitor.kind === 'rule'}
      />
    </>
  )
}

export const VersionsPart = ({ monitor }: { monitor: Monitor }) => {
  const navigate = useNavigate({ from: '/monitors/$id' })
  const list = useList(versionsOptions(monitor.id))
  const { rows } = list
  const columns: Column<Version>[] = [
    { key: 'number', label: 'Version', width: '96px', cell: ({ number }) => number },
    { key: 'since', label: 'Current since', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { key: 'note', label: 'Note', from: 720, cell: ({ note }) => note },
    {
      key: 'compare',
      label: '',
      cell: ({ number }) =>
        number > 1 && (
          <Button
            small
            look="quiet"
            onClick={() =>
              void navigate({
                search: (before) => ({ ...before, from: number - 1, to: number }),
                replace: true,
                resetScroll: false,
              })
            }
          >
            Compare with version {number - 1}
          </Button>
        ),
    },
  ]
  if (list.error) return <FaultNote error={list.error} retry={list.retry} />
  if (!rows) return <Loading lines={4} />
  const [only] = rows
  return (
    <div className={styles.part}>
      {rows.length === 1 && only ? (
        <>
          <p className={styles.soft}>
            Version 1, since <Time at={only.createdAt} />. When you change the definition, Earshot creates a new version
            and keeps the results of both.
          </p>
          {monitor.kind !== 'external' && <Code label="Copy definition">{textOf(monitor.kind, only.definition)}</Code>}
        </>
      ) : (
        <>
          <Comparison monitor={monitor} versions={rows} />
          <Table
            label="Versions"
            columns={columns}
            rows={rows}
            idOf={({ number }) => String(number)}
            more={list.more}
            isFetchingMore={list.isFetchingMore}
          />
        </>
      )}
    </div>
  )
}
