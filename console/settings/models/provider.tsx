import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { answer, api } from '../../api/client.ts'
import { useList } from '../../api/queries.ts'
import { formatCount } from '../../lib/format.ts'
import { announce } from '../../ui/announce.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { lazy } from '../../ui/lazy.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { Await, FaultNote } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import styles from '../settings.module.css'
import { shownSettings } from './draft.ts'
import { providerKinds } from './kinds.ts'
import { OfferedModels } from './offered-models.tsx'
import { PriceText } from './price-text.tsx'
import {
  changeProvider,
  type Provider,
  type ProviderChange,
  providerOptions,
  providersOptions,
  refreshProviders,
} from './queries.ts'
import { ProviderState } from './state.tsx'

const ProviderDialog = lazy(async () => (await import('./provider-dialog.tsx')).ProviderDialog)
const LimitsDialog = lazy(async () => (await import('./limits-dialog.tsx')).LimitsDialog)
const FallbacksDialog = lazy(async () => (await import('./fallbacks-dialog.tsx')).FallbacksDialog)

type OpenDialog = 'edit' | 'limits' | 'fallbacks' | 'delete'

/** Sends a test, and shows its result. */
const Test = ({ id }: { id: string }) => {
  const test = useMutation({
    mutationFn: () => answer(api.POST('/v1/model-providers/{id}/test', { params: { path: { id } }, body: {} })),
    onSuccess: refreshProviders,
  })
  const { data, error, isPending } = test
  return (
    <>
      <div className={styles.ways}>
        <Button look="primary" busy={isPending} onClick={() => test.mutate()}>
          Test
        </Button>
      </div>
      <div role="status">
        {data && (
          <p className={data.ok ? styles.success : styles.warning}>
            {data.ok ? 'Connected. ' : ''}
            {data.message}
          </p>
        )}
      </div>
      {error && <FaultNote error={error} />}
    </>
  )
}

const Ways = ({ provider, onOpen }: { provider: Provider; onOpen: (dialog: OpenDialog) => void }) => {
  const { id, status, isDefault } = provider
  const act = useMutation({ mutationFn: (change: ProviderChange) => changeProvider(id, change) })
  return (
    <>
      <div className={styles.ways}>
        <Button onClick={() => onOpen('edit')}>Edit</Button>
        <Button busy={act.isPending} onClick={() => act.mutate({ isDefault: !isDefault })}>
          {isDefault ? 'Don’t use as default' : 'Make default'}
        </Button>
        <Button
          look="quiet"
          busy={act.isPending}
          onClick={() => act.mutate({ status: status === 'active' ? 'disabled' : 'active' })}
        >
          {status === 'active' ? 'Disable' : 'Enable'}
        </Button>
        <Button look="quiet" onClick={() => onOpen('delete')}>
          Delete
        </Button>
      </div>
      {act.error && <FaultNote error={act.error} />}
    </>
  )
}

const factsOf = (provider: Provider): [string, ReactNode][] => {
  const { kind, settings, isDefault, modelPrice, failingSince, lastFault } = provider
  const { model } = settings
  return [
    ['Status', <ProviderState key="state" {...provider} />],
    ['Type', providerKinds[kind].name],
    ['Default', isDefault ? 'Used by judges that don’t choose a model' : 'No'],
    ...shownSettings(provider).map(([label, value]): [string, ReactNode] => [label, <code key={label}>{value}</code>]),
    ['Default model', typeof model === 'string' ? <code key="model">{model}</code> : 'Not chosen'],
    ['Price per million tokens', <PriceText key="price" price={modelPrice} />],
    ...(failingSince
      ? ([
          ['Failing since', <Time key="since" at={failingSince} />],
          ['Reason', lastFault],
        ] as [string, ReactNode][])
      : []),
  ]
}

const limitFacts = ({ limits }: Provider): [string, ReactNode][] => {
  const { concurrency, requestsPerMinute, tokensPerMinute, contextTokens, timeoutSeconds } = limits
  const orNone = (limit: number | null) => (limit === null ? 'No limit' : formatCount(limit))
  return [
    ['Concurrent requests', formatCount(concurrency)],
    ['Requests per minute', orNone(requestsPerMinute)],
    ['Tokens per minute', orNone(tokensPerMinute)],
    ['Context', `${formatCount(contextTokens)} tokens`],
    ['Timeout', `${formatCount(timeoutSeconds)} s`],
  ]
}

const Fallbacks = ({ ids }: { ids: string[] }) => {
  const { rows = [] } = useList(providersOptions)
  const names = ids.map((id) => rows.find((row) => row.id === id)?.name ?? id.slice(0, 8))
  return (
    <p>{names.length === 0 ? 'If this provider fails, its evaluations are retried later.' : names.join(', then ')}</p>
  )
}

const Loaded = ({ provider }: { provider: Provider }) => {
  const { id, name, fallbackProviderIds } = provider
  const navigate = useNavigate()
  const [dialog, setDialog] = useState<OpenDialog>()
  const close = () => setDialog(undefined)
  return (
    <>
      <Section title={name}>
        <div className={styles.stack}>
          <Facts facts={factsOf(provider)} />
          <Test id={id} />
          <Ways provider={provider} onOpen={setDialog} />
        </div>
      </Section>
      <Section
        title="Limits"
        actions={
          <Button small onClick={() => setDialog('limits')}>
            Edit limits
          </Button>
        }
      >
        <Facts facts={limitFacts(provider)} />
      </Section>
      <Section
        title="Fallbacks"
        actions={
          <Button small onClick={() => setDialog('fallbacks')}>
            Edit fallbacks
          </Button>
        }
      >
        <Fallbacks ids={fallbackProviderIds} />
      </Section>
      <OfferedModels provider={provider} />
      {dialog === 'edit' && <ProviderDialog provider={provider} onClose={close} />}
      {dialog === 'limits' && <LimitsDialog provider={provider} onClose={close} />}
      {dialog === 'fallbacks' && <FallbacksDialog provider={provider} onClose={close} />}
      <Confirm
        title={`Delete “${name}”?`}
        action="Delete provider"
        open={dialog === 'delete'}
        onClose={close}
        run={async () => {
          await api.DELETE('/v1/model-providers/{id}', { params: { path: { id } } })
          announce(`“${name}” deleted`)
          await navigate({ to: '/settings/$part', params: { part: 'models' } })
          await refreshProviders()
        }}
      >
        This deletes its key, limits, and prices. Results keep their costs.
      </Confirm>
    </>
  )
}

export const ProviderView = ({ id }: { id: string }) => {
  const query = useQuery(providerOptions(id))
  return (
    <>
      <Link to="/settings/$part" params={{ part: 'models' }}>
        Models
      </Link>
      <Await query={query}>{(provider) => <Loaded provider={provider} />}</Await>
    </>
  )
}
