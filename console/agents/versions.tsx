import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useList } from '../api/queries.ts'
import { CountLink } from '../filters/count-link.tsx'
import { Field, Select } from '../ui/controls.tsx'
import { Code } from '../ui/copy.tsx'
import { Difference } from '../ui/difference.tsx'
import { Section } from '../ui/page.tsx'
import { Empty, FaultNote, Loading } from '../ui/states.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import styles from './agents.module.css'
import { type AgentVersion, versionName, versionOptions, versionsOptions } from './queries.ts'

const columns: Column<AgentVersion>[] = [
  { key: 'name', label: 'Version', cell: versionName },
  { key: 'made', label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    key: 'conversations',
    label: 'Conversations',
    numeric: true,
    cell: (version) => <CountLink filter={{ agentVersionIds: [version.id] }} of={`version ${versionName(version)}`} />,
  },
]

const addingLines = (id: string) => `curl ${location.origin}/v1/agents/${id}/versions \\
  -H "Authorization: Bearer $EARSHOT_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{ "label": "spring", "systemPrompt": "You take bookings. Be brief." }'`

const configOf = ({ config }: AgentVersion) => JSON.stringify(config, null, 2)

/** Shows one version, or how it differs from another. */
const Saying = ({ before, after }: { before: AgentVersion | undefined; after: AgentVersion }) => {
  const hasConfig = Object.keys(after.config).length > 0 || Object.keys(before?.config ?? {}).length > 0
  if (!before) {
    return (
      <>
        <div>
          <h3>Prompt</h3>
          {after.systemPrompt ? <Code label="Copy prompt">{after.systemPrompt}</Code> : <p>Empty.</p>}
        </div>
        {hasConfig && (
          <div>
            <h3>Configuration</h3>
            <Code label="Copy configuration">{configOf(after)}</Code>
          </div>
        )}
      </>
    )
  }
  return (
    <>
      <div>
        <h3>Prompt</h3>
        {before.systemPrompt === after.systemPrompt ? (
          <p className={styles.soft}>The prompts are identical.</p>
        ) : (
          <Difference label="Prompt changes" before={before.systemPrompt} after={after.systemPrompt} />
        )}
      </div>
      {hasConfig && (
        <div>
          <h3>Configuration</h3>
          {configOf(before) === configOf(after) ? (
            <p className={styles.soft}>The configurations are identical.</p>
          ) : (
            <Difference label="Configuration changes" mono before={configOf(before)} after={configOf(after)} />
          )}
        </div>
      )}
    </>
  )
}

/** Loads the version in the URL separately if the list doesn't contain it yet. */
const useVersion = (agentId: string, versions: AgentVersion[], id: string | undefined) => {
  const listed = versions.find((version) => version.id === id)
  const { data } = useQuery({ ...versionOptions(agentId, id ?? ''), enabled: id !== undefined && !listed })
  return listed ?? data
}

const Compared = ({ agentId, versions }: { agentId: string; versions: AgentVersion[] }) => {
  const search = useSearch({ from: '/app/agents/$id' })
  const navigate = useNavigate({ from: '/agents/$id' })
  const after = useVersion(agentId, versions, search.to ?? versions[0]?.id)
  const earlier = versions.find(({ number }) => after !== undefined && number < after.number)
  const before = useVersion(agentId, versions, search.from === 'none' ? undefined : (search.from ?? earlier?.id))
  if (!after) return <Loading />
  const named = [before, after].filter((version) => version !== undefined)
  const known = [...versions, ...named.filter(({ id }) => !versions.some((version) => version.id === id))]
  const options = known.map((version) => ({ value: version.id, label: `Version ${versionName(version)}` }))
  return (
    <div className={styles.changes}>
      {known.length > 1 && (
        <div className={styles.between}>
          <Field label="From">
            {(ids) => (
              <Select
                {...ids}
                value={before?.id ?? 'none'}
                options={[{ value: 'none', label: 'None (show full version)' }, ...options]}
                onChange={({ target }) =>
                  void navigate({
                    search: (before) => ({ ...before, from: target.value, to: after.id }),
                    replace: true,
                    resetScroll: false,
                  })
                }
              />
            )}
          </Field>
          <Field label="To">
            {(ids) => (
              <Select
                {...ids}
                value={after.id}
                options={options}
                onChange={({ target }) =>
                  void navigate({
                    search: (before) => ({ ...before, to: target.value }),
                    replace: true,
                    resetScroll: false,
                  })
                }
              />
            )}
          </Field>
        </div>
      )}
      <Saying before={before} after={after} />
    </div>
  )
}

export const Versions = ({ agentId }: { agentId: string }) => {
  const { rows, error, isPending, isFetchingMore, more, retry } = useList(versionsOptions(agentId))
  return (
    <Section title="Versions" context="Earshot creates a version when a conversation arrives with a new prompt">
      {error && <FaultNote error={error} retry={retry} />}
      {isPending && <Loading />}
      {rows?.length === 0 && (
        <Empty title="No versions yet">
          <p>Send the prompt with a conversation (systemPrompt), or create a version:</p>
          <Code>{addingLines(agentId)}</Code>
        </Empty>
      )}
      {rows !== undefined && rows.length > 0 && (
        <div className={styles.compared}>
          <Table
            label="Versions"
            columns={columns}
            rows={rows}
            idOf={({ id }) => id}
            more={more}
            isFetchingMore={isFetchingMore}
          />
          <Compared agentId={agentId} versions={rows} />
        </div>
      )}
    </Section>
  )
}
