import { Code } from '../ui/copy.tsx'
import styles from './transcript.module.css'

const textOf = (content: unknown) => (typeof content === 'string' ? content : JSON.stringify(content, null, 2))

/** Shows a transcript in an unknown format as it was sent. */
export const Raw = ({ why, content }: { why: string; content: unknown }) => (
  <div className={styles.raw}>
    <h3>Unknown transcript format</h3>
    <p>{why}</p>
    <p>Earshot stores the transcript as you sent it. Monitors leave the conversation unscored.</p>
    {content != null && <Code label="Copy transcript">{textOf(content)}</Code>}
  </div>
)
