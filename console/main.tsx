import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Fault } from './api/fault.ts'
import { queryClient } from './api/queries.ts'
import { applyTheme } from './layout/theme.ts'
import { router } from './routes.tsx'
import { Announcements } from './ui/announce.tsx'
import './ui/base.css'
import { Keys } from './ui/keys.tsx'

applyTheme()

const root = document.getElementById('root')
if (root) {
  createRoot(root, {
    // The page itself shows rejected requests. Everything else is a bug.
    onCaughtError: (error) => error instanceof Fault || console.error(error),
  }).render(
    <StrictMode>
      {/* The content security policy forbids inline styles. */}
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={queryClient}>
          <Keys>
            <RouterProvider router={router} />
          </Keys>
          <Announcements />
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>,
  )
}
