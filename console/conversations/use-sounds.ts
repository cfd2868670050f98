import { useQuery } from '@tanstack/react-query'
import type { Option } from '../ui/controls.tsx'

/** Returns the sound measures with their labels. They load when a page needs them. */
export const useSounds = (isEnabled: boolean): Option[] => {
  const { data = [] } = useQuery({
    queryKey: ['sounds'],
    queryFn: async () => (await import('./sound-names.ts')).soundOptions,
    enabled: isEnabled,
  })
  return data
}
