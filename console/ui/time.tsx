import type { PointerEvent } from 'react'
import { formatAgo, formatMoment } from '../lib/format.ts'
import { once } from '../lib/once.ts'

const full = once(() => new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'long' }))

/** Shows a time in the viewer's time zone. Its tooltip, which is created on hover, also shows UTC. */
export const Time = ({ at, ago = false }: { at: string; ago?: boolean }) => (
  <time
    dateTime={at}
    onPointerEnter={({ currentTarget }: PointerEvent<HTMLTimeElement>) => {
      currentTarget.title = `${full().format(new Date(at))}\n${at.replace('T', ' ').replace('Z', ' UTC')}`
    }}
  >
    {ago ? formatAgo(at) : formatMoment(at)}
  </time>
)
