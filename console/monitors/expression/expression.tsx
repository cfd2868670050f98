import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  startCompletion,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { bracketMatching, StreamLanguage, syntaxHighlighting } from '@codemirror/language'
import { setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import { EditorView, hoverTooltip, keymap, placeholder as placeholderOf } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'react'
import { useFormContext } from 'react-hook-form'
import { Field } from '../../ui/controls.tsx'
import { errorRange } from '../error-range.ts'
import styles from './expression.module.css'
import { nameAt, namesAfter } from './names.ts'
import { highlight, theme } from './theme.ts'

type ExpressionProps = {
  name: string
  label: string
  hint: string
  /** The minimum number of visible lines. */
  lines: number
  required?: boolean
  placeholder?: string
  /** The error and its position in the expression. */
  problem: string | undefined
}

const language = StreamLanguage.define({
  token: (stream) => {
    if (stream.eatSpace()) return null
    if (stream.match(/^r?(?:'(?:\\.|[^'\\])*'?|"(?:\\.|[^"\\])*"?)/)) return 'string'
    if (stream.match(/^\d+(?:\.\d+)?/)) return 'number'
    if (stream.match(/^(?:true|false|null|in|has)\b/)) return 'keyword'
    if (stream.match(/^[A-Za-z_]\w*/)) return stream.peek() === '(' ? 'function' : 'variableName'
    stream.next()
    return 'operator'
  },
  tokenTable: { function: tags.function(tags.variableName) },
})

const completions = autocompletion({
  // By default, Enter adds a line if it is pressed immediately after the suggestions have opened.
  interactionDelay: 0,
  override: [
    ({ state, pos, explicit }) => {
      const before = state.doc.sliceString(0, pos)
      const found = namesAfter(before)
      if (!found || (!explicit && found.from === pos && !before.endsWith('.'))) return null
      const options = found.names.map(({ name, about, after = '' }) => ({
        label: name,
        detail: about,
        apply: (view: EditorView, _: unknown, from: number, to: number) => {
          view.dispatch({
            changes: { from, to, insert: name + after },
            selection: { anchor: from + name.length + after.length },
          })
          if (after.endsWith('.')) startCompletion(view)
        },
      }))
      return { from: found.from, options }
    },
  ],
})

const explanations = hoverTooltip((view, at) => {
  const found = nameAt(view.state.doc.toString(), at)
  if (!found) return null
  return {
    pos: found.from,
    end: found.to,
    create: () => {
      const dom = document.createElement('div')
      dom.textContent = found.about
      return { dom }
    },
  }
})

/** Replaces the selection itself, because browsers add inline styles when they replace colored text. */
const replaceSelected = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    if (event.inputType !== 'insertText' || event.data === null || view.state.selection.main.empty) return false
    event.preventDefault()
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: 'input.type' })
    return true
  },
})

type EditorOptions = { parent: HTMLElement; text: string; extra: Extension; onChange: (text: string) => void }

/**
 * Opens the editor in a shadow root, where it can add its styles without inline styles, which the content security
 * policy forbids.
 */
const openEditor = ({ parent, text, extra, onChange }: EditorOptions): EditorView => {
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open', delegatesFocus: true })
  root.replaceChildren()
  return new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: text,
      extensions: [
        history(),
        closeBrackets(),
        bracketMatching(),
        language,
        syntaxHighlighting(highlight),
        completions,
        replaceSelected,
        explanations,
        keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
        EditorView.lineWrapping,
        theme,
        extra,
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString())
        }),
      ],
    }),
  })
}

/** Shows a rule's editor, with completion, explanations, and the error underlined. */
export const Expression = ({ name, label, hint, lines, required = false, placeholder, problem }: ExpressionProps) => {
  const { register, setValue, getValues, watch, getFieldState, formState } = useFormContext()
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const attributes = useRef(new Compartment())
  const text: string = watch(name) ?? ''
  const first = useRef(text)
  register(name, required ? { required: `${label} is required.` } : {})
  const fault = problem ?? getFieldState(name, formState).error?.message
  const shown = text === '' && !formState.isSubmitted ? undefined : fault
  const change = useRef((_: string) => {})
  change.current = (next) => setValue(name, next, { shouldDirty: true, shouldValidate: formState.isSubmitted })

  useEffect(() => {
    if (!host.current) return
    const opened = openEditor({
      parent: host.current,
      text: first.current,
      extra: [attributes.current.of([]), placeholder === undefined ? [] : placeholderOf(placeholder)],
      onChange: (next) => change.current(next),
    })
    view.current = opened
    return () => opened.destroy()
  }, [placeholder])

  // The text can change outside the editor: when an example is used, or when the form is reset.
  useEffect(() => {
    const state = view.current?.state
    // The rendered text can be older than the typed text.
    if (!state || state.doc.toString() === text || text !== (getValues(name) ?? '')) return
    view.current?.dispatch({ changes: { from: 0, to: state.doc.length, insert: text } })
  }, [text, name, getValues])

  useEffect(() => {
    const opened = view.current
    if (!opened) return
    const place = problem === undefined ? undefined : errorRange(text, problem)
    const [from, to] = place ?? [0, 0]
    const length = opened.state.doc.length
    opened.dispatch(
      setDiagnostics(
        opened.state,
        place
          ? [{ from: Math.min(from, length), to: Math.min(to, length), severity: 'error', message: problem ?? '' }]
          : [],
      ),
      {
        effects: attributes.current.reconfigure(
          EditorView.contentAttributes.of({
            'aria-label': label,
            'aria-description': shown ?? hint,
            'aria-required': String(required),
            spellcheck: 'false',
            ...(shown !== undefined && { 'aria-invalid': 'true' }),
          }),
        ),
      },
    )
  }, [problem, text, shown, label, hint, required])

  return (
    <Field label={label} hint={hint} fault={shown}>
      {({ id }) => (
        <div
          id={id}
          ref={host}
          className={shown === undefined ? styles.box : `${styles.box} ${styles.wrong}`}
          style={{ minHeight: `${lines * 21 + 14}px` }}
        />
      )}
    </Field>
  )
}
