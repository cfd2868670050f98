import { HighlightStyle } from '@codemirror/language'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

export const highlight = HighlightStyle.define([
  { tag: tags.string, color: 'var(--accent)' },
  { tag: tags.number, color: 'var(--affected)' },
  { tag: tags.keyword, color: 'var(--speaker-other)' },
  { tag: tags.function(tags.variableName), color: 'var(--clear)' },
  { tag: tags.operator, color: 'var(--ink-soft)' },
])

export const theme = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'transparent', height: '100%' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', fontSize: '13px', lineHeight: '21px' },
  '.cm-content': { padding: '6px 0', caretColor: 'var(--ink)' },
  '.cm-line': { padding: '0 10px' },
  '.cm-placeholder': { color: 'var(--ink-faint)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--selected)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    backgroundColor: 'var(--fault-soft)',
    textDecoration: 'underline wavy var(--fault)',
    textDecorationSkipInk: 'none',
    textUnderlineOffset: '4px',
  },
  '.cm-tooltip': {
    color: 'var(--ink)',
    backgroundColor: 'var(--paper)',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius-m)',
    boxShadow: 'var(--shadow)',
    fontFamily: 'var(--sans)',
    fontSize: 'var(--text-s)',
  },
  '.cm-tooltip-hover, .cm-tooltip-lint': { padding: '4px 8px', maxWidth: '360px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxWidth: 'min(560px, 90vw)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px', lineHeight: '20px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    color: 'var(--ink)',
    backgroundColor: 'var(--selected)',
  },
  '.cm-completionDetail': { color: 'var(--ink-soft)', fontFamily: 'var(--sans)', fontStyle: 'normal' },
})
