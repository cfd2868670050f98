// Converts a definition between form fields and the API's format.

import type { Monitor } from './queries.ts'
import { readScorecard, type ScorecardDraft, scorecardDefinition } from './scorecards/draft.ts'
import type { Kind } from './search.ts'

export type Operator = 'gte' | 'gt' | 'lte' | 'lt'

export type FieldType = 'string' | 'number' | 'date' | 'boolean' | 'enum' | 'list'

export type CategoryDraft = { key: string; label: string; description: string; affected: boolean }

/** The options of an enum are separated by commas. */
export type FieldDraft = { key: string; type: FieldType; description: string; options: string; required: boolean }

export type OutputType = 'boolean' | 'score' | 'category' | 'extract'

/**
 * How Earshot decides based on a score. An alignment proposed it for the current values, and it is dropped if they
 * change.
 */
type Decision = { threshold: number; calibration?: unknown[] }
type Decided = { for: string; decision: Decision }

/** A guideline that an alignment distilled remains the alignment's as long as its text stays the same. */
type GuidelineDraft = { text: string; stored?: { text: string } }

/** The examples that an alignment has learned. The form doesn't change them. */
type Learned = { examples?: { correctResult?: string; excerpt?: string }[] }

/** Without an expression, the judge hears the whole call. */
type SoundDraft = { input: 'transcript' | 'sound'; expression: string; beforeSeconds: string; afterSeconds: string }

export type Definition = {
  rule: { expression: string; score: string; categories: string; fields: string }
  judge: {
    criteria: string
    model: string
    guidelines: GuidelineDraft[]
    learned: Learned
    hears: SoundDraft
    output: {
      type: OutputType
      min: number
      max: number
      op: Operator
      value: number
      categories: CategoryDraft[]
      multiple: boolean
      allowOther: boolean
      allowNotApplicable: boolean
      fields: FieldDraft[]
      /** A condition on the fields. */
      condition: string
      decided?: Decided
    }
  }
  scorecard: ScorecardDraft
}

type StoredField = Partial<Omit<FieldDraft, 'options'>> & { options?: string[] }

type StoredOutput = {
  type?: OutputType
  min?: number
  max?: number
  affectedWhen?: string | { op: Operator; value: number }
  categories?: Partial<CategoryDraft>[]
  multiple?: boolean
  allowOther?: boolean
  allowNotApplicable?: boolean
  fields?: StoredField[]
  decision?: Decision
}

type StoredSound = {
  input?: SoundDraft['input']
  soundExcerpt?: { expression: string; beforeMs: number; afterMs: number }
}

type Stored = Partial<Definition['rule']> &
  Learned &
  StoredSound & { criteria?: string; model?: string; output?: StoredOutput; guidelines?: { text: string }[] }

type Scale = { min: number; max: number; op: Operator; value: number }

const scaleOf = ({ min, max, op, value }: Scale): string => [Number(min), Number(max), op, Number(value)].join(' ')

export const emptyCategory: CategoryDraft = { key: '', label: '', description: '', affected: false }
export const emptyField: FieldDraft = { key: '', type: 'string', description: '', options: '', required: false }

const readSound = ({ input = 'transcript', soundExcerpt }: StoredSound): SoundDraft => ({
  input,
  expression: soundExcerpt?.expression ?? '',
  beforeSeconds: String((soundExcerpt?.beforeMs ?? 2_000) / 1_000),
  afterSeconds: String((soundExcerpt?.afterMs ?? 2_000) / 1_000),
})

const millisecondsOf = (seconds: string): number => Math.round(Number(seconds) * 1_000)

const soundOf = ({ input, expression, beforeSeconds, afterSeconds }: SoundDraft): StoredSound => {
  if (input !== 'sound') return {}
  const rule = expression.trim()
  if (rule === '') return { input }
  const [beforeMs, afterMs] = [millisecondsOf(beforeSeconds), millisecondsOf(afterSeconds)]
  return { input, soundExcerpt: { expression: rule, beforeMs, afterMs } }
}

/** Reads a stored definition. Its type depends on the kind of the monitor, which the API's types don't express. */
export const readDefinition = (stored: Record<string, unknown>): Definition => {
  const {
    expression = '',
    score = '',
    categories = '',
    fields = '',
    criteria = '',
    model = '',
    output,
    guidelines = [],
    examples,
    input,
    soundExcerpt,
  } = stored as Stored
  const { type = 'boolean', min = 1, max = 5, affectedWhen, ...own } = output ?? {}
  const rule = typeof affectedWhen === 'object' ? affectedWhen : { op: 'lt' as const, value: 3 }
  const condition = typeof affectedWhen === 'string' ? affectedWhen : ''
  return {
    scorecard: readScorecard(stored),
    rule: { expression, score, categories, fields },
    judge: {
      criteria,
      model,
      guidelines: guidelines.map((stored) => ({ text: stored.text, stored })),
      learned: { ...(examples && { examples }) },
      hears: readSound({ ...(input && { input }), ...(soundExcerpt && { soundExcerpt }) }),
      output: {
        type,
        min,
        max,
        ...rule,
        condition,
        ...(own.decision && { decided: { for: scaleOf({ min, max, ...rule }), decision: own.decision } }),
        categories: (own.categories ?? []).map((category) => ({ ...emptyCategory, ...category })),
        multiple: own.multiple ?? false,
        allowOther: own.allowOther ?? type !== 'category',
        allowNotApplicable: own.allowNotApplicable ?? type !== 'category',
        fields: (own.fields ?? []).map(({ options = [], ...field }) => ({
          ...emptyField,
          ...field,
          options: options.join(', '),
        })),
      },
    },
  }
}

export type Draft = Definition & {
  name: string
  description: string
  samplePercent: string
}

type Start = { name: string; description: string; definition: Record<string, unknown> }

/** Returns the form fields for a monitor, or for a new monitor that starts with a template. */
export const draftOf = (monitor: Monitor | undefined, start?: Start): Draft => ({
  ...readDefinition(monitor?.currentVersion.definition ?? start?.definition ?? {}),
  name: monitor?.name ?? start?.name ?? '',
  description: monitor?.description ?? start?.description ?? '',
  samplePercent: String(monitor?.samplePercent ?? 100),
})

/** Returns the strings that are not empty. */
const given = (texts: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(texts)
      .map(([name, text]) => [name, text.trim()])
      .filter(([, text]) => text !== ''),
  )

/** Returns the flags that are set. */
const set = (flags: Record<string, boolean>): Record<string, boolean> =>
  Object.fromEntries(Object.entries(flags).filter(([, flag]) => flag))

/** Returns a key for a label, such as `a_bill`. */
export const keyOf = (label: string): string =>
  label
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[_\d]+|_+$/g, '')
    .slice(0, 64)

const categoryOf = ({ key, label, description, affected }: CategoryDraft) => ({
  key: key.trim() || keyOf(label),
  label: label.trim(),
  ...given({ description }),
  ...set({ affected }),
})

const optionsOf = (options: string): string[] => [
  ...new Set(
    options
      .split(',')
      .map((option) => option.trim())
      .filter(Boolean),
  ),
]

const fieldDefinition = ({ key, type, description, options, required }: FieldDraft) => ({
  key: key.trim(),
  type,
  ...given({ description }),
  ...(type === 'enum' && { options: optionsOf(options) }),
  ...set({ required }),
})

const outputOf = (output: Definition['judge']['output']): Record<string, unknown> => {
  const { type, min, max, op, value, categories, multiple, allowOther, allowNotApplicable, fields, condition } = output
  const { decided } = output
  switch (type) {
    case 'boolean':
      return { type }
    case 'score':
      return {
        type,
        min: Number(min),
        max: Number(max),
        affectedWhen: { op, value: Number(value) },
        ...(decided?.for === scaleOf(output) && { decision: decided.decision }),
      }
    case 'category':
      return { type, categories: categories.map(categoryOf), ...set({ multiple, allowOther, allowNotApplicable }) }
    case 'extract':
      return { type, fields: fields.map(fieldDefinition), ...given({ affectedWhen: condition }) }
  }
}

/** Returns the guidelines that are not empty. An edited guideline no longer belongs to an alignment. */
const guidelinesOf = (guidelines: GuidelineDraft[]): { guidelines?: { text: string }[] } => {
  const written = guidelines.flatMap(({ text, stored }) => {
    const trimmed = text.trim()
    if (stored?.text.trim() === trimmed) return [stored]
    return trimmed === '' ? [] : [{ text: trimmed }]
  })
  return written.length > 0 ? { guidelines: written } : {}
}

export const definitionOf = (kind: Kind, { rule, judge, scorecard }: Definition): Record<string, unknown> => {
  if (kind === 'external') return {}
  if (kind === 'scorecard') return scorecardDefinition(scorecard)
  if (kind === 'rule') return { expression: '', ...given(rule) }
  const { criteria, output, model, guidelines, learned, hears } = judge
  const written = { ...given({ model }), ...soundOf(hears), ...guidelinesOf(guidelines) }
  return { criteria: criteria.trim(), output: outputOf(output), ...written, ...learned }
}

/** Returns the form field of an API path. */
export const fieldOf = (kind: Kind) => (path: string) =>
  path
    .replace(/^definition\.output\.affectedWhen$/, 'judge.output.condition')
    .replace(/^definition\.output\.affectedWhen\./, 'judge.output.')
    .replace(/^definition\.input$/, 'judge.hears.input')
    .replace(/^definition\.soundExcerpt\.(before|after)Ms$/, 'judge.hears.$1Seconds')
    .replace(/^definition\.soundExcerpt(\.expression)?$/, 'judge.hears.expression')
    .replace(/^definition\./, `${kind}.`)
    .replace(/\[(\d+)\]/g, '.$1')
