import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { likeThis } from '../conversations/search.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Field, Input } from '../ui/controls.tsx'
import { lazy } from '../ui/lazy.tsx'
import { LeaveGuard } from '../ui/leave-guard.tsx'
import { Section } from '../ui/page.tsx'
import { RenderLater } from '../ui/render-later.tsx'
import { Await, FaultNote } from '../ui/states.tsx'
import { About } from './about.tsx'
import { Attached } from './attached.tsx'
import { Comments } from './comments.tsx'
import styles from './finding.module.css'
import { History } from './history.tsx'
import { type Finding, findingOptions, refreshFindings } from './queries.ts'
import { type Document, RichText, RichTextField } from './rich-text.tsx'

const FindingRegions = lazy(async () => (await import('./finding-regions.tsx')).FindingRegions)

/** Shows the title and description, which can be edited. */
const Saying = ({ finding, titled }: { finding: Finding; titled: boolean }) => {
  const mayWrite = useMay('member') && finding.mergedIntoId === null
  const [draft, setDraft] = useState<{ title: string; description: Document | null }>()
  const save = useMutation({
    mutationFn: (body: { title: string; description: Document | null }) =>
      answer(api.PATCH('/v1/findings/{id}', { params: { path: { id: finding.id } }, body })),
    onSuccess: (saved) => {
      queryClient.setQueryData(findingOptions(finding.id).queryKey, saved)
      setDraft(undefined)
      void refreshFindings()
    },
  })
  const { title, description } = finding
  if (draft) {
    const send = () => {
      if (draft.title.trim() !== '' && !save.isPending) save.mutate({ ...draft, title: draft.title.trim() })
    }
    return (
      <div className={styles.composer}>
        <LeaveGuard isDirty={() => draft.title !== title || draft.description !== (description ?? null)} />
        <Field label="Title">
          {(ids) => (
            <Input
              {...ids}
              maxLength={500}
              value={draft.title}
              onChange={({ target }) => setDraft({ ...draft, title: target.value })}
            />
          )}
        </Field>
        <Field label="Description">
          {({ id }) => (
            <RichTextField
              id={id}
              label="Description"
              value={draft.description}
              onChange={(next) => setDraft((before) => before && { ...before, description: next })}
              onSend={send}
            />
          )}
        </Field>
        {save.error && <FaultNote error={save.error} />}
        <div className={styles.ways}>
          <Button look="primary" busy={save.isPending} disabled={draft.title.trim() === ''} onClick={send}>
            Save
          </Button>
          <Button look="quiet" onClick={() => setDraft(undefined)}>
            Cancel
          </Button>
        </div>
      </div>
    )
  }
  return (
    <Section
      title={titled ? title : 'Description'}
      actions={
        <>
          <ButtonLink small look="quiet" to="/conversations" search={likeThis({ text: title })}>
            More like this
          </ButtonLink>
          {mayWrite && (
            <Button small onClick={() => setDraft({ title, description: description ?? null })}>
              Edit
            </Button>
          )}
        </>
      }
    >
      {description ? <RichText document={description} /> : <p className={styles.soft}>No description.</p>}
    </Section>
  )
}

/** Shows a complete finding. `titled` means that the page around it doesn't show its title. */
export const FindingView = ({ id, titled = false }: { id: string; titled?: boolean }) => {
  const query = useQuery(findingOptions(id))
  return (
    <Await query={query}>
      {(finding) => (
        <div className={styles.view}>
          {finding.mergedIntoId && (
            <p className={styles.merged}>
              This finding was merged and is closed.{' '}
              <Link to="/findings/$id" params={{ id: finding.mergedIntoId }}>
                View the merged finding
              </Link>
            </p>
          )}
          <div className={styles.columns}>
            <div className={styles.saying}>
              <Saying key={finding.id} finding={finding} titled={titled} />
            </div>
            <aside className={styles.aside} aria-label="About this finding">
              <About finding={finding} />
            </aside>
            <div className={styles.rest}>
              <RenderLater>
                <Attached finding={finding} />
                <FindingRegions id={finding.id} />
                <Comments finding={finding} />
                <History finding={finding} />
              </RenderLater>
            </div>
          </div>
        </div>
      )}
    </Await>
  )
}
