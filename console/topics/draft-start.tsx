import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Await } from '../ui/states.tsx'
import { draftOptions } from './topic-queries.ts'

type Draft = Awaited<ReturnType<NonNullable<ReturnType<typeof draftOptions>['queryFn']>>>

/** Loads a draft of a monitor that finds a topic's conversations. */
export const DraftStart = ({ id, children }: { id: string; children: (draft: Draft) => ReactNode }) => (
  <Await query={useQuery(draftOptions(id))} lines={8}>
    {children}
  </Await>
)
