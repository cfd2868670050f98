import { Link } from '@tanstack/react-router'
import { formatCount } from '../lib/format.ts'
import { useCount } from './count.ts'
import type { Filter } from './filter.ts'

/**
 * Shows the number of conversations that match a filter, as a link to them. `of` names the filter for screen readers.
 */
export const CountLink = ({ filter, of }: { filter: Filter; of: string }) => {
  const { data } = useCount(filter)
  const count = data ? formatCount(data.count) : '…'
  return (
    <Link to="/conversations" search={{ filter }} aria-label={`${of}: ${count} conversations`}>
      {count}
    </Link>
  )
}
