// The code of a page of documentation, in its order, as one script: what a reader would do who copies block after block.
import MarkdownIt from 'markdown-it'

export type Block = { language: string; text: string; line: number }

/** Text that is shown and not run: what is sent, what is answered, and rules, which tests of their own evaluate. */
const shown = new Set(['', 'text', 'json', 'http', 'cel', 'mermaid'])
const run = new Set(['sh', 'ts', 'js', 'python', 'sql'])

export const blocksOf = (page: string): Block[] =>
  new MarkdownIt()
    .parse(page, {})
    .filter(({ type }) => type === 'fence')
    .map(({ info, content, map }) => ({ language: info.trim(), text: content, line: (map?.[0] ?? 0) + 1 }))

/** ```sh by-hand: what starts a service, or needs a machine that tests have not. A test lists them. */
export const byHand = ({ language }: Block): boolean => language.endsWith(' by-hand')

/** Said in each page for whoever reads it, and known here. */
const isAddressOrKey = (line: string) => /^(export )?(EARSHOT_URL=\S+ ?)?(EARSHOT_KEY=ear_…)?( *#.*)?$/.test(line)

const runners: Record<string, (file: string) => string> = {
  ts: (file) => `node --disable-warning=ExperimentalWarning ${file}`,
  js: (file) => `node ${file}`,
  python: (file) => `"$PYTHON" ${file}`,
  sql: (file) => `duckdb-run ${file}`,
}
const endings: Record<string, string> = { ts: 'ts', js: 'mjs', python: 'py', sql: 'sql' }

/** The script, and beside it the files that it runs. Throws on a block in a language that nobody runs. */
export const scriptOf = (blocks: Block[]): { script: string; files: Map<string, string> } => {
  const files = new Map<string, string>()
  // What is answered with a fault is one, whether or not the page asks curl to say so.
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
