// Removes weights and features that no style uses from the console's fonts. All characters are kept.

import { createHash } from 'node:crypto'
import subsetFont from 'subset-font'
import type { Plugin } from 'vite'

const weights = { min: 400, max: 700 }
/**
 * The OpenType features to keep: those that position characters, and those that the styles use. Code has no ligatures.
 */
const features = ['ccmp', 'locl', 'mark', 'mkmk', 'kern', 'tnum', 'cv11', 'ss03']
const featuresOf = (fileName: string) => (fileName.includes('jetbrains-mono') ? features : [...features, 'calt'])

/** All characters except surrogates. Characters that a font lacks are ignored. */
const characters = Array.from({ length: 0x1_00_00 }, (_, code) => code)
  .filter((code) => code < 0xd8_00 || code > 0xdf_ff)
  .map((code) => String.fromCharCode(code))
  .join('')

const renamed = (fileName: string, content: Buffer): string => {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 8)
  return fileName.replace(/-.{8}\.woff2$/, `-${hash}.woff2`)
}

export const consoleFonts = (): Plugin => ({
  name: 'console-fonts',
  apply: 'build',
  generateBundle: {
    order: 'post',
    async handler(_, bundle) {
      const styles = Object.values(bundle).filter(({ fileName }) => fileName.endsWith('.css'))
      for (const [fileName, font] of Object.entries(bundle)) {
        if (font.type !== 'asset' || !fileName.endsWith('.woff2')) continue
        const source = await subsetFont(Buffer.from(font.source), characters, {
          targetFormat: 'woff2',
          variationAxes: { wght: weights },
          keepFeatures: featuresOf(fileName),
        })
        const newName = renamed(fileName, source)
        delete bundle[fileName]
        this.emitFile({ type: 'asset', fileName: newName, source })
        for (const style of styles) {
          if (style.type === 'asset') style.source = String(style.source).replaceAll(fileName, newName)
        }
      }
    },
  },
})
