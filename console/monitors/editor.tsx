import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { useForm } from 'react-hook-form'
import { answer, api } from '../api/client.ts'
import { isNotFound } from '../api/fault.ts'
import { queryClient } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { NotFound } from '../layout/not-found.tsx'
import { plural } from '../lib/format.ts'
import { announce } from '../ui/announce.tsx'
import { ButtonLink } from '../ui/button.tsx'
import { Choice } from '../ui/controls.tsx'
import { Form, TextField } from '../ui/form.tsx'
import { lazy } from '../ui/lazy.tsx'
import { LeaveGuard } from '../ui/leave-guard.tsx'
import { Page } from '../ui/page.tsx'
import { Await, Empty } from '../ui/states.tsx'
import { DefinitionFields, ScopeFields } from './definition-fields.tsx'
import { type Draft, definitionOf, draftOf, fieldOf } from './draft.ts'
import styles from './editor.module.css'
import { type Monitor, monitorOptions, type Scope } from './queries.ts'
import { type Kind, kindNames } from './search.ts'
import { startSmallBackfill } from './small-backfill.ts'
import { type Template, templatesOptions } from './template-queries.ts'
import { HowToPost, TrialPane } from './trial-pane.tsx'
import { type TrialExamples, useTrial } from './use-trial.ts'

const DraftStart = lazy(async () => (await import('../topics/draft-start.tsx')).DraftStart)
const PointsPane = lazy(async () => (await import('./scorecards/scorecard-fields.tsx')).PointsPane)

const kinds: { value: Kind; label: string }[] = [
  { value: 'rule', label: kindNames.rule },
  { value: 'judge', label: kindNames.judge },
  { value: 'external', label: kindNames.external },
  { value: 'scorecard', label: kindNames.scorecard },
]

const teaching: Record<Kind, string> = {
  rule: 'An expression over a conversation’s data. Rules are free and always give the same answer.',
  judge: 'A language model reads the transcript, explains its answer, and quotes evidence that Earshot verifies.',
  external: 'Your own code posts the results. Earshot stores, charts, and shows them.',
  scorecard: 'The points of other monitors add up to a score from 0 to 100. Scorecards are free.',
}

type EditorProps = {
  monitor?: Monitor
  start?: Pick<Template, 'name' | 'description' | 'definition'>
  /** Conversations to test a new monitor on, instead of the latest ones. */
  examples?: TrialExamples
  kind: Kind
  onKind?: (kind: Kind) => void
}

const submitLabel = (monitor: Monitor | undefined, makesVersion: boolean): string => {
  if (!monitor) return 'Create monitor'
  return makesVersion ? `Save as version ${monitor.currentVersion.number + 1}` : 'Save changes'
}

const Editor = ({ monitor, start, examples, kind, onKind }: EditorProps) => {
  const navigate = useNavigate()
  const form = useForm<Draft>({ defaultValues: draftOf(monitor, start) })
  const [scope, setScope] = useState<Scope>(monitor?.scope ?? {})
  const isSaved = useRef(false)
  // react-hook-form only tracks state that is read during rendering.
  const { isDirty } = form.formState
  const draft = form.watch()
  const definition = definitionOf(kind, draft)
  const trial = useTrial({ kind, definition, scope, monitor, examples })
  const makesVersion =
    monitor !== undefined && JSON.stringify(definition) !== JSON.stringify(definitionOf(kind, draftOf(monitor)))
  const send = async (values: Draft) => {
    const body = {
      name: values.name,
      description: values.description.trim() || null,
      scope,
      samplePercent: Number(values.samplePercent),
    }
    const changed = definitionOf(kind, values)
    const saved = await answer(
      monitor
        ? api.PATCH('/v1/monitors/{id}', {
            params: { path: { id: monitor.id } },
            // The form may write the same definition in a different way.
            body: { ...body, ...(makesVersion && { definition: changed }) },
          })
        : api.POST('/v1/monitors', { body: { ...body, kind, definition: changed } }),
    )
    isSaved.current = true
    await queryClient.invalidateQueries({ queryKey: ['monitors'] })
    // A new definition has no results yet.
    const asksStored = kind !== 'external' && (makesVersion || !monitor)
    const evaluated = asksStored ? await startSmallBackfill(saved) : 0
    const version = makesVersion ? ` as version ${saved.currentVersion.number}` : ''
    const started = evaluated > 0 ? `. Evaluating ${plural(evaluated, 'stored conversation')}.` : ''
    announce(`“${saved.name}” saved${version}${started}`)
    await navigate({ to: '/monitors/$id', params: { id: saved.id }, search: asksStored ? { tab: 'runs' } : {} })
  }
  return (
    <div className={styles.editor}>
      <div className={styles.definition}>
        <Form
          form={form}
          send={send}
          submit={submitLabel(monitor, makesVersion)}
          fieldOf={fieldOf(kind)}
          beside={
            monitor ? (
              <ButtonLink to="/monitors/$id" params={{ id: monitor.id }}>
                Cancel
              </ButtonLink>
            ) : (
              <ButtonLink to="/monitors">Cancel</ButtonLink>
            )
          }
        >
          {onKind && (
            <div>
              <Choice
                label="Type"
                value={kind}
                options={kinds}
                onChange={(next) => {
                  const chosen = kinds.find(({ value }) => value === next)
                  if (chosen) onKind(chosen.value)
                }}
              />
              <p className={styles.teaching}>{teaching[kind]}</p>
            </div>
          )}
          <TextField name="name" label="Name" required maxLength={255} placeholder="Refund promised" />
          <TextField name="description" label="Description (optional)" maxLength={2000} />
          <DefinitionFields kind={kind} problems={trial.problems} />
          {kind !== 'external' && <ScopeFields scope={scope} onChange={setScope} />}
        </Form>
      </div>
      <div className={styles.trial}>
        {kind === 'external' && <HowToPost id={monitor?.id} />}
        {kind === 'scorecard' && <PointsPane scorecard={draft.scorecard} />}
        {(kind === 'rule' || kind === 'judge') && (
          <TrialPane kind={kind} monitor={monitor} examples={examples} trial={trial} />
        )}
      </div>
      <LeaveGuard
        isDirty={() => !isSaved.current && (isDirty || JSON.stringify(scope) !== JSON.stringify(monitor?.scope ?? {}))}
      />
    </div>
  )
}

const NotAllowed = () => (
  <Empty title="You can’t edit monitors" action={<ButtonLink to="/monitors">View monitors</ButtonLink>}>
    <p>Viewers can only read monitors. Ask an admin of your organization to make you a member.</p>
  </Empty>
)

type NewProps = { kind: Kind; onKind: (kind: Kind) => void }

const FromTemplate = ({ template, ...rest }: NewProps & { template: string }) => (
  <Await query={useQuery(templatesOptions)} lines={8}>
    {({ data }) => {
      const start = data.find(({ key }) => key === template)
      return <Editor {...rest} {...(start && { start })} />
    }}
  </Await>
)

export const NewMonitor = () => {
  const { kind = 'rule', template, topic } = useSearch({ from: '/app/monitors/new' })
  const navigate = useNavigate({ from: '/monitors/new' })
  const onKind = (next: Kind) => void navigate({ search: (search) => ({ ...search, kind: next }), replace: true })
  const mayWrite = useMay('member')
  return (
    <Page
      title="New monitor"
      above={<Link to="/monitors">Monitors</Link>}
      actions={mayWrite && <ButtonLink to="/monitors/templates">Start from a template</ButtonLink>}
    >
      {!mayWrite && <NotAllowed />}
      {mayWrite && template === undefined && topic === undefined && <Editor kind={kind} onKind={onKind} />}
      {mayWrite && topic !== undefined && (
        <DraftStart id={topic}>
          {({ examples, ...start }) => <Editor start={start} examples={examples} kind={kind} onKind={onKind} />}
        </DraftStart>
      )}
      {mayWrite && template !== undefined && topic === undefined && (
        <FromTemplate template={template} kind={kind} onKind={onKind} />
      )}
    </Page>
  )
}

export const EditMonitor = () => {
  const { id } = useParams({ from: '/app/monitors/$id/edit' })
  // Refetching must not change the form while someone edits it.
  const query = useQuery({ ...monitorOptions(id), refetchOnWindowFocus: false })
  const mayWrite = useMay('member')
  if (isNotFound(query.error)) return <NotFound />
  return (
    <Page
      title={query.data ? `Edit “${query.data.name}”` : 'Edit monitor'}
      above={
        <Link to="/monitors/$id" params={{ id }}>
          {query.data?.name ?? 'Monitor'}
        </Link>
      }
    >
      {mayWrite ? (
        <Await query={query} lines={8}>
          {(monitor) => <Editor key={monitor.currentVersion.number} monitor={monitor} kind={monitor.kind} />}
        </Await>
      ) : (
        <NotAllowed />
      )}
    </Page>
  )
}
