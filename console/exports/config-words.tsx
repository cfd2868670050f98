import { useFilterText } from '../filters/filter-chips.tsx'
import { plural } from '../lib/format.ts'
import { Time } from '../ui/time.tsx'
import { type Config, isOfList, type List, type ResultsConfig } from './queries.ts'
import { useWhatWords } from './words.tsx'

/** Describes an export of conversations. */
export const useListWords = ({ filter, columns, results = [], transcripts, regions }: List): string => {
  const say = useFilterText()
  const filtered = say(filter)
  return [
    filtered === '' ? 'All conversations' : `Conversations: ${filtered}`,
    plural(columns.length, 'column'),
    ...(results.length > 0 ? [`results of ${plural(results.length, 'monitor')}`] : []),
    ...(transcripts ? ['transcripts'] : []),
    ...(regions ? ['regions'] : []),
  ].join('; ')
}

const ListWords = ({ config }: { config: List }) => useListWords(config)

/** Describes an export in a sentence. */
export const ConfigWords = ({ config }: { config: Config }) =>
  isOfList(config) ? <ListWords config={config} /> : <ResultsWords config={config} />

const ResultsWords = ({ config }: { config: ResultsConfig }) => {
  const { results, conditions } = useWhatWords(config)
  return (
    <>
      {results}; from <Time at={config.since} /> to <Time at={config.until} />
      {conditions}
    </>
  )
}
