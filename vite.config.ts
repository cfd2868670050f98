import { brotliCompressSync as compress, constants } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const isText = (name: string) => /\.(js|css|svg|html)$/.test(name)

/** Beside each text its brotli form, so that the service sends it without work. */
const compressed = (): Plugin => ({
  name: 'compressed',
  apply: 'build',
  generateBundle: {
    order: 'post',
    handler(_, bundle) {
      for (const [fileName, file] of Object.entries(bundle)) {
        if (!isText(fileName)) continue
        const content = Buffer.from(file.type === 'chunk' ? file.code : file.source)
        const source = compress(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } })
        this.emitFile({ type: 'asset', fileName: `${fileName}.br`, source })
      }
    },
  },
})

export default defineConfig(({ command }) => ({
  root: 'console',
  base: command === 'build' ? '/console/' : '/',
  plugins: [react(), compressed()],
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    target: 'es2023',
    // Nothing may stand in the page itself: the policy refuses data addresses and inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The largest is the list of common passwords, which loads only where somebody chooses one.
    chunkSizeWarningLimit: 1_250,
  },
  server: {
    port: 5173,
    proxy: Object.fromEntries(
      ['/v1', '/auth', '/files', '/docs', '/openapi.json'].map((path) => [
        path,
        // The service compares the host that is asked for with the page's origin.
        { target: `http://127.0.0.1:${process.env.PORT ?? 4000}`, changeOrigin: false },
      ]),
    ),
  },
}))
