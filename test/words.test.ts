import { describe, expect, it } from 'vitest'
import { findFaults } from '../tools/words/find-faults.ts'

describe('a file', () => {
  it('is reported with its line, the phrase, and the replacement', async () => {
    expect(await findFaults('a.md', '# Title\n\nThe rest is\nleft alone.\n')).toEqual([
      'a.md:4 Incorrect term: “alone”, use “only” instead',
    ])
  })

  it('is checked across line breaks, in paragraphs and comments', async () => {
    expect(await findFaults('a.md', 'Addresses, parted\nby commas.')).toHaveLength(1)
    expect(await findFaults('a.ts', '// Addresses, parted\n// by commas.\nrun()')).toHaveLength(1)
    expect(await findFaults('a.ts', '/**\n * Addresses, parted\n * by commas.\n */\nrun()')).toHaveLength(1)
  })

  it('is checked in strings, templates, JSX, and styles', async () => {
    expect(await findFaults('a.ts', "const a = 'unless said'")).toHaveLength(1)
    expect(await findFaults('a.ts', 'const a = `$' + '{b} unless said`')).toHaveLength(1)
    expect(await findFaults('a.tsx', 'const A = () => <p title="unless said">unless said</p>')).toHaveLength(2)
    expect(await findFaults('a.css', '/* unless said */')).toHaveLength(1)
  })

  it('is not checked in code', async () => {
    expect(await findFaults('a.md', 'Call `alone` or:\n\n```sh\nalone\n```\n\n[this](alone.md)\n')).toEqual([])
    expect(await findFaults('a.ts', 'const alone = 5 % 2')).toEqual([])
    expect(await findFaults('a.css', '.alone { width: 5 % }')).toEqual([])
  })

  it('may contain longer words', async () => {
    expect(await findFaults('a.md', 'Besides, run it stand-alone.')).toEqual([])
  })
})
