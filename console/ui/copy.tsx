import { Check, Copy as CopyIcon } from 'lucide-react'
import { useEffect, useState } from 'react'
import { IconButton } from './button.tsx'
import styles from './copy.module.css'

/** Copies text. navigator.clipboard doesn't exist if the console is served without TLS. */
export const copyText = async (text: string): Promise<void> => {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  const hand = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text)
    event.preventDefault()
  }
  document.addEventListener('copy', hand)
  document.execCommand('copy')
  document.removeEventListener('copy', hand)
}

export const Copy = ({ text, label = 'Copy' }: { text: string; label?: string }) => {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1_500)
    return () => clearTimeout(timer)
  }, [copied])
  return (
    <IconButton
      label={copied ? 'Copied' : label}
      icon={copied ? <Check /> : <CopyIcon />}
      onClick={() => void copyText(text).then(() => setCopied(true))}
    />
  )
}

/** Shows a code block with a copy button. */
export const Code = ({ children, label = 'Copy code' }: { children: string; label?: string }) => (
  <div className={styles.code}>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
    <pre tabIndex={0}>
      <code>{children}</code>
    </pre>
    <Copy text={children} label={label} />
  </div>
)
