import { monthOf } from '../organizations/spending/month.ts'
import { addSpending } from '../organizations/spending/queries.ts'
import { recordAudit } from '../platform/audit/record.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError, invalidAll } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import { newId } from '../platform/ids.ts'
import { instanceFault } from './instance.ts'
import { mostModels, openModelLists } from './list-models.ts'
import { findPrice, priceTable } from './prices.ts'
import {
  clearDefaultProvider,
  deleteProvider,
  getProvider,
  getSealedProvider,
  insertProvider,
  listProviders,
  listSealedProviders,
  lockProvider,
  lockProviders,
  removeFallback,
  type StoredLimits,
  updateProvider,
} from './queries.ts'
import {
  InstanceProvider,
  ModelChoices,
  ModelProvider,
  OfferedModels,
  ProviderCreate,
  ProviderTest,
  ProviderUpdate,
  TestResult,
} from './schema.ts'
import { addressOf, checkSettings, openKeys, sealKeys } from './settings.ts'
import { shownInstance, shownPrice, shownProvider } from './shown.ts'
import { testProvider } from './try-provider.ts'

const tags = ['Models']
const mostProviders = 50
/** The maximum number of models to list for all providers of an organization. */
const mostChoices = 5_000

const target = (id: string) => ({ type: 'modelProvider', id })

type GivenLimits = { [Name in keyof StoredLimits]?: number | null | undefined }

/** Removes limits that are null, which means the same as missing. */
const withoutNulls = (limits: GivenLimits): StoredLimits =>
  Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null && value !== undefined))

/** Throws if a fallback does not exist, or if it is the provider itself. */
const checkFallbacks = (given: string[] | undefined, existing: string[], own?: string): string[] | undefined => {
  const ids = given?.map((id) => id.toLowerCase())
  const issues = (ids ?? []).flatMap((id, index) => {
    const path = `fallbackProviderIds[${index}]`
    if (id === own) return [{ path, message: 'is the provider itself' }]
    return existing.includes(id) ? [] : [{ path, message: 'is not a model provider of your organization' }]
  })
  if (issues.length > 0) throw invalidAll(issues)
  return ids
}

export const modelProviders = (app: App, deps: Deps): void => {
  const { db, secrets, clock, config, reactions } = deps
  const { allowedPrivateAddresses } = config
  const listModels = openModelLists(deps)

  app.get(
    '/v1/model-providers',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'listModelProviders',
        summary: 'List model providers',
        description: 'Newest first. Keys are masked. The operator’s own endpoint is not included.',
        querystring: PageQuery,
        response: answers({ 200: Page(ModelProvider) }, 401, 403),
      },
    },
    async ({ actor, query }) => {
      const { data, nextCursor } = await app.paging.page(
        query,
        ['model-providers', actor.org],
        (page) => listProviders(db, actor.org, page),
        ({ id }) => id,
      )
      return { data: await Promise.all(data.map((provider) => shownProvider(provider, config))), nextCursor }
    },
  )

  app.post(
    '/v1/model-providers',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'createModelProvider',
        summary: 'Create a model provider',
        description:
          'Judges use the provider’s models. An organization can have 50 providers. Keys are stored encrypted and ' +
          'never returned. After creating one, send a test to check its settings.',
        querystring: NoQuery,
        body: ProviderCreate,
        response: answers({ 201: ModelProvider }, 400, 401, 403, 409),
      },
    },
    async ({ actor, body }, reply) => {
      const { name, kind, limits = {}, prices = {} } = body
      const { settings, keys } = checkSettings(kind, body.settings, { allowedPrivateAddresses })
      const id = newId()
      const provider = await db.transaction().execute(async (trx) => {
        const existing = await lockProviders(trx, actor.org)
        if (existing.length >= mostProviders) {
          throw new ApiError('conflict', `An organization can have ${mostProviders} model providers. Delete one first.`)
        }
        const isFirst = existing.length === 0 && instanceFault(config.judge, undefined) !== undefined
        const { isDefault = isFirst } = body
        if (isDefault) await clearDefaultProvider(trx, actor.org)
        const created = await insertProvider(trx, actor.org, {
          id,
          name,
          kind,
          settings,
          secret: sealKeys(secrets, actor.org, id, keys),
          isDefault,
          limits: withoutNulls(limits),
          prices,
          fallbackProviderIds: checkFallbacks(body.fallbackProviderIds, existing) ?? [],
          createdByUserId: actor.userId,
          now: clock.now(),
        })
        await recordAudit(trx, actor, 'modelProvider.create', target(id))
        return created
      })
      return reply
        .code(201)
        .header('location', `/v1/model-providers/${id}`)
        .send(await shownProvider(provider, config))
    },
  )

  app.get(
    '/v1/model-providers/instance',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'getInstanceModelProvider',
        summary: 'Get the operator’s model endpoint',
        description:
          'The operator configures it with `EARSHOT_JUDGE_…` variables. Judges use it unless they choose a provider ' +
          'or the organization has a default provider.',
        querystring: NoQuery,
        response: answers({ 200: InstanceProvider }, 401, 403),
      },
    },
    async ({ actor }) => {
      const all = await listSealedProviders(db, actor.org)
      return shownInstance(
        config,
        all.some(({ isDefault }) => isDefault),
      )
    },
  )

  app.get(
    '/v1/model-providers/:id',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'getModelProvider',
        summary: 'Get a model provider',
        description: '`failingSince` shows whether the provider responds. Keys are masked.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: ModelProvider }, 401, 403, 404),
      },
    },
    async ({ actor, params }) => shownProvider(await getProvider(db, actor.org, params.id), config),
  )

  app.patch(
    '/v1/model-providers/:id',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'updateModelProvider',
        summary: 'Update a model provider',
        description:
          'A provider’s kind cannot change. Changes apply to the next request of every process. With `isDefault`, ' +
          'the provider replaces the current default.',
        params: IdParams,
        querystring: NoQuery,
        body: ProviderUpdate,
        response: answers({ 200: ModelProvider }, 400, 401, 403, 404, 409),
      },
    },
    ({ actor, params, body }) =>
      db.transaction().execute(async (trx) => {
        const existing = await lockProviders(trx, actor.org)
        const stored = await lockProvider(trx, actor.org, params.id)
        const { id, kind } = stored
        const { name, settings: given, isDefault, limits, prices, status } = body
        const change: Parameters<typeof updateProvider>[3] = { name, isDefault, prices, status }
        if (given !== undefined) {
          const before = { settings: stored.settings, keys: openKeys(secrets, actor.org, stored) }
          const { settings, keys } = checkSettings(kind, given, { allowedPrivateAddresses, stored: before })
          change.settings = { shown: settings, secret: sealKeys(secrets, actor.org, id, keys) }
        }
        if (limits) change.limits = withoutNulls(limits)
        change.fallbackProviderIds = checkFallbacks(body.fallbackProviderIds, existing, id)
        if (isDefault) await clearDefaultProvider(trx, actor.org)
        const changed = await updateProvider(trx, actor.org, id, change, clock.now())
        if (addressOf(kind, stored.settings) !== addressOf(kind, changed.settings)) {
          await reactions.modelProviderMoved(trx, actor.org, { providerId: id })
        }
        await recordAudit(trx, actor, 'modelProvider.update', target(id))
        return shownProvider(changed, config)
      }),
  )

  app.delete(
    '/v1/model-providers/:id',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'deleteModelProvider',
        summary: 'Delete a model provider',
        description:
          'Also removes the provider from other providers’ fallbacks. Returns 409 with the names of monitors that ' +
          'use the provider. For the default provider, this includes monitors without a model.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404, 409),
      },
    },
    async ({ actor, params }, reply) => {
      await db.transaction().execute(async (trx) => {
        await lockProviders(trx, actor.org)
        const { id, name, isDefault } = await lockProvider(trx, actor.org, params.id)
        await reactions.modelProviderDeleted(trx, actor.org, { providerId: id, name, isDefault })
        await removeFallback(trx, actor.org, id, clock.now())
        await deleteProvider(trx, actor.org, id)
        await recordAudit(trx, actor, 'modelProvider.delete', target(id))
      })
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/v1/model-providers/:id/test',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'testModelProvider',
        summary: 'Test a model provider',
        description:
          'Sends a tiny request to the model. The response says whether judges can use the model or what is wrong: ' +
          'the key, the address, the model, or its answer. The cost counts toward the monthly budget.',
        params: IdParams,
        querystring: NoQuery,
        body: ProviderTest,
        response: answers({ 200: TestResult }, 400, 401, 403, 404),
      },
    },
    async ({ actor, params, body }) => {
      const provider = await getSealedProvider(db, actor.org, params.id)
      await recordAudit(db, actor, 'modelProvider.test', target(provider.id))
      const tested = await testProvider(deps, actor.org, provider, body.model)
      const { input = 0, output = 0 } = tested.tokens ?? {}
      await addSpending(db, actor.org, monthOf(clock.now()), { judgements: 0, input, output, cost: tested.cost ?? 0 })
      return tested
    },
  )

  app.get(
    '/v1/model-providers/:id/models',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags,
        operationId: 'listOfferedModels',
        summary: 'List a provider’s models',
        description: `Requests the list from the provider at most once every five minutes. If the provider does not respond, \`message\` says why. Lists the first ${mostModels} models.`,
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: OfferedModels }, 401, 403, 404),
      },
    },
    async ({ actor, params }) => {
      const provider = await getSealedProvider(db, actor.org, params.id)
      const { models, message } = await listModels(actor.org, provider)
      return { data: models, message, priceTable }
    },
  )

  app.get(
    '/v1/models',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'listModels',
        summary: 'List models for judges',
        description:
          'The values that a judge’s `model` can have: the models of the organization’s active providers, and the ' +
          'operator’s models. If a provider does not list its models, only its default model is shown. Providers ' +
          'share a limit of 5,000 models.',
        querystring: NoQuery,
        response: answers({ 200: ModelChoices }, 401, 403),
      },
    },
    async ({ actor }) => {
      const all = await listSealedProviders(db, actor.org)
      const active = all.filter(({ status }) => status === 'active')
      const share = Math.floor(mostChoices / Math.max(1, active.length))
      const ofProviders = active.map(async (provider) => {
        const { models } = await listModels(actor.org, provider)
        const { model: own } = provider.settings
        const others = models.filter(({ id }) => id !== own)
        const first =
          typeof own === 'string' ? [{ id: own, price: shownPrice((await findPrice(provider, own)).price) }] : []
        return [...first, ...others].slice(0, share).map(({ id, price }) => ({
          model: `${provider.id}/${id}`,
          name: id,
          provider: provider.name,
          isDefault: provider.isDefault && id === own,
          price,
        }))
      })
      const choices = (await Promise.all(ofProviders)).flat()
      const instance = shownInstance(
        config,
        all.some(({ isDefault }) => isDefault),
      )
      if (instance.model !== null && instance.isConfigured) {
        const { model, prices, isDefault } = instance
        const known = prices[model]
        const price = known ? { ...known, cachedInput: null, cacheWrite: null, source: 'provider' as const } : null
        choices.push({ model: `instance/${model}`, name: model, provider: 'Operator', isDefault, price })
      }
      return { data: choices }
    },
  )
}
