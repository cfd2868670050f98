import { type ReactNode, useEffect } from 'react'
import styles from './card-page.module.css'

/** Lays out a page outside the app as a single card. */
export const CardPage = ({ title, children }: { title: string; children: ReactNode }) => {
  useEffect(() => {
    document.title = `${title} · Earshot`
  }, [title])
  return (
    <main className={styles.door}>
      <p className={styles.brand}>
        <img src={`${import.meta.env.BASE_URL}icon.svg`} width="24" height="24" alt="" /> Earshot
      </p>
      <section className={styles.card} aria-labelledby="door-title">
        <h1 id="door-title">{title}</h1>
        {children}
      </section>
      <p className={styles.links}>
        <a href="/docs/guide">Guide</a>
        <a href="/docs">API reference</a>
      </p>
    </main>
  )
}
