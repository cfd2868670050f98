import { useNames } from '../api/names.ts'
import { operatorWords } from '../filters/operators.ts'
import { type Config, resourceOf, type What } from './queries.ts'

/** Describes an export's results and conditions. */
export const useWhatWords = (config: What): { results: string; conditions: string } => {
  const monitors = useNames('monitors')
  const agents = useNames('agents')
  const companies = useNames('companies')
  const groups = useNames('agentGroups')
  const filtered = config.monitors.filter(({ result = 'all' }) => result !== 'all')
  const results = config.monitors.map(
    ({ id, result = 'all' }) => `${monitors.nameOf(id)}${result === 'all' ? '' : ` (${result.replace('_', ' ')})`}`,
  )
  const conditions = [
    filtered.length > 1 && `match ${config.match === 'any' ? 'any' : 'all'}`,
    config.agentId && `agent ${agents.nameOf(config.agentId)}`,
    config.groupId && `agents in ${groups.nameOf(config.groupId)}`,
    config.companyId && `for ${companies.nameOf(config.companyId)}`,
    ...(config.metadata ?? []).map(({ key, op, value }) => `${key} ${operatorWords(op)} ${value ?? ''}`.trim()),
    config.versionScope === 'current' && 'current versions only',
    config.reasoning && 'with reasoning',
  ].filter((words) => words !== false && words !== undefined && words !== '')
  return { results: results.join(', '), conditions: conditions.length > 0 ? `; ${conditions.join(', ')}` : '' }
}

/** Returns the API request that creates the same export. */
export const requestLines = (config: Config): string => `curl -X POST ${location.origin}/v1/${resourceOf(config)} \\
  -H "Authorization: Bearer $EARSHOT_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify({ operationId: '$(uuidgen)', config }, null, 2).replaceAll("'", "'\\''").replace('$(uuidgen)', `'"$(uuidgen)"'`)}'`
