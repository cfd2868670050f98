import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useList } from '../../api/queries.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { lazy } from '../../ui/lazy.tsx'
import { ListTable } from '../../ui/list-table.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { Await, Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import styles from '../settings.module.css'
import { providerKinds } from './kinds.ts'
import { ProviderView } from './provider.tsx'
import { instanceOptions, type Provider, providersOptions } from './queries.ts'
import { ProviderState } from './state.tsx'

const ProviderDialog = lazy(async () => (await import('./provider-dialog.tsx')).ProviderDialog)

const columns: Column<Provider>[] = [
  {
    key: 'name',
    label: 'Provider',
    cell: ({ id, name, isDefault }) => (
      <>
        <Link to="/settings/$part" params={{ part: 'models' }} search={{ open: id }}>
          {name}
        </Link>{' '}
        {isDefault && <Badge tone="accent">Default</Badge>}
      </>
    ),
  },
  { key: 'kind', label: 'Type', from: 720, cell: ({ kind }) => providerKinds[kind].name },
  {
    key: 'model',
    label: 'Default model',
    from: 480,
    cell: ({ settings: { model } }) => (typeof model === 'string' ? <code>{model}</code> : 'Not chosen'),
  },
  { key: 'state', label: 'Status', cell: (provider) => <ProviderState {...provider} /> },
]

/** Shows the endpoint that the operator configured. It can't be changed here. */
const Instance = () => {
  const query = useQuery(instanceOptions)
  return (
    <Section title="Operator’s endpoint" context="Set with EARSHOT_JUDGE_… variables">
      <Await query={query} lines={2}>
        {({ kind, model, isConfigured, isDefault }) =>
          isConfigured ? (
            <Facts
              facts={[
                ['Type', providerKinds[kind].name],
                ['Model', <code key="model">{model}</code>],
                ['Default', isDefault ? 'Used by judges that don’t choose a model' : 'No'],
              ]}
            />
          ) : (
            <p className={styles.soft}>The operator has not configured a model.</p>
          )
        }
      </Await>
    </Section>
  )
}

const List = () => {
  const [adding, setAdding] = useState(false)
  const navigate = useNavigate()
  const list = useList(providersOptions)
  const add = (
    <Button look="primary" onClick={() => setAdding(true)}>
      Add provider
    </Button>
  )
  return (
    <>
      <Section title="Models" context="Language models for LLM judges" actions={list.rows?.length !== 0 && add}>
        <ListTable
          list={list}
          label="Model providers"
          columns={columns}
          empty={
            <Empty title="No model providers yet" action={add}>
              <p>
                LLM judges use a language model. Connect OpenAI, Anthropic, Google, Azure, AWS Bedrock, Ollama, or any
                OpenAI-compatible server. Keys are stored encrypted.
              </p>
            </Empty>
          }
        />
        {adding && (
          <ProviderDialog
            onClose={() => setAdding(false)}
            onSaved={(id) => void navigate({ to: '/settings/$part', params: { part: 'models' }, search: { open: id } })}
          />
        )}
      </Section>
      <Instance />
    </>
  )
}

export const Models = () => {
  const { open } = useSearch({ from: '/app/settings/$part' })
  return open ? <ProviderView key={open} id={open} /> : <List />
}
