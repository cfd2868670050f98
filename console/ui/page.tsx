import { type ReactNode, useEffect } from 'react'
import styles from './page.module.css'

type PageProps = {
  title: string
  /** One line under the title: what the page shows and for which period. */
  context?: ReactNode
  /** The primary action and others next to it. */
  actions?: ReactNode
  /** The link back to the list that the page belongs to. */
  above?: ReactNode
  /** Whether the page fills the window's height and long content scrolls inside. */
  fixed?: boolean
  children: ReactNode
}

export const Page = ({ title, context, actions, above, fixed = false, children }: PageProps) => {
  useEffect(() => {
    document.title = `${title} · Earshot`
  }, [title])
  return (
    <div className={fixed ? `${styles.page} ${styles.fixed}` : styles.page}>
      <header className={styles.head}>
        <div className={styles.title}>
          {above && <div className={styles.above}>{above}</div>}
          <h1>{title}</h1>
          {context && <div className={styles.context}>{context}</div>}
        </div>
        {actions && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  )
}

/** Shows a section of a page with its own heading. */
export const Section = ({
  title,
  context,
  actions,
  children,
}: {
  title: string
  context?: ReactNode
  actions?: ReactNode
  children: ReactNode
}) => (
  <section className={styles.section} aria-label={title}>
    <div className={styles.sectionHead}>
      <h2>{title}</h2>
      {context && <span className={styles.context}>{context}</span>}
      {actions && <div className={styles.actions}>{actions}</div>}
    </div>
    {children}
  </section>
)

/** Shows a list of names and values. */
export const Facts = ({ facts }: { facts: [name: string, value: ReactNode][] }) => (
  <dl className={styles.facts}>
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value ?? <span className={styles.none}>None</span>}</dd>
      </div>
    ))}
  </dl>
)

/** Shows text with a comfortable line length. */
export const Prose = ({ children }: { children: ReactNode }) => <div className={styles.prose}>{children}</div>
