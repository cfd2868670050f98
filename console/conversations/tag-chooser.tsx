import { Combobox } from '@base-ui/react/combobox'
import { useQuery } from '@tanstack/react-query'
import { Check, X } from 'lucide-react'
import { type KeyboardEvent, useRef, useState } from 'react'
import { formatCount } from '../lib/format.ts'
import chooser from '../ui/chooser.module.css'
import { Field } from '../ui/controls.tsx'
import menu from '../ui/menu.module.css'
import { knownTagsOptions } from './tag-queries.ts'
import styles from './tags.module.css'

const mostTags = 20
const longestTag = 50

type TagOption = { value: string; label: string; count?: number }

/** Returns the tag as the server stores it. */
const normalize = (typed: string): string => typed.trim().toLowerCase()

/** Suggests known tags, followed by the typed tag if no conversation has it yet. */
const useOptions = (typed: string): TagOption[] => {
  const tag = normalize(typed)
  const { data = [] } = useQuery({ ...knownTagsOptions(tag), placeholderData: (before) => before })
  const known = data
    .filter((each) => each.tag.startsWith(tag))
    .map((each): TagOption => ({ value: each.tag, label: each.tag, count: each.count }))
  return tag === '' || known.some(({ value }) => value === tag)
    ? known
    : [...known, { value: tag, label: `New tag “${tag}”` }]
}

type TagChooserProps = {
  label: string
  hint?: string
  value: string[]
  onChange: (tags: string[]) => void
}

/** Selects known or new tags by typing. */
export const TagChooser = ({ label, hint, value, onChange }: TagChooserProps) => {
  const [typed, setTyped] = useState('')
  const highlighted = useRef<TagOption>(undefined)
  const options = useOptions(typed)
  const chosen = value.map((tag): TagOption => ({ value: tag, label: tag }))
  const add = (tags: string[]) => {
    onChange([...new Set([...value, ...tags.map(normalize).filter(Boolean)])].slice(0, mostTags))
    setTyped('')
  }
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' && event.key !== ',') return
    // Enter selects a tag instead of submitting the form.
    event.preventDefault()
    if (event.key === ',' || highlighted.current === undefined) add([typed])
  }
  return (
    <Field label={label} {...(hint && { hint })}>
      {(ids) => (
        <Combobox.Root
          multiple
          autoHighlight
          items={options}
          filter={null}
          value={chosen}
          inputValue={typed}
          onInputValueChange={(text) => setTyped(text.replaceAll(',', ' ').slice(0, longestTag))}
          isItemEqualToValue={(a: TagOption, b: TagOption) => a.value === b.value}
          onItemHighlighted={(option) => {
            highlighted.current = option
          }}
          onValueChange={(next: TagOption[]) => {
            onChange(next.map((option) => option.value).slice(0, mostTags))
            setTyped('')
          }}
        >
          <Combobox.Chips className={chooser.chips}>
            {chosen.map((option) => (
              <Combobox.Chip key={option.value} className={chooser.chip} aria-label={option.label}>
                <span className={chooser.text}>{option.label}</span>
                <Combobox.ChipRemove className={chooser.remove} aria-label={`Remove ${option.label}`}>
                  <X aria-hidden="true" />
                </Combobox.ChipRemove>
              </Combobox.Chip>
            ))}
            <Combobox.Input
              {...ids}
              className={chooser.input}
              placeholder={value.length > 0 ? '' : 'Type a tag'}
              onKeyDown={press}
            />
          </Combobox.Chips>
          <Combobox.Portal>
            <Combobox.Positioner className={menu.positioner} sideOffset={4}>
              <Combobox.Popup className={`${menu.popup} ${chooser.popup}`}>
                <Combobox.Empty>
                  <div className={menu.empty}>Type a new tag.</div>
                </Combobox.Empty>
                <Combobox.List>
                  {(option: TagOption) => (
                    <Combobox.Item key={option.value} value={option} className={`${menu.item} ${chooser.item}`}>
                      <span className={chooser.text}>{option.label}</span>
                      {option.count !== undefined && (
                        <span className={styles.count}>
                          {option.count === 1_000 ? '1,000+' : formatCount(option.count)}
                        </span>
                      )}
                      <Combobox.ItemIndicator className={chooser.mark}>
                        <Check aria-hidden="true" />
                      </Combobox.ItemIndicator>
                    </Combobox.Item>
                  )}
                </Combobox.List>
              </Combobox.Popup>
            </Combobox.Positioner>
          </Combobox.Portal>
        </Combobox.Root>
      )}
    </Field>
  )
}
