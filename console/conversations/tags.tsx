import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../api/session.ts'
import { Button } from '../ui/button.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Section } from '../ui/page.tsx'
import { FaultNote } from '../ui/states.tsx'
import { putTags, tagsOfOptions } from './tag-queries.ts'
import styles from './tags.module.css'

const TagChooser = lazy(async () => (await import('./tag-chooser.tsx')).TagChooser)

/** Shows the tags of a conversation. Each links to the other conversations with that tag. */
export const TagsPart = ({ id }: { id: string }) => {
  const { data: tags, error, refetch } = useQuery(tagsOfOptions(id))
  const mayWrite = useMay('member')
  const [draft, setDraft] = useState<string[]>()
  const save = useMutation({
    mutationFn: (next: string[]) => putTags(id, next),
    onSuccess: () => setDraft(undefined),
  })
  return (
    <Section
      title="Tags"
      actions={
        mayWrite &&
        tags &&
        !draft && (
          <Button small look="quiet" onClick={() => setDraft(tags)}>
            Edit tags
          </Button>
        )
      }
    >
      {error && <FaultNote error={error} retry={() => void refetch()} />}
      {tags?.length === 0 && !draft && <p className={styles.none}>No tags.</p>}
      {tags && tags.length > 0 && !draft && (
        <ul className={styles.tags}>
          {tags.map((tag) => (
            <li key={tag}>
              <Link to="/conversations" search={{ filter: { tags: [tag] } }} className={styles.tag}>
                {tag}
              </Link>
            </li>
          ))}
        </ul>
      )}
      {draft && (
        <form
          className={styles.form}
          aria-label="Tags"
          onSubmit={(event) => {
            event.preventDefault()
            save.mutate(draft)
          }}
        >
          <TagChooser label="Tags" value={draft} onChange={setDraft} />
          {save.error && <FaultNote error={save.error} />}
          <div className={styles.ways}>
            <Button onClick={() => setDraft(undefined)}>Cancel</Button>
            <Button type="submit" look="primary" busy={save.isPending}>
              Save tags
            </Button>
          </div>
        </form>
      )}
    </Section>
  )
}
