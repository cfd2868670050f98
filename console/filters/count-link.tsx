import { Link } from '@tanstack/react-router'
import { formatCount } from '../lib/format.ts'
import { useCount } from './count.ts'
import type { Filter } from './filter.ts'

/** How many conversations a filter selects, as the way to them. `of` says whose they are to those who hear it alone. */
export const CountLink = ({ filter, of }: { filter: Filter; of: string }) => {
  const { data } = useCount(filter)
  const count = data ? formatCount(data.count) : '…'
  return (
    <Link to="/conversations" search={{ filter }} aria-label={`${of}: ${count} conversations`}>
      {count}
    </Link>
  )
}
