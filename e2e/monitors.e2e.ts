import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { ask, breaches, conversationIds, holdBack, monitorId, open, origin } from './browser.ts'

type Named = { id: string; name: string }

/** Replaces the expression of a rule as a person does. */
const write = async (page: Page, expression: string) => {
  await page.getByRole('textbox', { name: 'Rule', exact: true }).click()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText(expression)
}

const monitorsOf = async () => (await ask<{ data: Named[] }>('GET', '/v1/monitors?limit=200')).data

it('lists monitors with rates that link to their conversations', async () => {
  const page = await open('/monitors', 'viewer')
  const row = page.getByRole('row', { name: /Tool failed/ })
  await row.getByText(/n = \d/).waitFor()
  expect(await page.getByRole('link', { name: 'Create monitor' }).count()).toBe(0)
  expect(await breaches(page)).toEqual([])
  await row.getByRole('link', { name: /n = \d/ }).click()
  await page.getByText(/conversations .*“?Tool failed/i).waitFor()
  await page.goBack()
  await page.getByRole('link', { name: 'Tool failed' }).click()
  await page.getByRole('heading', { level: 1, name: 'Tool failed' }).waitFor()
})

it('shows the rate as a chart and as a table, and keeps the period in the URL', async () => {
  const page = await open(`/monitors/${await monitorId('Asks for a person')}`, 'viewer', { theme: 'dark' })
  const chart = page.getByRole('group', { name: /Affected rate by day/ })
  await chart.waitFor()
  expect(await page.getByRole('button', { name: 'Disable' }).count()).toBe(0)
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Period: Last 30 days' }).click()
  await page.getByRole('button', { name: 'Last 7 days' }).click()
  await expect.poll(() => new URL(page.url()).searchParams.get('time')).toBe('last:7d')
  await page.reload()
  await chart.waitFor()
  await page.getByRole('button', { name: 'Period: Last 7 days' }).waitFor()
  const places = chart.locator('[tabindex="0"]')
  await places.first().focus()
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowLeft')
  await expect.poll(() => page.locator(':focus').getAttribute('aria-label')).toMatch(/95% interval .* n = \d/)
  await page.keyboard.press('Enter')
  await page.getByText(/conversations? .*Asks for a person/).waitFor()
  await page.goBack()
  await page.getByRole('button', { name: 'Show as table' }).first().click()
  const rows = page.getByRole('region', { name: /Affected rate by day.*table/ })
  await expect.poll(() => rows.getByRole('row').count()).toBe(9)
})

it('writes a rule with errors marked and a preview, then runs a backfill', async () => {
  const page = await open('/monitors', 'member')
  await page.getByRole('link', { name: 'Create monitor' }).click()
  await page.getByLabel('Name').fill('Says hello')
  await page.getByRole('radio', { name: 'Expression' }).click()
  const rule = page.getByRole('textbox', { name: 'Rule', exact: true })
  await write(page, "turns.bye('agent').mentions('hello')")
  await page.getByText(/column 1: there is no function bye; did you mean by\?/).waitFor()
  await expect.poll(() => page.locator('.cm-lintRange-error').textContent()).toBe('turns.bye')
  expect(await rule.getAttribute('aria-invalid')).toBe('true')
  expect(await breaches(page)).toEqual([])
  await write(page, "turns.by('agent').mentions('hello|hi ')")
  await page.getByText(/Latest 20 conversations:/).waitFor()
  expect(await page.getByRole('list', { name: 'Preview' }).getByRole('listitem').count()).toBe(20)
  await write(page, "turns.by('agent').mentions('hello|hi ') &&")
  await page.getByText('From the last valid definition').waitFor()
  expect(await breaches(page)).toEqual([])
  await write(page, "turns.by('agent').mentions('hello|hi ')")
  await page.getByText('From the last valid definition').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Create monitor' }).click()
  await page.getByRole('heading', { level: 1, name: 'Says hello' }).waitFor()

  await page.getByRole('tab', { name: 'Runs', selected: true }).waitFor()
  await page.getByText(/“Says hello” saved\. Evaluating [\d,]+ stored conversations\./).waitFor()
  const runs = page.getByRole('list', { name: 'Runs, newest first' })
  await runs.getByText('Completed').waitFor({ timeout: 30_000 })
  await page.getByRole('button', { name: 'Estimate cost' }).click()
  await page.getByText(/conversations in this period/).waitFor()
  await page.getByRole('button', { name: /^Evaluate [\d,]+ conversations$/ }).click()
  await expect.poll(() => runs.getByText('Completed').count(), { timeout: 30_000 }).toBe(2)
  await runs
    .getByText(/conversations scored/)
    .first()
    .waitFor()
  expect(await breaches(page)).toEqual([])
})

it('shows changed results before an edit is saved, and compares versions afterwards', async () => {
  const id = await monitorId('Left waiting')
  const page = await open(`/monitors/${id}/edit`, 'member', { theme: 'dark' })
  await page.getByText(/no results change/).waitFor()
  await page.getByRole('radio', { name: 'Expression' }).click()
  await write(page, 'conversation.durationSeconds > 1.0')
  await page.getByText(/\d+ to affected/).waitFor()
  expect(await breaches(page)).toEqual([])

  await page.getByRole('link', { name: 'Cancel' }).click()
  await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor()
  await page.getByRole('button', { name: 'Stay' }).click()
  await page.getByRole('button', { name: 'Save as version 2' }).click()
  await page.getByRole('tab', { name: 'Versions' }).click()
  const difference = page.getByRole('region', { name: 'Changes from version 1 to version 2' })
  await difference.getByText(/durationSeconds/).waitFor()
  expect(await breaches(page)).toEqual([])
})

it('says what to configure if there is no model, and keeps the input', async () => {
  const page = await open('/monitors/new?kind=judge', 'member')
  await page.getByLabel('Name').fill('Rude')
  await page.getByLabel('Criteria').fill('The agent is rude.')
  await page.getByRole('button', { name: 'Run preview on 20 conversations' }).click()
  await page
    .getByRole('alert')
    .getByText(/EARSHOT_JUDGE_MODEL/)
    .waitFor()
  await page.getByRole('button', { name: 'Create monitor' }).click()
  await expect
    .poll(() =>
      page
        .getByRole('alert')
        .getByText(/EARSHOT_JUDGE_MODEL/)
        .count(),
    )
    .toBe(2)
  expect(await page.getByLabel('Criteria').inputValue()).toBe('The agent is rude.')
  await page.getByRole('radio', { name: 'Score', exact: true }).check({ force: true })
  await page.getByLabel('Affected if the score is').waitFor()
  await page.getByRole('radio', { name: 'Yes or no' }).check({ force: true })

  const [conversationId] = await conversationIds(1)
  const tried = {
    conversationId,
    asked: true,
    status: 'scored',
    result: 'affected',
    score: null,
    stored: null,
    reasoning: 'It swears.',
    evidence: [{ turn: 0, quote: 'Damn.' }],
    judgment: null,
    flips: false,
  }
  const summary = {
    affected: 1,
    notAffected: 0,
    unscored: 0,
    failed: 0,
    notAsked: 0,
    tokens: { input: 900, output: 100 },
    cost: 0.002,
    flips: { toAffected: 0, toNotAffected: 0, toUnscored: 0 },
    people: { judged: 0, agreeBefore: 0, agreeNow: 0 },
  }
  await page.route('**/v1/monitors/test', (route) => route.fulfill({ json: { data: [tried], summary } }))
  await page.keyboard.press('Control+Enter')
  await page.getByText('It swears.').waitFor()
  await page.getByText(/Used 1,000 tokens \(\$0\.002\)/).waitFor()
  await page.getByLabel('Criteria').fill('The agent is rude, or swears.')
  await page.getByText('Out of date: the definition has changed').waitFor()
  expect(await breaches(page)).toEqual([])
})

it('shows external results and reviewer agreement, and deletes only after typing the name', async () => {
  const hostile = '<img src=x onerror="document.title=\'run\'"><script>document.title="run"</script>'
  const { id } = await ask<Named>('POST', '/v1/monitors', { name: `Mine ${hostile}`, kind: 'external', definition: {} })
  const ids = await conversationIds(12)
  await ask('POST', '/v1/monitor-results', {
    results: ids.map((conversationId, at) => ({
      monitorId: id,
      conversationId,
      result: at % 3 === 0 ? 'affected' : 'not_affected',
      reasoning: `Because ${hostile}`,
      evidence: [{ turn: 0, quote: hostile }],
    })),
  })
  for (const [at, conversationId] of ids.entries())
    await ask('POST', '/v1/reviews', {
      conversationId,
      status: 'completed',
      judgments: [{ monitorId: id, correctResult: at % 4 === 0 ? 'affected' : 'not_affected' }],
    })
  const page = await open(`/monitors/${id}`, 'member')
  await page
    .getByText(/^Because <img/)
    .first()
    .waitFor()
  expect(await page.locator('main img').count()).toBe(0)
  expect(await page.title()).toContain('Mine <img')
  await page.getByRole('tab', { name: 'Agreement with reviewers' }).click()
  await page
    .getByRole('region', { name: 'Agreement by version' })
    .getByText(/n = 12/)
    .first()
    .waitFor()
  await page.getByRole('row', { name: /Monitor: affected/ }).waitFor()
  expect(await breaches(page)).toEqual([])

  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete monitor' }).click()
  const remove = page.getByRole('button', { name: 'Delete monitor' })
  expect(await remove.isDisabled()).toBe(true)
  await page.getByRole('dialog').getByRole('textbox').fill(`Mine ${hostile}`)
  await remove.click()
  await page.getByRole('heading', { level: 1, name: 'Monitors' }).waitFor()
  expect((await monitorsOf()).some((monitor) => monitor.id === id)).toBe(false)
})

it('marks spikes on the chart, and shows the rate corrected by reviews', async () => {
  const id = await monitorId('Tool failed')
  const finding = await ask<Named>('POST', '/v1/findings', { title: 'From 4% to 12%' })
  const page = await open('/monitors', 'viewer')
  await page.route(`**/monitors/${id}/trend?*`, async (route) => {
    const trend = await (await route.fetch()).json()
    await route.fulfill({
      json: { ...trend, corrected: { reviewed: 60, shareReviewed: 0.04, rate: 0.051, low: 0.03, high: 0.08 } },
    })
  })
  await page.route('**/v1/findings?*monitorId=*', async (route) => {
    const createdAt = new Date(Date.now() - 5 * 86_400_000).toISOString()
    await route.fulfill({ json: { data: [{ ...finding, createdAt }], nextCursor: null } })
  })
  await page.getByRole('link', { name: 'Tool failed' }).click()
  await page.waitForURL(`**/monitors/${id}`)
  await page.getByText('Corrected by reviews').waitFor()
  await page.getByText('5.10% · 3.00–8.00% · n = 60').waitFor()
  expect(await breaches(page)).toEqual([])
  // Results from other tests make the page request its trend again.
  await page.unrouteAll({ behavior: 'wait' })
  await page.getByRole('link', { name: 'Spike: From 4% to 12%' }).click()
  await page.waitForURL(`**/findings/${finding.id}`)
})

it('reserves space for charts, so that nothing moves when they load', async () => {
  const page = await open('/sign-in', 'viewer')
  const { settled, letGo } = await holdBack(page, /\/trend\?/)
  await page.goto(`${origin}/monitors/${await monitorId('Tool failed')}`)
  const tab = page.getByRole('tab', { name: 'Runs' })
  await tab.waitFor()
  await settled()
  const before = await tab.boundingBox()
  letGo()
  await page.getByRole('group', { name: /Affected rate by day/ }).waitFor()
  expect((await tab.boundingBox())?.y).toBeCloseTo(before?.y ?? Number.NaN, 0)
})

it('shows a run in progress, cancels it, and resumes it', async () => {
  const id = await monitorId('Slow to answer')
  const page = await open('/monitors', 'member')
  const run = {
    id: id.replace(/^./, 'f'),
    kind: 'backfill',
    status: 'running',
    total: 200,
    scored: 80,
    unscored: 10,
    failed: 10,
    createdAt: new Date().toISOString(),
    startedAt: null,
    finishedAt: null,
    monitorId: id,
    monitorVersion: 1,
    since: '2026-01-01T00:00:00Z',
    until: '2026-02-01T00:00:00Z',
    filter: {},
    failure: null,
  }
  await page.route('**/evaluations?*', (route) => route.fulfill({ json: { data: [run], nextCursor: null } }))
  await page.route('**/evaluations/*/*', (route) => {
    run.status = route.request().url().endsWith('cancel') ? 'cancelled' : 'queued'
    return route.fulfill({ json: run })
  })
  await page.getByRole('link', { name: 'Slow to answer' }).click()
  await page.getByRole('tab', { name: 'Runs' }).click()
  await page.getByText('100 of 200 · 50%').waitFor()
  expect(await breaches(page)).toEqual([])
  await page.getByRole('button', { name: 'Cancel run' }).click()
  await page.getByRole('button', { name: 'Resume run' }).click()
  await page.getByText('Queued').waitFor()
})

it('offers a batch with its cost, and shows its progress', async () => {
  const id = await monitorId('Slow to answer')
  const page = await open('/monitors', 'member')
  const tokens = { input: 40_000, output: 4_000 }
  const estimate = {
    conversations: 40,
    answered: 0,
    tokens,
    cost: 3,
    batch: { cost: 1.5 },
    basis: 'results',
    budgetLeft: null,
  }
  const now = new Date().toISOString()
  const run = {
    id: id.replace(/^./, 'e'),
    kind: 'backfill',
    status: 'running',
    total: 40,
    scored: 0,
    unscored: 0,
    failed: 0,
    createdAt: now,
    startedAt: now,
    finishedAt: null,
    monitorId: id,
    monitorVersion: 1,
    since: '2026-01-01T00:00:00Z',
    until: '2026-02-01T00:00:00Z',
    filter: {},
    mode: 'batch',
    batch: { status: 'submitted', requests: 40, answered: 10, failed: 0, expiresAt: now },
    failure: null,
  }
  let mode: string | undefined
  await page.route('**/evaluations?*', (route) =>
    route.fulfill({ json: { data: mode === undefined ? [] : [run], nextCursor: null } }),
  )
  await page.route('**/evaluations', (route) => {
    const body = route.request().postDataJSON()
    if (body.dryRun) return route.fulfill({ json: estimate })
    mode = body.mode
    return route.fulfill({ status: 202, json: run })
  })
  await page.getByRole('link', { name: 'Slow to answer' }).click()
  await page.getByRole('tab', { name: 'Runs' }).click()
  await page.getByRole('button', { name: 'Estimate cost' }).click()
  await page.getByText(/about \$3\.00/).waitFor()
  await page.getByRole('button', { name: 'Evaluate within 24 hours for about $1.50' }).click()
  await page.getByText(/The provider is answering a batch/).waitFor()
  await page.getByText('10 of 40 · 25%').waitFor()
  expect(mode).toBe('batch')
  expect(await breaches(page)).toEqual([])
})

it('fits 320 pixels', async () => {
  const page = await open('/monitors', 'member', { viewport: { width: 320, height: 700 } })
  const isTooWide = () => page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')
  await page
    .getByRole('row', { name: /Tool failed/ })
    .getByText(/n = \d/)
    .waitFor()
  expect(await isTooWide()).toBe(false)
  await page.getByRole('link', { name: 'Tool failed' }).click()
  await page.getByRole('group', { name: /Affected rate by day/ }).waitFor()
  expect(await isTooWide()).toBe(false)
  expect(await breaches(page)).toEqual([])
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByText(/Latest 200 conversations: \d/).waitFor()
  expect(await isTooWide()).toBe(false)
})

it('creates a monitor from a template with results of stored calls, in at most 6 actions and 5 seconds', async () => {
  const page = await open('/monitors', 'member')
  let actions = 0
  const act = async (doing: Promise<void>) => {
    actions++
    await doing
  }
  await act(page.getByRole('link', { name: 'Templates' }).click())
  await page.getByRole('heading', { level: 3, name: 'Long silence' }).waitFor()
  expect(await breaches(page)).toEqual([])
  await act(page.getByLabel('Search').fill('monologue'))
  await page.getByRole('heading', { level: 3, name: 'Long silence' }).waitFor({ state: 'detached' })
  expect(new URL(page.url()).searchParams.get('q')).toBe('monologue')
  const started = performance.now()
  await act(page.getByRole('button', { name: 'Install: Monologue' }).click())
  await page.getByRole('heading', { level: 1, name: 'Monologue' }).waitFor()
  await expect
    .poll(async () => {
      const { data } = await ask<{ data: { status: string }[] }>(
        'GET',
        `/v1/monitors/${new URL(page.url()).pathname.split('/').at(-1)}/evaluations`,
      )
      return data[0]?.status
    })
    .toBe('completed')
  await page
    .getByText(/Completed/)
    .first()
    .waitFor()
  expect(performance.now() - started).toBeLessThan(5_000)
  expect(actions).toBeLessThanOrEqual(6)
})

it('opens a template in the form to change it first', async () => {
  const page = await open('/monitors/templates?q=asks for a person', 'member')
  await page.getByText('Definition and examples of Asks for a person', { exact: true }).click()
  await page.getByText('I want to speak to a person.').waitFor()
  await page.getByRole('link', { name: 'Customize: Asks for a person', exact: true }).click()
  await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Asks for a person')
  await page.getByText(/Latest 20 conversations: \d/).waitFor()
})

it('shows viewers the templates without installing them', async () => {
  const page = await open('/monitors/templates?words=any', 'viewer')
  await page.getByRole('heading', { level: 3, name: 'Long silence' }).waitFor()
  expect(await page.getByRole('button', { name: /^Install/ }).count()).toBe(0)
  await page.getByLabel('Search').fill('nothing like this')
  await page.getByRole('heading', { name: 'No template matches' }).waitFor()
})

it('writes a rule as conditions, and reads them back', async () => {
  const page = await open('/monitors/new', 'member')
  await page.getByLabel('Name', { exact: true }).fill('Wants a supervisor, by condition')
  await page.getByRole('button', { name: 'Create monitor' }).click()
  await page.getByText('Add at least one complete condition.').waitFor()
  await page.getByRole('button', { name: 'Someone says…' }).click()
  const first = page.getByRole('listitem', { name: 'Condition 1' })
  await first.getByLabel('Words or phrases, separated by commas').fill('supervisor, your manager')
  await page.getByText(/Latest 20 conversations: /).waitFor()
  await page.getByRole('button', { name: 'Duration', exact: true }).click()
  const second = page.getByRole('listitem', { name: 'Condition 2' })
  await second.getByLabel('If or if not').selectOption('not')
  await second.getByLabel('Value in seconds').fill('')
  await page.getByRole('button', { name: 'Create monitor' }).click()
  await page.getByText('Complete or remove condition 2.').waitFor()
  await second.getByLabel('Value in seconds').fill('7200')
  expect(await breaches(page)).toEqual([])
  await page.getByRole('radio', { name: 'Expression' }).click()
  const rule = page.getByRole('textbox', { name: 'Rule', exact: true })
  await expect
    .poll(async () => (await rule.locator('.cm-line').allTextContents()).join('\n'))
    .toBe("turns.by('customer').mentions('supervisor|your manager')\n  && !(conversation.durationSeconds > 7200)")
  await page.getByRole('radio', { name: 'Conditions' }).click()
  expect(await second.getByLabel('Value in seconds').inputValue()).toBe('7200')
  await page.getByRole('button', { name: 'Remove condition 2' }).click()
  await page.getByRole('button', { name: 'Create monitor' }).click()
  await page.getByRole('heading', { level: 1, name: 'Wants a supervisor, by condition' }).waitFor()
  await page.getByRole('link', { name: 'Edit' }).click()
  await expect
    .poll(() => first.getByLabel('Words or phrases, separated by commas').inputValue())
    .toBe('supervisor, your manager')
})

it('completes names in a rule by keyboard, and explains them', async () => {
  const page = await open('/monitors/new', 'member', { theme: 'dark' })
  await page.getByRole('radio', { name: 'Expression' }).click()
  const rule = page.getByRole('textbox', { name: 'Rule', exact: true })
  await rule.click()
  await page.keyboard.type('signals.toolF')
  await page.getByRole('option', { name: /^toolFailures/ }).waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.type(' > 0')
  await page.getByText(/Latest 20 conversations: /).waitFor()
  expect(await rule.textContent()).toBe('signals.toolFailures > 0')
  await rule.locator('.cm-line').hover({ position: { x: 110, y: 10 } })
  await page.getByText('Failed tool calls').waitFor()
  expect(await breaches(page)).toEqual([])
  await page.keyboard.press('Tab')
  await expect.poll(() => page.locator('.cm-content:focus').getAttribute('aria-label')).toBe('Score (optional)')
})
