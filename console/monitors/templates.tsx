import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { plural } from '../lib/format.ts'
import { announce } from '../ui/announce.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Field, Input, Select } from '../ui/controls.tsx'
import { Page, Section } from '../ui/page.tsx'
import { Await, Empty, FaultNote } from '../ui/states.tsx'
import { kindNames, readTemplatesSearch, type TemplatesSearch } from './search.ts'
import { startSmallBackfill } from './small-backfill.ts'
import { type Template, templatesOptions } from './template-queries.ts'
import styles from './templates.module.css'

type Variant = 'default' | 'any_language'
type Turn = { role: string; text?: string; kind?: string; tool?: { name: string } }

const roles: Record<string, string> = { agent: 'Agent', customer: 'Customer', human_agent: 'Person', tool: 'Tool' }

const sayTurn = ({ kind, text = '', tool }: Turn): string => {
  if (kind === 'tool_call') return `calls ${tool?.name}`
  if (kind === 'tool_result') return `${tool?.name} responds`
  return text
}

const Example = ({ title, conversation }: { title: string; conversation: Record<string, unknown> }) => (
  <div>
    <h4>{title}</h4>
    <ol className={styles.turns}>
      {(conversation.transcript as Turn[]).map((turn, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the turns of an example never change
        <li key={at}>
          <strong>{roles[turn.role] ?? turn.role}</strong> {sayTurn(turn)}
        </li>
      ))}
    </ol>
  </div>
)

const criteriaOf = ({ definition, anyLanguage }: Template, variant: Variant): string => {
  const { expression, criteria } = (variant === 'any_language' ? anyLanguage : definition) as Record<string, string>
  return expression ?? criteria ?? ''
}

const Install = ({ template, variant, label }: { template: Template; variant: Variant; label: string }) => {
  const navigate = useNavigate()
  const install = useMutation({
    mutationFn: async () => {
      const path = { key: template.key }
      const monitor = await answer(
        api.POST('/v1/monitor-templates/{key}/install', { params: { path }, body: { variant } }),
      )
      return { monitor, evaluated: await startSmallBackfill(monitor) }
    },
    onSuccess: async ({ monitor, evaluated }) => {
      await queryClient.invalidateQueries({ queryKey: ['monitors'] })
      const started = evaluated > 0 ? ` Evaluating ${plural(evaluated, 'stored conversation')}.` : ''
      announce(`“${monitor.name}” installed.${started}`)
      await navigate({ to: '/monitors/$id', params: { id: monitor.id }, search: evaluated > 0 ? { tab: 'runs' } : {} })
    },
  })
  return (
    <>
      <Button small busy={install.isPending} onClick={() => install.mutate()} aria-label={`${label}: ${template.name}`}>
        {label}
      </Button>
      {install.error && <FaultNote error={install.error} />}
    </>
  )
}

const Card = ({ template, mayWrite }: { template: Template; mayWrite: boolean }) => {
  const { key, name, description, kind, language, anyLanguage, examples } = template
  return (
    <li className={styles.card}>
      <h3>{name}</h3>
      <p className={styles.about}>
        <Badge>{kindNames[kind]}</Badge> {language === 'en' && <Badge>English</Badge>}
      </p>
      <p>{description}</p>
      <details>
        <summary>
          Definition and examples<span className={styles.hidden}> of {name}</span>
        </summary>
        <pre className={styles.code}>{criteriaOf(template, 'default')}</pre>
        {anyLanguage && (
          <>
            <h4>For any language, as a judge</h4>
            <p>{criteriaOf(template, 'any_language')}</p>
          </>
        )}
        <Example title="Affected" conversation={examples.affected} />
        <Example title="Not affected" conversation={examples.notAffected} />
      </details>
      {mayWrite && (
        <div className={styles.actions}>
          <Install template={template} variant="default" label="Install" />
          {anyLanguage && <Install template={template} variant="any_language" label="Install for any language" />}
          <ButtonLink
            look="quiet"
            to="/monitors/new"
            search={{ kind, template: key }}
            aria-label={`Customize: ${name}`}
          >
            Customize
          </ButtonLink>
        </div>
      )}
    </li>
  )
}

const isFound = ({ name, description, kind, language }: Template, { q = '', type, words }: TemplatesSearch): boolean =>
  `${name} ${description}`.toLowerCase().includes(q.trim().toLowerCase()) &&
  (type === undefined || kind === type) &&
  (words !== 'any' || language === 'any')

const Library = ({ templates, search }: { templates: Template[]; search: TemplatesSearch }) => {
  const mayWrite = useMay('member')
  const shown = templates.filter((template) => isFound(template, search))
  const names = [...new Set(shown.map(({ groupName }) => groupName))]
  if (shown.length === 0) {
    return (
      <Empty title="No template matches" action={<ButtonLink to="/monitors/new">Create monitor</ButtonLink>}>
        <p>Search for other words, or write your own monitor.</p>
      </Empty>
    )
  }
  return names.map((name) => (
    <Section key={name} title={name}>
      <ul className={styles.cards}>
        {shown
          .filter(({ groupName }) => groupName === name)
          .map((template) => (
            <Card key={template.key} template={template} mayWrite={mayWrite} />
          ))}
      </ul>
    </Section>
  ))
}

export const Templates = () => {
  const search = useSearch({ from: '/app/monitors/templates' })
  const navigate = useNavigate({ from: '/monitors/templates' })
  const change = (part: TemplatesSearch) =>
    void navigate({ search: readTemplatesSearch({ ...search, ...part }), replace: true })
  return (
    <Page
      title="Monitor templates"
      context="Common monitors, each with examples"
      above={<Link to="/monitors">Monitors</Link>}
    >
      <search className={styles.search}>
        <Field label="Search">
          {(ids) => (
            <Input
              {...ids}
              type="search"
              value={search.q ?? ''}
              onChange={({ target }) => change({ q: target.value })}
            />
          )}
        </Field>
        <Field label="Type">
          {(ids) => (
            <Select
              {...ids}
              value={search.type ?? ''}
              onChange={({ target }) => change({ type: target.value as NonNullable<TemplatesSearch['type']> })}
              options={[
                { value: '', label: 'Rules and judges' },
                { value: 'rule', label: 'Rules' },
                { value: 'judge', label: 'LLM judges' },
              ]}
            />
          )}
        </Field>
        <Field label="Language">
          {(ids) => (
            <Select
              {...ids}
              value={search.words ?? ''}
              onChange={({ target }) => change({ words: target.value as 'any' })}
              options={[
                { value: '', label: 'English, or any language' },
                { value: 'any', label: 'Any language' },
              ]}
            />
          )}
        </Field>
      </search>
      <Await query={useQuery(templatesOptions)} lines={12}>
        {({ data }) => <Library templates={data} search={search} />}
      </Await>
    </Page>
  )
}
