import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { consoleFonts } from './tools/console-fonts.ts'
import { consolePages } from './tools/console-pages.ts'

/**
 * The files that a page loads. Modules that are used together share a file, because each file costs a request, and
 * everything in a file is sent even if the page does not use it. What a module imports belongs to its group, unless an
 * earlier group has it.
 */
const groups = [
  // This file is as large as all others together, so it arrives at the same time as they do.
  { name: 'react', test: /node_modules\/(react|react-dom|scheduler)\// },
  {
    name: 'base',
    test: /node_modules\/(@tanstack\/(?!react-virtual|virtual-core)[^/]+|@base-ui\/react\/(csp-provider|internals\/csp-context))\//,
  },
  {
    name: 'parts',
    // Only the editor of findings uses the icons that are left out.
    test: /node_modules\/lucide-react\/(?!dist\/esm\/icons\/(bold|code|italic|link|list|list-ordered)\.)|console\/(api|lib\/(?!password|difference)|filters\/(range-search|periods)|monitors\/figures|exports\/formats|(?!companies\/queries|export-schedules|review\/queries)[^/]+\/(queries|words|count)\.)/,
  },
  {
    name: 'controls',
    test: /console\/ui\/(announce|badge|button|controls|copy|dialog\.|estimate|keys|lazy|leave|menu|missing|page|progress|render-later|split|states|tabs|time|use)/,
  },
  {
    name: 'charts',
    test: /console\/ui\/charts\/(?!band-line|confusion|day-bars|interval-plot|result-styles|verticals)/,
  },
  { name: 'table', test: /console\/ui\/(list-table|table)\./ },
  { name: 'long-table', test: /console\/(ui\/long-table|conversations\/tags\.module)\./ },
  {
    name: 'filters',
    test: /console\/(filters\/(filter-bar|filter-chips|phrase|conditions)|conversations\/signal-names)/,
  },
  { name: 'range', test: /console\/filters\/(range(-picker)?|use-range)\./ },
  { name: 'form', test: /console\/(ui\/form|settings\/(transcription-fields|models\/model-chooser))\./ },
  {
    name: 'monitor-form',
    test: /console\/monitors\/(draft|definition-text|removable-row|template-queries|small-backfill)\./,
  },
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
    // The content security policy forbids data URLs and inline scripts, so nothing may be inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // All styles together are so small that requesting parts of them separately would cost more.
    cssCodeSplit: false,
    rolldownOptions: { output: { codeSplitting: { groups } } },
    // The largest file is the list of common passwords, which only loads when someone chooses a password.
    chunkSizeWarningLimit: 1_250,
  },
  server: {
    port: 5173,
    proxy: Object.fromEntries(
      ['/v1', '/auth', '/files', '/docs', '/openapi.json'].map((path) => [
        path,
        // The service compares the requested host with the origin of the page, so the proxy must not change it.
        { target: `http://127.0.0.1:${process.env.PORT ?? 4000}`, changeOrigin: false },
      ]),
    ),
  },
}))
