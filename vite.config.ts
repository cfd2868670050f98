import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { consoleFonts } from './tools/console-fonts.ts'
import { consolePages } from './tools/console-pages.ts'

/**
 * A page loads few files, each of what is used together: a file costs a request, and what a page does not use is still
 * to be sent and read. What a module imports goes with it, unless an earlier group has it.
 */
const groups = [
  // As large as all the others together, so it arrives as early as they do.
  { name: 'react', test: /node_modules\/(react|react-dom|scheduler)\// },
  {
    name: 'base',
    test: /node_modules\/(@tanstack\/(?!react-virtual|virtual-core)[^/]+|@base-ui\/react\/(csp-provider|internals\/csp-context))\//,
  },
  {
    name: 'parts',
    test: /node_modules\/lucide-react\/|console\/(api|lib\/(?!password)|monitors\/(draft|figures)|review\/answers|[^/]+\/(queries|words|count)\.)/,
  },
  {
    name: 'controls',
    test: /console\/ui\/(announce|badge|button|controls|copy|dialog\.|difference|estimate|kappa|keys|lazy|leave|menu|missing|page|progress|render-later|split|states|tabs|time|use)/,
  },
  { name: 'charts', test: /console\/ui\/charts\// },
  { name: 'table', test: /console\/ui\/(list-table|table)\./ },
  { name: 'long-table', test: /console\/ui\/long-table\./ },
  { name: 'form', test: /console\/ui\/form\./ },
  { name: 'overlays', test: /console\/ui\/(chooser|dialog-window|loaded-menu|toasts)\./ },
].map((group, at, { length }) => ({ ...group, priority: length - at }))

export default defineConfig(({ command }) => ({
  root: 'console',
  base: command === 'build' ? '/console/' : '/',
  plugins: [react(), consoleFonts(), consolePages(join(import.meta.dirname, 'console/routes.tsx'))],
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    target: 'es2023',
    // Nothing may stand in the page itself: the policy refuses data addresses and inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // All styles are smaller than what it costs to ask for those of each part.
    cssCodeSplit: false,
    rolldownOptions: { output: { codeSplitting: { groups } } },
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
