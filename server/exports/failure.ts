import type { ErrorCode } from './queries.ts'

const sentences: Record<ErrorCode, string> = {
  too_many_calls: 'More than 100,000 conversations match.',
  generation_failed: 'The export could not be generated.',
  storage_unavailable: 'The file storage was unavailable.',
  timed_out: 'The export timed out.',
  cancelled: 'The export was cancelled.',
}

/** Explains in one sentence why an export failed. */
export const explainFailure = (errorCode: string | null): string =>
  sentences[errorCode as ErrorCode] ?? 'The export ended without a file.'
