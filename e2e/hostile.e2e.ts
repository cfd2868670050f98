// Tests that pages display untrusted text as text, no matter what it contains.

import { expect, it } from 'vitest'
import { ask, open, origin, quiet } from './browser.ts'

const payload = `"><img src=x onerror="window.hit=1"><script>window.hit=1</script><svg onload=window.hit=1>{{7*7}}javascript:window.hit=1`

const plant = async () => {
  const company = await ask<{ id: string }>('POST', '/v1/companies', { name: `C ${payload}` })
  const agent = await ask<{ id: string }>('POST', '/v1/agents', { name: `A ${payload}`, channel: 'voice' })
  const { id: versionId } = await ask<{ id: string }>('POST', `/v1/agents/${agent.id}/versions`, {
    systemPrompt: payload,
    label: 'hostile',
  })
  const monitor = await ask<{ id: string }>('POST', '/v1/monitors', {
    name: `M ${payload}`,
    description: payload,
    kind: 'external',
    definition: {},
  })
  const conversation = await ask<{ id: string }>('POST', '/v1/conversations', {
    agentId: agent.id,
    agentVersionId: versionId,
    companyId: company.id,
    channel: 'chat',
    startedAt: new Date().toISOString(),
    customerId: payload.slice(0, 200),
    endReason: payload.slice(0, 200),
    metadata: { [payload.slice(0, 100)]: payload, nested: { deep: [payload] } },
    transcript: [
      { role: 'agent', text: payload },
      { role: 'customer', text: payload },
      { role: 'tool', kind: 'tool_call', tool: { name: payload, arguments: { value: payload } } },
    ],
    metrics: [{ key: 'csat', value: payload, comment: payload }],
  })
  await ask('POST', '/v1/monitor-results', {
    results: [
      {
        conversationId: conversation.id,
        monitorId: monitor.id,
        result: 'affected',
        reasoning: payload,
        evidence: [{ turn: 0, quote: payload }],
      },
    ],
  })
  const text = { type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: payload }] }] }
  const finding = await ask<{ id: string }>('POST', '/v1/findings', {
    title: `F ${payload}`,
    description: text,
    tags: [payload.slice(0, 50)],
  })
  await ask('POST', `/v1/findings/${finding.id}/conversations`, { conversationId: conversation.id })
  await ask('POST', `/v1/findings/${finding.id}/comments`, { body: text })
  const bucket = await ask<{ id: string }>('POST', '/v1/buckets', {
    name: `B ${payload}`,
    type: 'static',
    monitorIds: [monitor.id],
  })
  await ask('POST', `/v1/buckets/${bucket.id}/conversations`, { conversationIds: [conversation.id] })
  await ask('POST', '/v1/saved-views', {
    name: `V ${payload}`.slice(0, 255),
    filter: { customerId: payload.slice(0, 200) },
  })
  return { company, agent, monitor, conversation, finding, bucket }
}

it('never runs scripts in stored text', async () => {
  const { company, agent, monitor, conversation, finding, bucket } = await plant()
  const places = [
    `/conversations?filter=${encodeURIComponent(JSON.stringify({ agentIds: [agent.id] }))}&open=${conversation.id}`,
    `/conversations/${conversation.id}`,
    `/agents/${agent.id}`,
    `/companies/${company.id}`,
    '/companies',
    '/agents',
    '/monitors',
    `/monitors/${monitor.id}`,
    `/monitors/${monitor.id}/edit`,
    '/findings',
    '/findings?layout=list',
    `/findings/${finding.id}`,
    '/buckets',
    `/buckets/${bucket.id}`,
    `/review/${bucket.id}`,
    '/review',
    '/',
    '/exports/new',
    '/experiments/new',
    '/settings/audit-log',
  ]
  const page = await open('/', 'owner')
  for (const place of places) {
    await page.goto(origin + place)
    await quiet(page)
    expect(await page.evaluate('window.hit'), place).toBeUndefined()
    expect(await page.locator('img[src=x], svg[onload]').count(), place).toBe(0)
  }
  await page.goto(`${origin}/conversations/${conversation.id}`)
  // The payload is shown completely, as text.
  await page.getByText(payload).first().waitFor()
}, 180_000)
