import { compareTexts } from '../../embeddings/compare-texts.ts'
import { defaultMinimumSimilarity } from '../../embeddings/search.ts'
import type { OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, NoQuery } from '../../platform/http/schemas.ts'
import { checkRichText, type RichText } from '../../rich-text/check.ts'
import { plainText } from '../../rich-text/plain-text.ts'
import { shown } from '../announce.ts'
import { getFinding } from '../queries.ts'
import { listOpenHashes, listTexts } from './queries.ts'
import { FindingDraft, SimilarFindings } from './schema.ts'

/** The maximum number of findings to compare: the newest open ones. */
const mostCompared = 500
const mostShown = 5

type Described = { title: string; description: RichText | null }

const textOf = ({ title, description }: Described): string =>
  [title, ...(description ? [plainText(description)] : [])].join('\n')

export const similarFindings = (app: App, deps: Deps): void => {
  const { db } = deps

  const findSimilar = async (org: OrgId, draft: Described) => {
    const others = await listOpenHashes(db, org, mostCompared)
    const readTexts = async (ids: string[]) =>
      new Map((await listTexts(db, org, ids)).map((finding) => [finding.id, textOf(finding)]))
    const similarities = await compareTexts(deps, org, textOf(draft), { others, readTexts })
    return others
      .map(({ id }, at) => ({ id, similarity: similarities[at] ?? 0 }))
      .filter(({ similarity }) => similarity >= defaultMinimumSimilarity)
      .sort((a, b) => b.similarity - a.similarity)
      .slice(0, mostShown)
  }

  app.post(
    '/v1/findings/similar',
    {
      config: { access: { role: 'viewer' }, unaudited: 'It only reads.' },
      schema: {
        tags: ['Findings'],
        operationId: 'findSimilarFindings',
        summary: 'Find similar findings',
        description:
          'Compares the meaning of a title and description with those of the 500 newest open and acknowledged ' +
          'findings, for example before you create a finding. Read-only and safe to repeat. Returns 503 if search by ' +
          'meaning is disabled.',
        querystring: NoQuery,
        body: FindingDraft,
        response: answers({ 200: SimilarFindings }, 400, 401),
      },
    },
    async ({ actor, body }) => {
      const { title, description: given } = body
      const description = given ? checkRichText(given, 'description') : null
      const similar = await findSimilar(actor.org, { title, description })
      const data = similar.map(async ({ id, similarity }) => ({
        finding: shown(await getFinding(db, actor.org, id)),
        similarity,
      }))
      return { data: await Promise.all(data) }
    },
  )
}
