import { Badge } from '../../ui/badge.tsx'
import type { Provider } from './queries.ts'

export const ProviderState = ({ status, failingSince }: Pick<Provider, 'status' | 'failingSince'>) => {
  if (status === 'disabled') return <Badge tone="unscored">Disabled</Badge>
  return failingSince ? <Badge tone="failed">Failing</Badge> : <Badge tone="clear">Active</Badge>
}
