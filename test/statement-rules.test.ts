import { loadModule } from 'libpg-query'
import { expect, it } from 'vitest'
import { brokenRules } from './statement-rules.ts'

await loadModule()
const isImmutable = (name: string) => !['gen_random_uuid', 'jsonb_build_object', 'now'].includes(name)
const broken = (text: string) => brokenRules(text, isImmutable)

it.each([
  'SELECT 1 FROM conversations c WHERE c.organization_id = $1 AND EXISTS (SELECT FROM recordings r WHERE r.organization_id = $1)',
  'SELECT 1 FROM conversations c LEFT JOIN recordings r ON r.organization_id = c.organization_id WHERE c.organization_id = $1',
  'SELECT 1 FROM members m JOIN organizations o ON o.id = m.organization_id WHERE o.id = $1',
  'SELECT 1 FROM (SELECT * FROM monitors WHERE organization_id = $1::uuid) m WHERE enabled',
  'WITH m AS (SELECT id FROM monitors WHERE organization_id = $1 FOR UPDATE) DELETE FROM monitors USING m WHERE organization_id = $1 AND monitors.id = m.id',
  'INSERT INTO recordings (organization_id, updated_at) SELECT $1::uuid, now() FROM unnest($2::uuid[]) ON CONFLICT DO NOTHING',
  'INSERT INTO recordings (organization_id) VALUES ($1) ON CONFLICT ON CONSTRAINT recordings_pkey DO UPDATE SET updated_at = excluded.updated_at',
  'UPDATE monitors SET updated_at = now() WHERE organization_id = $1 RETURNING id',
  // Sweeps query every shard.
  'SELECT organization_id, id FROM mails WHERE created_at < $1 ORDER BY created_at LIMIT 100',
  // The coordinator runs this statement.
  'SELECT id FROM jobs FOR UPDATE SKIP LOCKED',
])('allows %s', (text) => {
  expect(broken(text)).toEqual([])
})

it.each([
  [
    'compares recordings r with no organization',
    'SELECT 1 FROM conversations c WHERE c.organization_id = $1 AND EXISTS (SELECT FROM recordings r WHERE r.organization_id = c.organization_id)',
  ],
  [
    'compares recordings r with no organization',
    'SELECT 1 FROM conversations c LEFT JOIN recordings r ON r.conversation_id = c.id WHERE c.organization_id = $1',
  ],
  [
    'compares monitors with no organization',
    'SELECT 1 FROM mails WHERE organization_id = $1 UNION ALL SELECT 1 FROM monitors',
  ],
  [
    'compares monitors with no organization',
    'SELECT 1 FROM mails WHERE organization_id = $1 AND (SELECT true FROM monitors WHERE organization_id = $1 OR enabled)',
  ],
  [
    'compares monitors with no organization',
    'WITH m AS (SELECT id FROM monitors) DELETE FROM mails USING m WHERE organization_id = $1',
  ],
  ['locks rows across shards', 'SELECT id FROM mails WHERE created_at < $1 FOR UPDATE SKIP LOCKED'],
  ['locks rows of integrations', 'SELECT id FROM integrations WHERE organization_id = $1 FOR KEY SHARE'],
  [
    'locks rows of users',
    'SELECT 1 FROM members m JOIN users u ON u.id = m.user_id WHERE m.organization_id = $1 FOR UPDATE',
  ],
  [
    'calls now in DO UPDATE SET',
    'INSERT INTO recordings (organization_id) VALUES ($1) ON CONFLICT ON CONSTRAINT recordings_pkey DO UPDATE SET updated_at = now()',
  ],
  [
    'calls jsonb_build_object in RETURNING',
    "UPDATE organizations SET name = $1 WHERE id = $2 RETURNING jsonb_build_object('monitors', monitors)",
  ],
  [
    'calls now in CASE or COALESCE of a change',
    'UPDATE organizations SET suspended_at = coalesce(suspended_at, now()) WHERE id = $1',
  ],
  [
    'calls gen_random_uuid in CASE or COALESCE of a change',
    'INSERT INTO mails (organization_id, id) VALUES ($1, CASE WHEN $2 THEN gen_random_uuid() END)',
  ],
])('finds what %s', (rule, text) => {
  expect(broken(text)).toContain(rule)
})
