import { EditorContent, getSchema, mergeAttributes, Node, useEditor, useEditorState } from '@tiptap/react'
import StarterKit from '@tiptap/starter-kit'
import { Bold, Code, Italic, Link as LinkIcon, List, ListOrdered, Quote } from 'lucide-react'
import { useRef, useState } from 'react'
import { Button, IconButton } from '../ui/button.tsx'
import { Input } from '../ui/controls.tsx'
import { MentionMenu } from './mention-menu.tsx'
import styles from './rich-text.module.css'
import { type Document, type EditorProps, RichText, type Node as StoredNode } from './rich-text.tsx'

// Other programs may create nodes of these types. The editor supports them so that edits don't lose them.

const TaskList = Node.create({
  name: 'taskList',
  group: 'block list',
  content: 'taskItem+',
  renderHTML: () => ['ul', { 'data-type': 'taskList' }, 0],
})

const TaskItem = Node.create({
  name: 'taskItem',
  content: 'paragraph block*',
  defining: true,
  addAttributes: () => ({ checked: { default: false } }),
  renderHTML: ({ node }) => ['li', { 'data-checked': String(node.attrs.checked) }, 0],
})

const Mention = Node.create({
  name: 'mention',
  group: 'inline',
  inline: true,
  atom: true,
  addAttributes: () => ({ id: { default: null }, label: { default: null }, mentionSuggestionChar: { default: '@' } }),
  renderHTML: ({ node, HTMLAttributes }) => [
    'span',
    mergeAttributes(HTMLAttributes, { class: styles.mention }),
    `${node.attrs.mentionSuggestionChar ?? '@'}${node.attrs.label ?? node.attrs.id ?? ''}`,
  ],
})

const isLink = (address: string) => /^(https?:|mailto:)/i.test(address)

const extensions = [
  StarterKit.configure({
    link: {
      openOnClick: false,
      defaultProtocol: 'https',
      isAllowedUri: isLink,
      HTMLAttributes: { target: '_blank', rel: 'noopener noreferrer nofollow' },
    },
  }),
  TaskList,
  TaskItem,
  Mention,
]

const schema = getSchema(extensions)

const losesAttributes = (attrs: object | undefined, kept: object | null | undefined): boolean =>
  Object.entries(attrs ?? {}).some(([name, value]) => value !== null && !Object.hasOwn(kept ?? {}, name))

const losesPart = ({ type, attrs, marks = [], content = [] }: StoredNode): boolean =>
  losesAttributes(attrs, schema.nodes[String(type)]?.spec.attrs) ||
  marks.some((mark) => losesAttributes(mark.attrs, schema.marks[String(mark.type)]?.spec.attrs)) ||
  content.some(losesPart)

/** Returns whether the editor can represent a document completely. */
const canHold = (document: Document): boolean => {
  try {
    schema.nodeFromJSON(document).check()
    return !losesPart(document as StoredNode)
  } catch {
    return false
  }
}

const LinkLine = ({ href, onSet, onClose }: { href: string; onSet: (href: string) => void; onClose: () => void }) => {
  const [address, setAddress] = useState(href)
  return (
    <div className={styles.link}>
      <Input
        aria-label="Link URL"
        type="url"
        placeholder="https://"
        value={address}
        autoFocus
        onChange={({ target }) => setAddress(target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') {
            event.preventDefault()
            onSet(address.trim())
          }
          if (event.key === 'Escape') {
            event.stopPropagation()
            onClose()
          }
        }}
      />
      <Button small disabled={address.trim() !== '' && !isLink(address.trim())} onClick={() => onSet(address.trim())}>
        {address.trim() === '' ? 'Remove link' : 'Set link'}
      </Button>
    </div>
  )
}

const Editor = ({ label, id, value, onChange, onSend, focus = false, mentions = false }: EditorProps) => {
  const [linking, setLinking] = useState(false)
  const onMenuKey = useRef<(event: KeyboardEvent) => boolean>(() => false)
  const editor = useEditor({
    extensions,
    content: value,
    injectCSS: false,
    autofocus: focus ? 'end' : false,
    editorProps: {
      attributes: {
        role: 'textbox',
        'aria-label': label,
        'aria-multiline': 'true',
        class: styles.text ?? '',
        ...(id && { id }),
      },
      handleKeyDown: (_, event) => {
        if (onMenuKey.current(event)) return true
        if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey) || !onSend) return false
        onSend()
        return true
      },
    },
    onUpdate: ({ editor: changed }) => onChange(changed.isEmpty ? null : changed.getJSON()),
  })
  const active = useEditorState({
    editor,
    selector: ({ editor: seen }) => ({
      bold: seen.isActive('bold'),
      italic: seen.isActive('italic'),
      code: seen.isActive('code'),
      bullets: seen.isActive('bulletList'),
      numbers: seen.isActive('orderedList'),
      quote: seen.isActive('blockquote'),
      link: seen.isActive('link'),
    }),
  })
  const chain = () => editor.chain().focus()
  const tools = [
    { name: 'Bold', icon: <Bold />, on: active.bold, run: () => chain().toggleBold().run() },
    { name: 'Italic', icon: <Italic />, on: active.italic, run: () => chain().toggleItalic().run() },
    { name: 'Code', icon: <Code />, on: active.code, run: () => chain().toggleCode().run() },
    { name: 'Bulleted list', icon: <List />, on: active.bullets, run: () => chain().toggleBulletList().run() },
    { name: 'Numbered list', icon: <ListOrdered />, on: active.numbers, run: () => chain().toggleOrderedList().run() },
    { name: 'Quote', icon: <Quote />, on: active.quote, run: () => chain().toggleBlockquote().run() },
    { name: 'Link', icon: <LinkIcon />, on: active.link || linking, run: () => setLinking(!linking) },
  ]
  return (
    <div className={styles.editor}>
      <div className={styles.tools} role="toolbar" aria-label="Formatting">
        {tools.map(({ name, icon, on, run }) => (
          <IconButton key={name} label={name} icon={icon} aria-pressed={on} onClick={run} />
        ))}
      </div>
      {linking && (
        <LinkLine
          href={String(editor.getAttributes('link').href ?? '')}
          onClose={() => setLinking(false)}
          onSet={(href) => {
            setLinking(false)
            const linked = chain().extendMarkRange('link')
            if (href === '') linked.unsetLink().run()
            else linked.setLink({ href }).run()
          }}
        />
      )}
      <EditorContent editor={editor} />
      {mentions && <MentionMenu editor={editor} onKey={onMenuKey} />}
    </div>
  )
}

const EditorOrText = (props: EditorProps) => {
  const { value } = props
  const [isHeld] = useState(() => value === null || canHold(value))
  if (isHeld || value === null) return <Editor {...props} />
  return (
    <section className={styles.editor} aria-label={props.label}>
      <p className={styles.note}>This text has formatting that can’t be edited here. Change it through the API.</p>
      <RichText document={value} />
    </section>
  )
}

export default EditorOrText
