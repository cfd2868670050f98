// Defines the styles of results. They differ in pattern and outline, not only in color.

import { useId } from 'react'
import styles from './charts.module.css'

export type Look = 'affected' | 'clear' | 'unscored' | 'failed' | 'plain'

export const looks: Record<Look, string> = {
  affected: 'Affected',
  clear: 'Not affected',
  unscored: 'Unscored',
  failed: 'Failed',
  plain: 'Conversations',
}

/** Draws the stripes of unscored results. SVG IDs are global to the page. */
export const Hatch = ({ id }: { id: string }) => (
  <defs>
    <pattern id={id} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <rect width="5" height="5" className={styles.hatchGround} />
      <line x1="1" y1="0" x2="1" y2="5" className={styles.hatchLine} />
    </pattern>
  </defs>
)

export const Legend = ({ of, nameOf }: { of: Look[]; nameOf: (look: Look) => string }) => {
  const hatch = useId()
  return (
    <ul className={styles.legend}>
      {of.map((look) => (
        <li key={look}>
          <svg width="12" height="12" aria-hidden="true">
            <Hatch id={`${hatch}${look}`} />
            <rect
              className={styles[`${look}Bar`]}
              {...(look === 'unscored' && { fill: `url(#${hatch}${look})` })}
              x="1"
              y="1"
              width="10"
              height="10"
            />
          </svg>
          {nameOf(look)}
        </li>
      ))}
    </ul>
  )
}
