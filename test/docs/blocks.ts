// Returns the code of a documentation page as one script, in order, because readers copy one block after another.
import MarkdownIt from 'markdown-it'

export type Block = { language: string; text: string; line: number }

/** Languages that are shown but not run: requests, responses, and rules have their own tests. */
const shown = new Set(['', 'text', 'json', 'http', 'cel', 'mermaid'])
const run = new Set(['sh', 'ts', 'js', 'python', 'sql'])

export const blocksOf = (page: string): Block[] =>
  new MarkdownIt()
    .parse(page, {})
    .filter(({ type }) => type === 'fence')
    .map(({ info, content, map }) => ({ language: info.trim(), text: content, line: (map?.[0] ?? 0) + 1 }))

/**
 * Returns whether a block is marked `sh by-hand`, because it starts a service or needs a machine that tests lack. A
 * test lists these blocks.
 */
export const byHand = ({ language }: Block): boolean => language.endsWith(' by-hand')

/** Matches placeholders that readers replace. */
const isAddressOrKey = (line: string) => /^(export )?(EARSHOT_URL=\S+ ?)?(EARSHOT_KEY=ear_…)?( *#.*)?$/.test(line)

const runners: Record<string, (file: string) => string> = {
  ts: (file) => `node --disable-warning=ExperimentalWarning ${file}`,
  js: (file) => `node ${file}`,
  python: (file) => `"$PYTHON" ${file}`,
  sql: (file) => `duckdb-run ${file}`,
}
const endings: Record<string, string> = { ts: 'ts', js: 'mjs', python: 'py', sql: 'sql' }

/** Returns the script and its files. Throws on a block in an unknown language. */
export const scriptOf = (blocks: Block[]): { script: string; files: Map<string, string> } => {
  const files = new Map<string, string>()
  // An error response fails the script, whether or not the page makes curl fail.
  const lines = [
    'set -euo pipefail',
    'SERVER=',
    'curl() { case " $* " in *" --fail"* | *" -f"*) command curl "$@" ;; *) command curl --fail-with-body "$@" ;; esac; }',
    'await-port() { until (exec 3<>"/dev/tcp/127.0.0.1/$1") 2> /dev/null; do :; done; }',
  ]
  for (const block of blocks) {
    const { language, text, line } = block
    if (shown.has(language) || byHand(block)) continue
    if (!run.has(language)) throw new Error(`line ${line}: nobody runs ${JSON.stringify(language)}`)
    lines.push(`echo ":: line ${line}" >&2`)
    const runner = runners[language]
    if (runner && text.includes('.listen(')) {
      const file = `line-${line}.${endings[language]}`
      files.set(file, text)
      lines.push(
        '[ -z "$SERVER" ] || { kill $SERVER; wait $SERVER || true; }',
        `${runner(file)} & SERVER=$!`,
        'await-port $PORT',
      )
    } else if (runner) {
      const file = `line-${line}.${endings[language]}`
      files.set(file, text)
      lines.push(runner(file))
    } else {
      lines.push(...text.split('\n').filter((one) => one === '' || !isAddressOrKey(one)))
    }
  }
  return { script: `${lines.join('\n')}\n`, files }
}
