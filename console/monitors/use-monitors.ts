import { useQuery } from '@tanstack/react-query'
import { namesOptions } from '../api/names.ts'
import type { Monitor } from './queries.ts'

/** Returns a function that finds a loaded monitor. Monitor names are read from the same responses. */
export const useMonitors = () => {
  const { data = [] } = useQuery(namesOptions('monitors'))
  return (id: string | null): Monitor | undefined => data.find((monitor) => monitor.id === id) as Monitor | undefined
}
