import { type ReactNode, useEffect } from 'react'
import styles from './page.module.css'

type PageProps = {
  title: string
  /** One line under the title: what is looked at, and of when. */
  context?: ReactNode
  /** The one primary action, and what stands beside it. */
  actions?: ReactNode
  /** Where the page lies: the way back to its list. */
  above?: ReactNode
  /** Fills the window's height; what is long scrolls within. */
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

/** A part of a page under its own heading. */
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

/** Names and their values, one under the other. */
export const Facts = ({ facts }: { facts: [name: string, value: ReactNode][] }) => (
  <dl className={styles.facts}>
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value ?? <span className={styles.none}>none</span>}</dd>
      </div>
    ))}
  </dl>
)

/** Text to be read, in lines that are not too long. */
export const Prose = ({ children }: { children: ReactNode }) => <div className={styles.prose}>{children}</div>
