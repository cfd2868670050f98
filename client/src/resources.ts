// Written by `npm run generate` from openapi.json.

import type { Answer, Body, Item, Query } from './operation.ts'
import type { Paged } from './paged.ts'
import { path, type RequestOptions, type Send } from './send.ts'

const agentGroups = (send: Send) => ({
  /** List agent groups. */
  list: (query?: Query<'/v1/agent-groups', 'get'>, options?: RequestOptions): Paged<Item<'/v1/agent-groups', 'get'>> =>
    send.list('GET', '/v1/agent-groups', { query }, options),
  /** Create an agent group. */
  create: (body: Body<'/v1/agent-groups', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/agent-groups', 'post'>> =>
    send.json('POST', '/v1/agent-groups', { body }, options),
  /** Get an agent group. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/agent-groups/{id}', 'get'>> =>
    send.json('GET', path`/v1/agent-groups/${id}`, {  }, options),
  /** Rename an agent group. */
  update: (id: string, body: Body<'/v1/agent-groups/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/agent-groups/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/agent-groups/${id}`, { body }, options),
  /** Delete an agent group. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/agent-groups/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/agent-groups/${id}`, {  }, options),
})

const agents = (send: Send) => ({
  /** List agents. */
  list: (query?: Query<'/v1/agents', 'get'>, options?: RequestOptions): Paged<Item<'/v1/agents', 'get'>> =>
    send.list('GET', '/v1/agents', { query }, options),
  /** Create an agent. */
  create: (body: Body<'/v1/agents', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/agents', 'post'>> =>
    send.json('POST', '/v1/agents', { body }, options),
  /** Get an agent. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/agents/{id}', 'get'>> =>
    send.json('GET', path`/v1/agents/${id}`, {  }, options),
  /** Update or unarchive an agent. */
  update: (id: string, body: Body<'/v1/agents/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/agents/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/agents/${id}`, { body }, options),
  /** Archive an agent. */
  archive: (id: string, options?: RequestOptions): Promise<Answer<'/v1/agents/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/agents/${id}`, {  }, options),
  /** List an agent’s versions. */
  listVersions: (id: string, query?: Query<'/v1/agents/{id}/versions', 'get'>, options?: RequestOptions): Paged<Item<'/v1/agents/{id}/versions', 'get'>> =>
    send.list('GET', path`/v1/agents/${id}/versions`, { query }, options),
  /** Create or find an agent version. */
  createVersion: (id: string, body: Body<'/v1/agents/{id}/versions', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/agents/{id}/versions', 'post'>> =>
    send.json('POST', path`/v1/agents/${id}/versions`, { body, repeat: 'always' }, options),
  /** Get an agent version. */
  getVersion: (id: string, versionId: string, options?: RequestOptions): Promise<Answer<'/v1/agents/{id}/versions/{versionId}', 'get'>> =>
    send.json('GET', path`/v1/agents/${id}/versions/${versionId}`, {  }, options),
})

const alertIncidents = (send: Send) => ({
  /** List alert incidents. */
  list: (query?: Query<'/v1/alert-incidents', 'get'>, options?: RequestOptions): Paged<Item<'/v1/alert-incidents', 'get'>> =>
    send.list('GET', '/v1/alert-incidents', { query }, options),
  /** Get an alert incident. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/alert-incidents/{id}', 'get'>> =>
    send.json('GET', path`/v1/alert-incidents/${id}`, {  }, options),
  /** Acknowledge an alert incident. */
  acknowledge: (id: string, options?: RequestOptions): Promise<Answer<'/v1/alert-incidents/{id}/acknowledge', 'post'>> =>
    send.json('POST', path`/v1/alert-incidents/${id}/acknowledge`, {  }, options),
  /** Resolve an alert incident. */
  resolve: (id: string, options?: RequestOptions): Promise<Answer<'/v1/alert-incidents/{id}/resolve', 'post'>> =>
    send.json('POST', path`/v1/alert-incidents/${id}/resolve`, {  }, options),
  /** List an alert incident’s comments. */
  listComments: (id: string, query?: Query<'/v1/alert-incidents/{id}/comments', 'get'>, options?: RequestOptions): Paged<Item<'/v1/alert-incidents/{id}/comments', 'get'>> =>
    send.list('GET', path`/v1/alert-incidents/${id}/comments`, { query }, options),
  /** Comment on an alert incident. */
  createComment: (id: string, body: Body<'/v1/alert-incidents/{id}/comments', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/alert-incidents/{id}/comments', 'post'>> =>
    send.json('POST', path`/v1/alert-incidents/${id}/comments`, { body }, options),
  /** Get a comment on an alert incident. */
  getComment: (id: string, commentId: string, options?: RequestOptions): Promise<Answer<'/v1/alert-incidents/{id}/comments/{commentId}', 'get'>> =>
    send.json('GET', path`/v1/alert-incidents/${id}/comments/${commentId}`, {  }, options),
})

const alertRules = (send: Send) => ({
  /** List alert rules. */
  list: (query?: Query<'/v1/alert-rules', 'get'>, options?: RequestOptions): Paged<Item<'/v1/alert-rules', 'get'>> =>
    send.list('GET', '/v1/alert-rules', { query }, options),
  /** Create an alert rule. */
  create: (body: Body<'/v1/alert-rules', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/alert-rules', 'post'>> =>
    send.json('POST', '/v1/alert-rules', { body }, options),
  /** Preview an alert rule. */
  preview: (body: Body<'/v1/alert-rules/preview', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/alert-rules/preview', 'post'>> =>
    send.json('POST', '/v1/alert-rules/preview', { body, repeat: 'always' }, options),
  /** Get an alert rule. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/alert-rules/{id}', 'get'>> =>
    send.json('GET', path`/v1/alert-rules/${id}`, {  }, options),
  /** Update an alert rule. */
  update: (id: string, body: Body<'/v1/alert-rules/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/alert-rules/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/alert-rules/${id}`, { body }, options),
  /** Delete an alert rule. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/alert-rules/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/alert-rules/${id}`, {  }, options),
  /** Mute an alert rule. */
  mute: (id: string, body: Body<'/v1/alert-rules/{id}/mute', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/alert-rules/{id}/mute', 'post'>> =>
    send.json('POST', path`/v1/alert-rules/${id}/mute`, { body }, options),
})

const analytics = (send: Send) => ({
  /** Measure conversations. */
  query: (body: Body<'/v1/analytics/query', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/analytics/query', 'post'>> =>
    send.json('POST', '/v1/analytics/query', { body, repeat: 'always' }, options),
  /** Explain a change. */
  explainChange: (body: Body<'/v1/analytics/explain', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/analytics/explain', 'post'>> =>
    send.json('POST', '/v1/analytics/explain', { body, repeat: 'always' }, options),
  /** Compare two groups of conversations. */
  compareConversations: (body: Body<'/v1/analytics/compare', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/analytics/compare', 'post'>> =>
    send.json('POST', '/v1/analytics/compare', { body, repeat: 'always' }, options),
})

const apiKeys = (send: Send) => ({
  /** List API keys. */
  list: (query?: Query<'/v1/api-keys', 'get'>, options?: RequestOptions): Paged<Item<'/v1/api-keys', 'get'>> =>
    send.list('GET', '/v1/api-keys', { query }, options),
  /** Create an API key. */
  create: (body: Body<'/v1/api-keys', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/api-keys', 'post'>> =>
    send.json('POST', '/v1/api-keys', { body }, options),
  /** Revoke an API key. */
  revoke: (id: string, options?: RequestOptions): Promise<Answer<'/v1/api-keys/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/api-keys/${id}`, {  }, options),
})

const auditEvents = (send: Send) => ({
  /** List audit events. */
  list: (query?: Query<'/v1/audit-events', 'get'>, options?: RequestOptions): Paged<Item<'/v1/audit-events', 'get'>> =>
    send.list('GET', '/v1/audit-events', { query }, options),
})

const boards = (send: Send) => ({
  /** List boards. */
  list: (query?: Query<'/v1/boards', 'get'>, options?: RequestOptions): Paged<Item<'/v1/boards', 'get'>> =>
    send.list('GET', '/v1/boards', { query }, options),
  /** Create a board. */
  create: (body: Body<'/v1/boards', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/boards', 'post'>> =>
    send.json('POST', '/v1/boards', { body }, options),
  /** Get a board. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/boards/{id}', 'get'>> =>
    send.json('GET', path`/v1/boards/${id}`, {  }, options),
  /** Update a board. */
  update: (id: string, body: Body<'/v1/boards/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/boards/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/boards/${id}`, { body }, options),
  /** Delete a board. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/boards/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/boards/${id}`, {  }, options),
  /** Duplicate a board. */
  duplicate: (id: string, body: Body<'/v1/boards/{id}/duplicate', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/boards/{id}/duplicate', 'post'>> =>
    send.json('POST', path`/v1/boards/${id}/duplicate`, { body }, options),
  /** List a board’s links. */
  listShares: (id: string, query?: Query<'/v1/boards/{id}/shares', 'get'>, options?: RequestOptions): Paged<Item<'/v1/boards/{id}/shares', 'get'>> =>
    send.list('GET', path`/v1/boards/${id}/shares`, { query }, options),
  /** Create a board link for one company. */
  createShare: (id: string, body: Body<'/v1/boards/{id}/shares', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/boards/{id}/shares', 'post'>> =>
    send.json('POST', path`/v1/boards/${id}/shares`, { body }, options),
  /** Revoke a board link. */
  revokeShare: (id: string, shareId: string, options?: RequestOptions): Promise<Answer<'/v1/boards/{id}/shares/{shareId}', 'delete'>> =>
    send.json('DELETE', path`/v1/boards/${id}/shares/${shareId}`, {  }, options),
})

const buckets = (send: Send) => ({
  /** List buckets. */
  list: (query?: Query<'/v1/buckets', 'get'>, options?: RequestOptions): Paged<Item<'/v1/buckets', 'get'>> =>
    send.list('GET', '/v1/buckets', { query }, options),
  /** Create a bucket. */
  create: (body: Body<'/v1/buckets', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/buckets', 'post'>> =>
    send.json('POST', '/v1/buckets', { body }, options),
  /** Get a bucket. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/buckets/{id}', 'get'>> =>
    send.json('GET', path`/v1/buckets/${id}`, {  }, options),
  /** Update a bucket. */
  update: (id: string, body: Body<'/v1/buckets/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/buckets/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/buckets/${id}`, { body }, options),
  /** Delete a bucket. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/buckets/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/buckets/${id}`, {  }, options),
  /** List a bucket’s conversations. */
  listConversations: (id: string, query?: Query<'/v1/buckets/{id}/conversations', 'get'>, options?: RequestOptions): Paged<Item<'/v1/buckets/{id}/conversations', 'get'>> =>
    send.list('GET', path`/v1/buckets/${id}/conversations`, { query }, options),
  /** Add conversations to a bucket. */
  addConversations: (id: string, body: Body<'/v1/buckets/{id}/conversations', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/buckets/{id}/conversations', 'post'>> =>
    send.json('POST', path`/v1/buckets/${id}/conversations`, { body }, options),
  /** Remove a conversation from a bucket. */
  removeConversation: (id: string, conversationId: string, options?: RequestOptions): Promise<Answer<'/v1/buckets/{id}/conversations/{conversationId}', 'delete'>> =>
    send.json('DELETE', path`/v1/buckets/${id}/conversations/${conversationId}`, {  }, options),
  /** Get a bucket’s review progress. */
  getProgress: (id: string, query?: Query<'/v1/buckets/{id}/progress', 'get'>, options?: RequestOptions): Promise<Answer<'/v1/buckets/{id}/progress', 'get'>> =>
    send.json('GET', path`/v1/buckets/${id}/progress`, { query }, options),
  /** Claim the next conversation in a bucket. */
  claimReview: (id: string, options?: RequestOptions): Promise<Answer<'/v1/buckets/{id}/claim', 'post'>> =>
    send.json('POST', path`/v1/buckets/${id}/claim`, {  }, options),
})

const companies = (send: Send) => ({
  /** List companies. */
  list: (query?: Query<'/v1/companies', 'get'>, options?: RequestOptions): Paged<Item<'/v1/companies', 'get'>> =>
    send.list('GET', '/v1/companies', { query }, options),
  /** Create a company. */
  create: (body: Body<'/v1/companies', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/companies', 'post'>> =>
    send.json('POST', '/v1/companies', { body }, options),
  /** Get a company. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/companies/{id}', 'get'>> =>
    send.json('GET', path`/v1/companies/${id}`, {  }, options),
  /** Update a company’s name or logo. */
  update: (id: string, body: Body<'/v1/companies/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/companies/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/companies/${id}`, { body }, options),
  /** Delete a company. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/companies/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/companies/${id}`, {  }, options),
  /** Upload a company’s logo. */
  uploadLogo: (id: string, body: Blob, options?: RequestOptions): Promise<Answer<'/v1/companies/{id}/logo', 'put'>> =>
    send.json('PUT', path`/v1/companies/${id}/logo`, { body }, options),
})

const conversationExports = (send: Send) => ({
  /** Create a conversation export. */
  create: (body: Body<'/v1/conversation-exports', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/conversation-exports', 'post'>> =>
    send.json('POST', '/v1/conversation-exports', { body, repeat: 'always' }, options),
  /** List conversation exports. */
  list: (query?: Query<'/v1/conversation-exports', 'get'>, options?: RequestOptions): Paged<Item<'/v1/conversation-exports', 'get'>> =>
    send.list('GET', '/v1/conversation-exports', { query }, options),
  /** Preview a conversation export. */
  preview: (body: Body<'/v1/conversation-exports/preview', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/conversation-exports/preview', 'post'>> =>
    send.json('POST', '/v1/conversation-exports/preview', { body, repeat: 'always' }, options),
  /** Get a conversation export. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/conversation-exports/{id}', 'get'>> =>
    send.json('GET', path`/v1/conversation-exports/${id}`, {  }, options),
  /** Cancel or expire a conversation export. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/conversation-exports/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/conversation-exports/${id}`, {  }, options),
  /** Download a conversation export. */
  download: (id: string, options?: RequestOptions): Promise<Response> =>
    send.open('GET', path`/v1/conversation-exports/${id}/download`, {  }, options),
})

const conversationTags = (send: Send) => ({
  /** List known tags. */
  list: (query?: Query<'/v1/conversation-tags', 'get'>, options?: RequestOptions): Promise<Answer<'/v1/conversation-tags', 'get'>> =>
    send.json('GET', '/v1/conversation-tags', { query }, options),
})

const conversations = (send: Send) => ({
  /** Create or update a conversation. */
  create: (body: Body<'/v1/conversations', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/conversations', 'post'>> =>
    send.json('POST', '/v1/conversations', { body, repeat: 'externalId' }, options),
  /** List conversations. */
  list: (query?: Query<'/v1/conversations', 'get'>, options?: RequestOptions): Paged<Item<'/v1/conversations', 'get'>> =>
    send.list('GET', '/v1/conversations', { query }, options),
  /** Create or update conversations in bulk. */
  createBatch: (body: Body<'/v1/conversations/batch', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/conversations/batch', 'post'>> =>
    send.json('POST', '/v1/conversations/batch', { body, repeat: 'externalId' }, options),
  /** Get a conversation. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/conversations/{id}', 'get'>> =>
    send.json('GET', path`/v1/conversations/${id}`, {  }, options),
  /** Update a conversation. */
  update: (id: string, body: Body<'/v1/conversations/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/conversations/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/conversations/${id}`, { body }, options),
  /** Erase a conversation. */
  erase: (id: string, options?: RequestOptions): Promise<Answer<'/v1/conversations/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/conversations/${id}`, {  }, options),
  /** Get a conversation’s transcript. */
  getTranscript: (id: string, options?: RequestOptions): Promise<Answer<'/v1/conversations/{id}/transcript', 'get'>> =>
    send.json('GET', path`/v1/conversations/${id}/transcript`, {  }, options),
  /** Search conversations. */
  search: (body: Body<'/v1/conversations/search', 'post'>, options?: RequestOptions): Paged<Item<'/v1/conversations/search', 'post'>> =>
    send.list('POST', '/v1/conversations/search', { body, repeat: 'always' }, options),
  /** Count conversations. */
  count: (body: Body<'/v1/conversations/count', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/conversations/count', 'post'>> =>
    send.json('POST', '/v1/conversations/count', { body, repeat: 'always' }, options),
  /** Get a conversation’s tags. */
  getTags: (id: string, options?: RequestOptions): Promise<Answer<'/v1/conversations/{id}/tags', 'get'>> =>
    send.json('GET', path`/v1/conversations/${id}/tags`, {  }, options),
  /** Set a conversation’s tags. */
  putTags: (id: string, body: Body<'/v1/conversations/{id}/tags', 'put'>, options?: RequestOptions): Promise<Answer<'/v1/conversations/{id}/tags', 'put'>> =>
    send.json('PUT', path`/v1/conversations/${id}/tags`, { body }, options),
  /** List bulk actions. */
  listBulkActions: (query?: Query<'/v1/conversations/bulk', 'get'>, options?: RequestOptions): Paged<Item<'/v1/conversations/bulk', 'get'>> =>
    send.list('GET', '/v1/conversations/bulk', { query }, options),
  /** Act on many conversations. */
  createBulkAction: (body: Body<'/v1/conversations/bulk', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/conversations/bulk', 'post'>> =>
    send.json('POST', '/v1/conversations/bulk', { body }, options),
  /** Get a bulk action. */
  getBulkAction: (id: string, options?: RequestOptions): Promise<Answer<'/v1/conversations/bulk/{id}', 'get'>> =>
    send.json('GET', path`/v1/conversations/bulk/${id}`, {  }, options),
  /** Cancel a bulk action. */
  cancelBulkAction: (id: string, options?: RequestOptions): Promise<Answer<'/v1/conversations/bulk/{id}/cancel', 'post'>> =>
    send.json('POST', path`/v1/conversations/bulk/${id}/cancel`, {  }, options),
  /** Undo a bulk action. */
  undoBulkAction: (id: string, options?: RequestOptions): Promise<Answer<'/v1/conversations/bulk/{id}/undo', 'post'>> =>
    send.json('POST', path`/v1/conversations/bulk/${id}/undo`, {  }, options),
  /** Upload a conversation’s recording. */
  uploadRecording: (id: string, body: Blob, options?: RequestOptions): Promise<Answer<'/v1/conversations/{id}/recording', 'put'>> =>
    send.json('PUT', path`/v1/conversations/${id}/recording`, { body }, options),
  /** Get a conversation’s recording. */
  getRecording: (id: string, options?: RequestOptions): Promise<Response> =>
    send.open('GET', path`/v1/conversations/${id}/recording`, {  }, options),
  /** Open the sealed original of a redacted recording. */
  openOriginalRecording: (id: string, body: Body<'/v1/conversations/{id}/recording/original', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/conversations/{id}/recording/original', 'post'>> =>
    send.json('POST', path`/v1/conversations/${id}/recording/original`, { body }, options),
  /** Get a conversation’s sound measurements. */
  getSound: (id: string, options?: RequestOptions): Promise<Answer<'/v1/conversations/{id}/sound', 'get'>> =>
    send.json('GET', path`/v1/conversations/${id}/sound`, {  }, options),
  /** List a conversation’s metrics. */
  listCustomerMetrics: (id: string, query?: Query<'/v1/conversations/{id}/metrics', 'get'>, options?: RequestOptions): Paged<Item<'/v1/conversations/{id}/metrics', 'get'>> =>
    send.list('GET', path`/v1/conversations/${id}/metrics`, { query }, options),
  /** Get a conversation’s metric. */
  getCustomerMetric: (id: string, key: string, options?: RequestOptions): Promise<Answer<'/v1/conversations/{id}/metrics/{key}', 'get'>> =>
    send.json('GET', path`/v1/conversations/${id}/metrics/${key}`, {  }, options),
  /** Set a conversation’s metric. */
  putCustomerMetric: (id: string, key: string, body: Body<'/v1/conversations/{id}/metrics/{key}', 'put'>, options?: RequestOptions): Promise<Answer<'/v1/conversations/{id}/metrics/{key}', 'put'>> =>
    send.json('PUT', path`/v1/conversations/${id}/metrics/${key}`, { body }, options),
  /** Delete a conversation’s metric. */
  deleteCustomerMetric: (id: string, key: string, options?: RequestOptions): Promise<Answer<'/v1/conversations/{id}/metrics/{key}', 'delete'>> =>
    send.json('DELETE', path`/v1/conversations/${id}/metrics/${key}`, {  }, options),
  /** List a conversation’s results. */
  listResults: (id: string, query?: Query<'/v1/conversations/{id}/results', 'get'>, options?: RequestOptions): Paged<Item<'/v1/conversations/{id}/results', 'get'>> =>
    send.list('GET', path`/v1/conversations/${id}/results`, { query }, options),
  /** List a conversation’s findings. */
  listFindings: (id: string, query?: Query<'/v1/conversations/{id}/findings', 'get'>, options?: RequestOptions): Paged<Item<'/v1/conversations/{id}/findings', 'get'>> =>
    send.list('GET', path`/v1/conversations/${id}/findings`, { query }, options),
  /** List a recording’s regions. */
  listRegions: (id: string, query?: Query<'/v1/conversations/{id}/regions', 'get'>, options?: RequestOptions): Paged<Item<'/v1/conversations/{id}/regions', 'get'>> =>
    send.list('GET', path`/v1/conversations/${id}/regions`, { query }, options),
  /** Mark a region of a recording. */
  createRegion: (id: string, body: Body<'/v1/conversations/{id}/regions', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/conversations/{id}/regions', 'post'>> =>
    send.json('POST', path`/v1/conversations/${id}/regions`, { body }, options),
  /** Get a recording’s region. */
  getRegion: (id: string, regionId: string, options?: RequestOptions): Promise<Answer<'/v1/conversations/{id}/regions/{regionId}', 'get'>> =>
    send.json('GET', path`/v1/conversations/${id}/regions/${regionId}`, {  }, options),
  /** Delete a region of a recording. */
  deleteRegion: (id: string, regionId: string, options?: RequestOptions): Promise<Answer<'/v1/conversations/{id}/regions/{regionId}', 'delete'>> =>
    send.json('DELETE', path`/v1/conversations/${id}/regions/${regionId}`, {  }, options),
  /** List a conversation’s reviews. */
  listReviews: (id: string, query?: Query<'/v1/conversations/{id}/reviews', 'get'>, options?: RequestOptions): Paged<Item<'/v1/conversations/{id}/reviews', 'get'>> =>
    send.list('GET', path`/v1/conversations/${id}/reviews`, { query }, options),
})

const customerMetrics = (send: Send) => ({
  /** Set metrics in bulk. */
  create: (body: Body<'/v1/customer-metrics', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/customer-metrics', 'post'>> =>
    send.json('POST', '/v1/customer-metrics', { body, repeat: 'always' }, options),
})

const destinations = (send: Send) => ({
  /** List destinations. */
  list: (query?: Query<'/v1/destinations', 'get'>, options?: RequestOptions): Paged<Item<'/v1/destinations', 'get'>> =>
    send.list('GET', '/v1/destinations', { query }, options),
  /** Create a destination. */
  create: (body: Body<'/v1/destinations', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/destinations', 'post'>> =>
    send.json('POST', '/v1/destinations', { body }, options),
  /** Get a destination. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/destinations/{id}', 'get'>> =>
    send.json('GET', path`/v1/destinations/${id}`, {  }, options),
  /** Update a destination. */
  update: (id: string, body: Body<'/v1/destinations/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/destinations/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/destinations/${id}`, { body }, options),
  /** Delete a destination. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/destinations/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/destinations/${id}`, {  }, options),
  /** List a destination’s deliveries. */
  listDeliveries: (id: string, query?: Query<'/v1/destinations/{id}/deliveries', 'get'>, options?: RequestOptions): Paged<Item<'/v1/destinations/{id}/deliveries', 'get'>> =>
    send.list('GET', path`/v1/destinations/${id}/deliveries`, { query }, options),
  /** Get a destination’s delivery. */
  getDelivery: (id: string, deliveryId: string, options?: RequestOptions): Promise<Answer<'/v1/destinations/{id}/deliveries/{deliveryId}', 'get'>> =>
    send.json('GET', path`/v1/destinations/${id}/deliveries/${deliveryId}`, {  }, options),
  /** Redeliver a message. */
  redeliverMessage: (id: string, deliveryId: string, options?: RequestOptions): Promise<Answer<'/v1/destinations/{id}/deliveries/{deliveryId}/redeliver', 'post'>> =>
    send.json('POST', path`/v1/destinations/${id}/deliveries/${deliveryId}/redeliver`, {  }, options),
  /** Send a test message to a destination. */
  test: (id: string, options?: RequestOptions): Promise<Answer<'/v1/destinations/{id}/test', 'post'>> =>
    send.json('POST', path`/v1/destinations/${id}/test`, {  }, options),
})

const embeddings = (send: Send) => ({
  /** Get the progress of embeddings. */
  getProgress: (options?: RequestOptions): Promise<Answer<'/v1/embeddings', 'get'>> =>
    send.json('GET', '/v1/embeddings', {  }, options),
})

const experiments = (send: Send) => ({
  /** Launch an experiment. */
  launch: (body: Body<'/v1/experiments', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/experiments', 'post'>> =>
    send.json('POST', '/v1/experiments', { body }, options),
  /** List experiments. */
  list: (query?: Query<'/v1/experiments', 'get'>, options?: RequestOptions): Paged<Item<'/v1/experiments', 'get'>> =>
    send.list('GET', '/v1/experiments', { query }, options),
  /** Get an experiment. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/experiments/{id}', 'get'>> =>
    send.json('GET', path`/v1/experiments/${id}`, {  }, options),
  /** Finish an experiment. */
  finish: (id: string, options?: RequestOptions): Promise<Answer<'/v1/experiments/{id}/finish', 'post'>> =>
    send.json('POST', path`/v1/experiments/${id}/finish`, {  }, options),
  /** List an experiment’s runs. */
  listEvaluations: (id: string, query?: Query<'/v1/experiments/{id}/evaluations', 'get'>, options?: RequestOptions): Paged<Item<'/v1/experiments/{id}/evaluations', 'get'>> =>
    send.list('GET', path`/v1/experiments/${id}/evaluations`, { query }, options),
  /** Retry missing and failed observations. */
  retryEvaluations: (id: string, options?: RequestOptions): Promise<Answer<'/v1/experiments/{id}/evaluations', 'post'>> =>
    send.json('POST', path`/v1/experiments/${id}/evaluations`, {  }, options),
  /** Create an experiment export. */
  createExport: (id: string, body: Body<'/v1/experiments/{id}/exports', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/experiments/{id}/exports', 'post'>> =>
    send.json('POST', path`/v1/experiments/${id}/exports`, { body, repeat: 'always' }, options),
  /** List an experiment’s exports. */
  listExports: (id: string, query?: Query<'/v1/experiments/{id}/exports', 'get'>, options?: RequestOptions): Paged<Item<'/v1/experiments/{id}/exports', 'get'>> =>
    send.list('GET', path`/v1/experiments/${id}/exports`, { query }, options),
  /** Get an experiment’s export. */
  getExport: (id: string, exportId: string, options?: RequestOptions): Promise<Answer<'/v1/experiments/{id}/exports/{exportId}', 'get'>> =>
    send.json('GET', path`/v1/experiments/${id}/exports/${exportId}`, {  }, options),
  /** Cancel or expire an experiment’s export. */
  deleteExport: (id: string, exportId: string, options?: RequestOptions): Promise<Answer<'/v1/experiments/{id}/exports/{exportId}', 'delete'>> =>
    send.json('DELETE', path`/v1/experiments/${id}/exports/${exportId}`, {  }, options),
  /** Download an experiment’s export. */
  downloadExport: (id: string, exportId: string, options?: RequestOptions): Promise<Response> =>
    send.open('GET', path`/v1/experiments/${id}/exports/${exportId}/download`, {  }, options),
  /** List monitor groups. */
  listMonitorGroups: (query?: Query<'/v1/experiments/monitor-groups', 'get'>, options?: RequestOptions): Paged<Item<'/v1/experiments/monitor-groups', 'get'>> =>
    send.list('GET', '/v1/experiments/monitor-groups', { query }, options),
  /** Get a monitor group. */
  getMonitorGroup: (id: string, options?: RequestOptions): Promise<Answer<'/v1/experiments/monitor-groups/{id}', 'get'>> =>
    send.json('GET', path`/v1/experiments/monitor-groups/${id}`, {  }, options),
  /** Update a monitor group. */
  updateMonitorGroup: (id: string, body: Body<'/v1/experiments/monitor-groups/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/experiments/monitor-groups/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/experiments/monitor-groups/${id}`, { body }, options),
  /** Delete a monitor group. */
  deleteMonitorGroup: (id: string, options?: RequestOptions): Promise<Answer<'/v1/experiments/monitor-groups/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/experiments/monitor-groups/${id}`, {  }, options),
})

const exportSchedules = (send: Send) => ({
  /** List export schedules. */
  list: (query?: Query<'/v1/export-schedules', 'get'>, options?: RequestOptions): Paged<Item<'/v1/export-schedules', 'get'>> =>
    send.list('GET', '/v1/export-schedules', { query }, options),
  /** Create an export schedule. */
  create: (body: Body<'/v1/export-schedules', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/export-schedules', 'post'>> =>
    send.json('POST', '/v1/export-schedules', { body }, options),
  /** Get an export schedule. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/export-schedules/{id}', 'get'>> =>
    send.json('GET', path`/v1/export-schedules/${id}`, {  }, options),
  /** Update, pause, or resume an export schedule. */
  update: (id: string, body: Body<'/v1/export-schedules/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/export-schedules/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/export-schedules/${id}`, { body }, options),
  /** Delete an export schedule. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/export-schedules/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/export-schedules/${id}`, {  }, options),
  /** Test an export schedule’s destination. */
  test: (id: string, options?: RequestOptions): Promise<Answer<'/v1/export-schedules/{id}/test', 'post'>> =>
    send.json('POST', path`/v1/export-schedules/${id}/test`, {  }, options),
  /** List an export schedule’s runs. */
  listRuns: (id: string, query?: Query<'/v1/export-schedules/{id}/runs', 'get'>, options?: RequestOptions): Paged<Item<'/v1/export-schedules/{id}/runs', 'get'>> =>
    send.list('GET', path`/v1/export-schedules/${id}/runs`, { query }, options),
  /** Run an export schedule now. */
  run: (id: string, options?: RequestOptions): Promise<Answer<'/v1/export-schedules/{id}/run', 'post'>> =>
    send.json('POST', path`/v1/export-schedules/${id}/run`, {  }, options),
})

const exports = (send: Send) => ({
  /** Create an export of monitor results. */
  create: (body: Body<'/v1/monitor-exports', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/monitor-exports', 'post'>> =>
    send.json('POST', '/v1/monitor-exports', { body, repeat: 'always' }, options),
  /** List exports. */
  list: (query?: Query<'/v1/monitor-exports', 'get'>, options?: RequestOptions): Paged<Item<'/v1/monitor-exports', 'get'>> =>
    send.list('GET', '/v1/monitor-exports', { query }, options),
  /** Preview an export. */
  preview: (body: Body<'/v1/monitor-exports/preview', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/monitor-exports/preview', 'post'>> =>
    send.json('POST', '/v1/monitor-exports/preview', { body, repeat: 'always' }, options),
  /** Get an export. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/monitor-exports/{id}', 'get'>> =>
    send.json('GET', path`/v1/monitor-exports/${id}`, {  }, options),
  /** Cancel or expire an export. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/monitor-exports/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/monitor-exports/${id}`, {  }, options),
  /** Download an export. */
  download: (id: string, options?: RequestOptions): Promise<Response> =>
    send.open('GET', path`/v1/monitor-exports/${id}/download`, {  }, options),
})

const failedJobs = (send: Send) => ({
  /** List failed jobs. */
  list: (query?: Query<'/v1/failed-jobs', 'get'>, options?: RequestOptions): Paged<Item<'/v1/failed-jobs', 'get'>> =>
    send.list('GET', '/v1/failed-jobs', { query }, options),
  /** Retry a failed job. */
  retry: (id: string, options?: RequestOptions): Promise<Answer<'/v1/failed-jobs/{id}/retry', 'post'>> =>
    send.json('POST', path`/v1/failed-jobs/${id}/retry`, {  }, options),
  /** Discard a failed job. */
  discard: (id: string, options?: RequestOptions): Promise<Answer<'/v1/failed-jobs/{id}/discard', 'post'>> =>
    send.json('POST', path`/v1/failed-jobs/${id}/discard`, {  }, options),
})

const findings = (send: Send) => ({
  /** List findings. */
  list: (query?: Query<'/v1/findings', 'get'>, options?: RequestOptions): Paged<Item<'/v1/findings', 'get'>> =>
    send.list('GET', '/v1/findings', { query }, options),
  /** Create a finding. */
  create: (body: Body<'/v1/findings', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/findings', 'post'>> =>
    send.json('POST', '/v1/findings', { body }, options),
  /** Get a finding. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/findings/{id}', 'get'>> =>
    send.json('GET', path`/v1/findings/${id}`, {  }, options),
  /** Update a finding. */
  update: (id: string, body: Body<'/v1/findings/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/findings/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/findings/${id}`, { body }, options),
  /** Change a finding’s status or priority. */
  triage: (id: string, body: Body<'/v1/findings/{id}/triage', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/findings/{id}/triage', 'post'>> =>
    send.json('POST', path`/v1/findings/${id}/triage`, { body }, options),
  /** Merge a finding into another. */
  merge: (id: string, body: Body<'/v1/findings/{id}/merge', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/findings/{id}/merge', 'post'>> =>
    send.json('POST', path`/v1/findings/${id}/merge`, { body }, options),
  /** List a finding’s history. */
  listHistory: (id: string, query?: Query<'/v1/findings/{id}/history', 'get'>, options?: RequestOptions): Paged<Item<'/v1/findings/{id}/history', 'get'>> =>
    send.list('GET', path`/v1/findings/${id}/history`, { query }, options),
  /** Find similar findings. */
  findSimilarFindings: (body: Body<'/v1/findings/similar', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/findings/similar', 'post'>> =>
    send.json('POST', '/v1/findings/similar', { body, repeat: 'always' }, options),
  /** List a finding’s conversations. */
  listConversations: (id: string, query?: Query<'/v1/findings/{id}/conversations', 'get'>, options?: RequestOptions): Paged<Item<'/v1/findings/{id}/conversations', 'get'>> =>
    send.list('GET', path`/v1/findings/${id}/conversations`, { query }, options),
  /** Attach a conversation to a finding. */
  attachConversation: (id: string, body: Body<'/v1/findings/{id}/conversations', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/findings/{id}/conversations', 'post'>> =>
    send.json('POST', path`/v1/findings/${id}/conversations`, { body, repeat: 'always' }, options),
  /** Get a finding’s conversation. */
  getConversation: (id: string, conversationId: string, options?: RequestOptions): Promise<Answer<'/v1/findings/{id}/conversations/{conversationId}', 'get'>> =>
    send.json('GET', path`/v1/findings/${id}/conversations/${conversationId}`, {  }, options),
  /** Detach a conversation from a finding. */
  detachConversation: (id: string, conversationId: string, options?: RequestOptions): Promise<Answer<'/v1/findings/{id}/conversations/{conversationId}', 'delete'>> =>
    send.json('DELETE', path`/v1/findings/${id}/conversations/${conversationId}`, {  }, options),
  /** List a finding’s comments. */
  listComments: (id: string, query?: Query<'/v1/findings/{id}/comments', 'get'>, options?: RequestOptions): Paged<Item<'/v1/findings/{id}/comments', 'get'>> =>
    send.list('GET', path`/v1/findings/${id}/comments`, { query }, options),
  /** Comment on a finding. */
  createComment: (id: string, body: Body<'/v1/findings/{id}/comments', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/findings/{id}/comments', 'post'>> =>
    send.json('POST', path`/v1/findings/${id}/comments`, { body }, options),
  /** Get a comment. */
  getComment: (id: string, commentId: string, options?: RequestOptions): Promise<Answer<'/v1/findings/{id}/comments/{commentId}', 'get'>> =>
    send.json('GET', path`/v1/findings/${id}/comments/${commentId}`, {  }, options),
  /** Edit a comment. */
  updateComment: (id: string, commentId: string, body: Body<'/v1/findings/{id}/comments/{commentId}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/findings/{id}/comments/{commentId}', 'patch'>> =>
    send.json('PATCH', path`/v1/findings/${id}/comments/${commentId}`, { body }, options),
  /** Delete a comment. */
  deleteComment: (id: string, commentId: string, options?: RequestOptions): Promise<Answer<'/v1/findings/{id}/comments/{commentId}', 'delete'>> =>
    send.json('DELETE', path`/v1/findings/${id}/comments/${commentId}`, {  }, options),
  /** List a finding’s regions. */
  listRegions: (id: string, query?: Query<'/v1/findings/{id}/regions', 'get'>, options?: RequestOptions): Paged<Item<'/v1/findings/{id}/regions', 'get'>> =>
    send.list('GET', path`/v1/findings/${id}/regions`, { query }, options),
})

const health = (send: Send) => ({
  /** Get your organization’s health. */
  check: (options?: RequestOptions): Promise<Answer<'/v1/health', 'get'>> =>
    send.json('GET', '/v1/health', {  }, options),
})

const integrations = (send: Send) => ({
  /** List integrations. */
  list: (query?: Query<'/v1/integrations', 'get'>, options?: RequestOptions): Paged<Item<'/v1/integrations', 'get'>> =>
    send.list('GET', '/v1/integrations', { query }, options),
  /** Create an integration. */
  create: (body: Body<'/v1/integrations', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/integrations', 'post'>> =>
    send.json('POST', '/v1/integrations', { body }, options),
  /** Get an integration. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/integrations/{id}', 'get'>> =>
    send.json('GET', path`/v1/integrations/${id}`, {  }, options),
  /** Update an integration. */
  update: (id: string, body: Body<'/v1/integrations/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/integrations/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/integrations/${id}`, { body }, options),
  /** Delete an integration. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/integrations/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/integrations/${id}`, {  }, options),
  /** Get an integration’s sync. */
  getSync: (id: string, options?: RequestOptions): Promise<Answer<'/v1/integrations/{id}/sync', 'get'>> =>
    send.json('GET', path`/v1/integrations/${id}/sync`, {  }, options),
  /** Set up an integration’s sync. */
  setSync: (id: string, body: Body<'/v1/integrations/{id}/sync', 'put'>, options?: RequestOptions): Promise<Answer<'/v1/integrations/{id}/sync', 'put'>> =>
    send.json('PUT', path`/v1/integrations/${id}/sync`, { body }, options),
  /** Delete an integration’s sync. */
  deleteSync: (id: string, options?: RequestOptions): Promise<Answer<'/v1/integrations/{id}/sync', 'delete'>> =>
    send.json('DELETE', path`/v1/integrations/${id}/sync`, {  }, options),
  /** Start a sync run now. */
  runSync: (id: string, options?: RequestOptions): Promise<Answer<'/v1/integrations/{id}/sync/run', 'post'>> =>
    send.json('POST', path`/v1/integrations/${id}/sync/run`, {  }, options),
  /** List an integration’s sync runs. */
  listSyncRuns: (id: string, query?: Query<'/v1/integrations/{id}/sync/runs', 'get'>, options?: RequestOptions): Paged<Item<'/v1/integrations/{id}/sync/runs', 'get'>> =>
    send.list('GET', path`/v1/integrations/${id}/sync/runs`, { query }, options),
  /** List calls a sync could not retrieve. */
  listSyncGaps: (id: string, query?: Query<'/v1/integrations/{id}/sync/gaps', 'get'>, options?: RequestOptions): Paged<Item<'/v1/integrations/{id}/sync/gaps', 'get'>> =>
    send.list('GET', path`/v1/integrations/${id}/sync/gaps`, { query }, options),
  /** List an integration’s deliveries. */
  listDeliveries: (id: string, query?: Query<'/v1/integrations/{id}/deliveries', 'get'>, options?: RequestOptions): Paged<Item<'/v1/integrations/{id}/deliveries', 'get'>> =>
    send.list('GET', path`/v1/integrations/${id}/deliveries`, { query }, options),
  /** Get an integration’s delivery. */
  getDelivery: (id: string, deliveryId: string, options?: RequestOptions): Promise<Answer<'/v1/integrations/{id}/deliveries/{deliveryId}', 'get'>> =>
    send.json('GET', path`/v1/integrations/${id}/deliveries/${deliveryId}`, {  }, options),
  /** Replay an integration’s delivery. */
  replayDelivery: (id: string, deliveryId: string, options?: RequestOptions): Promise<Answer<'/v1/integrations/{id}/deliveries/{deliveryId}/replay', 'post'>> =>
    send.json('POST', path`/v1/integrations/${id}/deliveries/${deliveryId}/replay`, {  }, options),
  /** Send a call with the Roark SDK. */
  receiveRoarkCall: (body: Body<'/v1/integrations/roark/v1/call', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/integrations/roark/v1/call', 'post'>> =>
    send.json('POST', '/v1/integrations/roark/v1/call', { body }, options),
  /** Send a conversation with a Coval client. */
  receiveCovalConversation: (body: Body<'/v1/integrations/coval/v1/conversations:submit', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/integrations/coval/v1/conversations:submit', 'post'>> =>
    send.json('POST', '/v1/integrations/coval/v1/conversations:submit', { body }, options),
  /** Send a call with a Cekura client. */
  receiveCekuraCall: (body: Body<'/v1/integrations/cekura/observability/v1/observe/', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/integrations/cekura/observability/v1/observe/', 'post'>> =>
    send.json('POST', '/v1/integrations/cekura/observability/v1/observe/', { body }, options),
  /** Send a call with a Bluejay client. */
  receiveBluejayCall: (body: Body<'/v1/integrations/bluejay/v1/evaluate', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/integrations/bluejay/v1/evaluate', 'post'>> =>
    send.json('POST', '/v1/integrations/bluejay/v1/evaluate', { body }, options),
  /** Send a call with a Bluejay client. */
  receiveBluejayCallByItsFirstName: (body: Body<'/v1/integrations/bluejay/v1/evaluate-call', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/integrations/bluejay/v1/evaluate-call', 'post'>> =>
    send.json('POST', '/v1/integrations/bluejay/v1/evaluate-call', { body }, options),
})

const me = (send: Send) => ({
  /** Get the current caller. */
  get: (options?: RequestOptions): Promise<Answer<'/v1/me', 'get'>> =>
    send.json('GET', '/v1/me', {  }, options),
})

const members = (send: Send) => ({
  /** List members. */
  list: (query?: Query<'/v1/members', 'get'>, options?: RequestOptions): Paged<Item<'/v1/members', 'get'>> =>
    send.list('GET', '/v1/members', { query }, options),
  /** Invite a member. */
  invite: (body: Body<'/v1/members', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/members', 'post'>> =>
    send.json('POST', '/v1/members', { body }, options),
  /** Get a member. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/members/{id}', 'get'>> =>
    send.json('GET', path`/v1/members/${id}`, {  }, options),
  /** Update a member’s name or role. */
  update: (id: string, body: Body<'/v1/members/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/members/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/members/${id}`, { body }, options),
  /** Remove a member. */
  remove: (id: string, options?: RequestOptions): Promise<Answer<'/v1/members/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/members/${id}`, {  }, options),
  /** Renew an invitation link. */
  renewInvitation: (id: string, options?: RequestOptions): Promise<Answer<'/v1/members/{id}/invitation', 'post'>> =>
    send.json('POST', path`/v1/members/${id}/invitation`, {  }, options),
})

const metadataKeys = (send: Send) => ({
  /** List metadata keys. */
  list: (query?: Query<'/v1/metadata-keys', 'get'>, options?: RequestOptions): Promise<Answer<'/v1/metadata-keys', 'get'>> =>
    send.json('GET', '/v1/metadata-keys', { query }, options),
  /** List the values of a metadata key. */
  listMetadataValues: (key: string, query?: Query<'/v1/metadata-keys/{key}/values', 'get'>, options?: RequestOptions): Promise<Answer<'/v1/metadata-keys/{key}/values', 'get'>> =>
    send.json('GET', path`/v1/metadata-keys/${key}/values`, { query }, options),
})

const modelProviders = (send: Send) => ({
  /** List model providers. */
  list: (query?: Query<'/v1/model-providers', 'get'>, options?: RequestOptions): Paged<Item<'/v1/model-providers', 'get'>> =>
    send.list('GET', '/v1/model-providers', { query }, options),
  /** Create a model provider. */
  create: (body: Body<'/v1/model-providers', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/model-providers', 'post'>> =>
    send.json('POST', '/v1/model-providers', { body }, options),
  /** Get the operator’s model endpoint. */
  getInstanceModelProvider: (options?: RequestOptions): Promise<Answer<'/v1/model-providers/instance', 'get'>> =>
    send.json('GET', '/v1/model-providers/instance', {  }, options),
  /** Get a model provider. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/model-providers/{id}', 'get'>> =>
    send.json('GET', path`/v1/model-providers/${id}`, {  }, options),
  /** Update a model provider. */
  update: (id: string, body: Body<'/v1/model-providers/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/model-providers/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/model-providers/${id}`, { body }, options),
  /** Delete a model provider. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/model-providers/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/model-providers/${id}`, {  }, options),
  /** Test a model provider. */
  test: (id: string, body: Body<'/v1/model-providers/{id}/test', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/model-providers/{id}/test', 'post'>> =>
    send.json('POST', path`/v1/model-providers/${id}/test`, { body }, options),
  /** List a provider’s models. */
  listOfferedModels: (id: string, options?: RequestOptions): Promise<Answer<'/v1/model-providers/{id}/models', 'get'>> =>
    send.json('GET', path`/v1/model-providers/${id}/models`, {  }, options),
})

const models = (send: Send) => ({
  /** List models for judges. */
  list: (options?: RequestOptions): Promise<Answer<'/v1/models', 'get'>> =>
    send.json('GET', '/v1/models', {  }, options),
})

const monitorResults = (send: Send) => ({
  /** Submit results for external monitors. */
  create: (body: Body<'/v1/monitor-results', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/monitor-results', 'post'>> =>
    send.json('POST', '/v1/monitor-results', { body, repeat: 'always' }, options),
})

const monitorTemplates = (send: Send) => ({
  /** List monitor templates. */
  list: (query?: Query<'/v1/monitor-templates', 'get'>, options?: RequestOptions): Promise<Answer<'/v1/monitor-templates', 'get'>> =>
    send.json('GET', '/v1/monitor-templates', { query }, options),
  /** Create a monitor from a template. */
  install: (key: string, body: Body<'/v1/monitor-templates/{key}/install', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/monitor-templates/{key}/install', 'post'>> =>
    send.json('POST', path`/v1/monitor-templates/${key}/install`, { body }, options),
})

const monitors = (send: Send) => ({
  /** List monitors. */
  list: (query?: Query<'/v1/monitors', 'get'>, options?: RequestOptions): Paged<Item<'/v1/monitors', 'get'>> =>
    send.list('GET', '/v1/monitors', { query }, options),
  /** Create a monitor. */
  create: (body: Body<'/v1/monitors', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/monitors', 'post'>> =>
    send.json('POST', '/v1/monitors', { body }, options),
  /** Get a monitor. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/monitors/{id}', 'get'>> =>
    send.json('GET', path`/v1/monitors/${id}`, {  }, options),
  /** Update a monitor. */
  update: (id: string, body: Body<'/v1/monitors/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/monitors/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/monitors/${id}`, { body }, options),
  /** Delete a monitor. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/monitors/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/monitors/${id}`, {  }, options),
  /** List a monitor’s versions. */
  listVersions: (id: string, query?: Query<'/v1/monitors/{id}/versions', 'get'>, options?: RequestOptions): Paged<Item<'/v1/monitors/{id}/versions', 'get'>> =>
    send.list('GET', path`/v1/monitors/${id}/versions`, { query }, options),
  /** Test a draft monitor. */
  testDraft: (body: Body<'/v1/monitors/test', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/monitors/test', 'post'>> =>
    send.json('POST', '/v1/monitors/test', { body }, options),
  /** Test changes to a monitor. */
  test: (id: string, body: Body<'/v1/monitors/{id}/test', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/monitors/{id}/test', 'post'>> =>
    send.json('POST', path`/v1/monitors/${id}/test`, { body }, options),
  /** List a monitor’s runs. */
  listEvaluations: (id: string, query?: Query<'/v1/monitors/{id}/evaluations', 'get'>, options?: RequestOptions): Paged<Item<'/v1/monitors/{id}/evaluations', 'get'>> =>
    send.list('GET', path`/v1/monitors/${id}/evaluations`, { query }, options),
  /** Start a run over stored conversations. */
  createEvaluation: (id: string, body: Body<'/v1/monitors/{id}/evaluations', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/monitors/{id}/evaluations', 'post'>> =>
    send.json('POST', path`/v1/monitors/${id}/evaluations`, { body }, options),
  /** Get a run. */
  getEvaluation: (id: string, runId: string, options?: RequestOptions): Promise<Answer<'/v1/monitors/{id}/evaluations/{runId}', 'get'>> =>
    send.json('GET', path`/v1/monitors/${id}/evaluations/${runId}`, {  }, options),
  /** Cancel a run. */
  cancelEvaluation: (id: string, runId: string, options?: RequestOptions): Promise<Answer<'/v1/monitors/{id}/evaluations/{runId}/cancel', 'post'>> =>
    send.json('POST', path`/v1/monitors/${id}/evaluations/${runId}/cancel`, {  }, options),
  /** Resume a run. */
  resumeEvaluation: (id: string, runId: string, options?: RequestOptions): Promise<Answer<'/v1/monitors/{id}/evaluations/{runId}/resume', 'post'>> =>
    send.json('POST', path`/v1/monitors/${id}/evaluations/${runId}/resume`, {  }, options),
  /** List a monitor’s results. */
  listResults: (id: string, query?: Query<'/v1/monitors/{id}/results', 'get'>, options?: RequestOptions): Paged<Item<'/v1/monitors/{id}/results', 'get'>> =>
    send.list('GET', path`/v1/monitors/${id}/results`, { query }, options),
  /** Get a monitor’s trend. */
  getTrend: (id: string, query?: Query<'/v1/monitors/{id}/trend', 'get'>, options?: RequestOptions): Promise<Answer<'/v1/monitors/{id}/trend', 'get'>> =>
    send.json('GET', path`/v1/monitors/${id}/trend`, { query }, options),
  /** Compare monitors with the previous period. */
  compare: (query?: Query<'/v1/monitors/comparison', 'get'>, options?: RequestOptions): Promise<Answer<'/v1/monitors/comparison', 'get'>> =>
    send.json('GET', '/v1/monitors/comparison', { query }, options),
  /** Get a monitor’s agreement with reviewers. */
  listAgreement: (id: string, query?: Query<'/v1/monitors/{id}/agreement', 'get'>, options?: RequestOptions): Paged<Item<'/v1/monitors/{id}/agreement', 'get'>> =>
    send.list('GET', path`/v1/monitors/${id}/agreement`, { query }, options),
  /** List a monitor’s alignments. */
  listAlignments: (id: string, query?: Query<'/v1/monitors/{id}/alignments', 'get'>, options?: RequestOptions): Paged<Item<'/v1/monitors/{id}/alignments', 'get'>> =>
    send.list('GET', path`/v1/monitors/${id}/alignments`, { query }, options),
  /** Align a judge with people. */
  createAlignment: (id: string, body: Body<'/v1/monitors/{id}/alignments', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/monitors/{id}/alignments', 'post'>> =>
    send.json('POST', path`/v1/monitors/${id}/alignments`, { body }, options),
  /** Get an alignment. */
  getAlignment: (id: string, alignmentId: string, options?: RequestOptions): Promise<Answer<'/v1/monitors/{id}/alignments/{alignmentId}', 'get'>> =>
    send.json('GET', path`/v1/monitors/${id}/alignments/${alignmentId}`, {  }, options),
  /** Apply an alignment’s proposal. */
  applyAlignment: (id: string, alignmentId: string, body: Body<'/v1/monitors/{id}/alignments/{alignmentId}/apply', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/monitors/{id}/alignments/{alignmentId}/apply', 'post'>> =>
    send.json('POST', path`/v1/monitors/${id}/alignments/${alignmentId}/apply`, { body }, options),
  /** Cancel an alignment. */
  cancelAlignment: (id: string, alignmentId: string, options?: RequestOptions): Promise<Answer<'/v1/monitors/{id}/alignments/{alignmentId}/cancel', 'post'>> =>
    send.json('POST', path`/v1/monitors/${id}/alignments/${alignmentId}/cancel`, {  }, options),
  /** Resume an alignment. */
  resumeAlignment: (id: string, alignmentId: string, body: Body<'/v1/monitors/{id}/alignments/{alignmentId}/resume', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/monitors/{id}/alignments/{alignmentId}/resume', 'post'>> =>
    send.json('POST', path`/v1/monitors/${id}/alignments/${alignmentId}/resume`, { body }, options),
})

const notificationPreferences = (send: Send) => ({
  /** Get your notification preferences. */
  get: (options?: RequestOptions): Promise<Answer<'/v1/notification-preferences', 'get'>> =>
    send.json('GET', '/v1/notification-preferences', {  }, options),
  /** Replace your notification preferences. */
  replace: (body: Body<'/v1/notification-preferences', 'put'>, options?: RequestOptions): Promise<Answer<'/v1/notification-preferences', 'put'>> =>
    send.json('PUT', '/v1/notification-preferences', { body }, options),
})

const notifications = (send: Send) => ({
  /** List your notifications. */
  list: (query?: Query<'/v1/notifications', 'get'>, options?: RequestOptions): Paged<Item<'/v1/notifications', 'get'>> =>
    send.list('GET', '/v1/notifications', { query }, options),
  /** Mark notifications as read. */
  markRead: (body: Body<'/v1/notifications/read', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/notifications/read', 'post'>> =>
    send.json('POST', '/v1/notifications/read', { body, repeat: 'always' }, options),
})

const organization = (send: Send) => ({
  /** Get the current organization. */
  get: (options?: RequestOptions): Promise<Answer<'/v1/organization', 'get'>> =>
    send.json('GET', '/v1/organization', {  }, options),
  /** Update the current organization’s settings. */
  update: (body: Body<'/v1/organization', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/organization', 'patch'>> =>
    send.json('PATCH', '/v1/organization', { body }, options),
})

const organizations = (send: Send) => ({
  /** List organizations. */
  list: (query?: Query<'/v1/organizations', 'get'>, options?: RequestOptions): Paged<Item<'/v1/organizations', 'get'>> =>
    send.list('GET', '/v1/organizations', { query }, options),
  /** Create an organization with its owner and an API key. */
  create: (body: Body<'/v1/organizations', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/organizations', 'post'>> =>
    send.json('POST', '/v1/organizations', { body }, options),
  /** Get an organization. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/organizations/{id}', 'get'>> =>
    send.json('GET', path`/v1/organizations/${id}`, {  }, options),
  /** Update an organization’s name, entitlements, and features. */
  update: (id: string, body: Body<'/v1/organizations/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/organizations/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/organizations/${id}`, { body }, options),
  /** Suspend an organization. */
  suspend: (id: string, options?: RequestOptions): Promise<Answer<'/v1/organizations/{id}/suspend', 'post'>> =>
    send.json('POST', path`/v1/organizations/${id}/suspend`, {  }, options),
  /** Reactivate an organization. */
  reactivate: (id: string, options?: RequestOptions): Promise<Answer<'/v1/organizations/{id}/reactivate', 'post'>> =>
    send.json('POST', path`/v1/organizations/${id}/reactivate`, {  }, options),
  /** Create an API key for an organization’s owner. */
  provisionApiKey: (id: string, body: Body<'/v1/organizations/{id}/api-keys', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/organizations/{id}/api-keys', 'post'>> =>
    send.json('POST', path`/v1/organizations/${id}/api-keys`, { body }, options),
})

const otlp = (send: Send) => ({
  /** Send OpenTelemetry traces. */
  receiveTraces: (body: Blob, options?: RequestOptions): Promise<Answer<'/v1/otlp/v1/traces', 'post'>> =>
    send.json('POST', '/v1/otlp/v1/traces', { body }, options),
  /** List traces without a readable conversation. */
  listUnreadTraces: (query?: Query<'/v1/otlp/unread-traces', 'get'>, options?: RequestOptions): Paged<Item<'/v1/otlp/unread-traces', 'get'>> =>
    send.list('GET', '/v1/otlp/unread-traces', { query }, options),
  /** Get the spans of an unreadable trace. */
  getUnreadSpans: (query: Query<'/v1/otlp/unread-traces/spans', 'get'>, options?: RequestOptions): Promise<Answer<'/v1/otlp/unread-traces/spans', 'get'>> =>
    send.json('GET', '/v1/otlp/unread-traces/spans', { query }, options),
})

const ownershipRules = (send: Send) => ({
  /** List ownership rules. */
  list: (query?: Query<'/v1/ownership-rules', 'get'>, options?: RequestOptions): Paged<Item<'/v1/ownership-rules', 'get'>> =>
    send.list('GET', '/v1/ownership-rules', { query }, options),
  /** Create an ownership rule. */
  create: (body: Body<'/v1/ownership-rules', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/ownership-rules', 'post'>> =>
    send.json('POST', '/v1/ownership-rules', { body }, options),
  /** Get an ownership rule. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/ownership-rules/{id}', 'get'>> =>
    send.json('GET', path`/v1/ownership-rules/${id}`, {  }, options),
  /** Update an ownership rule. */
  update: (id: string, body: Body<'/v1/ownership-rules/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/ownership-rules/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/ownership-rules/${id}`, { body }, options),
  /** Delete an ownership rule. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/ownership-rules/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/ownership-rules/${id}`, {  }, options),
})

const reviews = (send: Send) => ({
  /** List reviews. */
  list: (query?: Query<'/v1/reviews', 'get'>, options?: RequestOptions): Paged<Item<'/v1/reviews', 'get'>> =>
    send.list('GET', '/v1/reviews', { query }, options),
  /** Create a review outside a bucket. */
  create: (body: Body<'/v1/reviews', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/reviews', 'post'>> =>
    send.json('POST', '/v1/reviews', { body }, options),
  /** Get a review. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/reviews/{id}', 'get'>> =>
    send.json('GET', path`/v1/reviews/${id}`, {  }, options),
  /** Update, complete, or skip your review. */
  update: (id: string, body: Body<'/v1/reviews/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/reviews/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/reviews/${id}`, { body }, options),
  /** Get a review’s scorecards. */
  listScorecards: (id: string, options?: RequestOptions): Promise<Answer<'/v1/reviews/{id}/scorecards', 'get'>> =>
    send.json('GET', path`/v1/reviews/${id}/scorecards`, {  }, options),
  /** Extend a review’s lease. */
  keep: (id: string, options?: RequestOptions): Promise<Answer<'/v1/reviews/{id}/heartbeat', 'post'>> =>
    send.json('POST', path`/v1/reviews/${id}/heartbeat`, {  }, options),
  /** Release a review. */
  release: (id: string, query?: Query<'/v1/reviews/{id}/release', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/reviews/{id}/release', 'post'>> =>
    send.json('POST', path`/v1/reviews/${id}/release`, { query }, options),
  /** Adjudicate conflicting reviews. */
  adjudicate: (id: string, body: Body<'/v1/reviews/{id}/adjudicate', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/reviews/{id}/adjudicate', 'post'>> =>
    send.json('POST', path`/v1/reviews/${id}/adjudicate`, { body }, options),
})

const savedViews = (send: Send) => ({
  /** List saved views. */
  list: (query?: Query<'/v1/saved-views', 'get'>, options?: RequestOptions): Paged<Item<'/v1/saved-views', 'get'>> =>
    send.list('GET', '/v1/saved-views', { query }, options),
  /** Create a saved view. */
  create: (body: Body<'/v1/saved-views', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/saved-views', 'post'>> =>
    send.json('POST', '/v1/saved-views', { body }, options),
  /** Get a saved view. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/saved-views/{id}', 'get'>> =>
    send.json('GET', path`/v1/saved-views/${id}`, {  }, options),
  /** Update a saved view. */
  update: (id: string, body: Body<'/v1/saved-views/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/saved-views/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/saved-views/${id}`, { body }, options),
  /** Delete a saved view. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/saved-views/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/saved-views/${id}`, {  }, options),
})

const soundRuns = (send: Send) => ({
  /** Measure or transcribe stored recordings. */
  create: (body: Body<'/v1/sound-runs', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/sound-runs', 'post'>> =>
    send.json('POST', '/v1/sound-runs', { body }, options),
  /** List runs that measure or transcribe recordings. */
  list: (query?: Query<'/v1/sound-runs', 'get'>, options?: RequestOptions): Paged<Item<'/v1/sound-runs', 'get'>> =>
    send.list('GET', '/v1/sound-runs', { query }, options),
  /** Get a run that measures or transcribes recordings. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/sound-runs/{id}', 'get'>> =>
    send.json('GET', path`/v1/sound-runs/${id}`, {  }, options),
  /** Cancel a run that measures or transcribes recordings. */
  cancel: (id: string, options?: RequestOptions): Promise<Answer<'/v1/sound-runs/{id}/cancel', 'post'>> =>
    send.json('POST', path`/v1/sound-runs/${id}/cancel`, {  }, options),
})

const stream = (send: Send) => ({
  /** Stream changes as server-sent events. */
  streamEvents: (options?: RequestOptions): Promise<Answer<'/v1/stream', 'get'>> =>
    send.json('GET', '/v1/stream', {  }, options),
})

const topics = (send: Send) => ({
  /** List topics. */
  list: (query?: Query<'/v1/topics', 'get'>, options?: RequestOptions): Promise<Answer<'/v1/topics', 'get'>> =>
    send.json('GET', '/v1/topics', { query }, options),
  /** List topics without a monitor. */
  listUncoveredTopics: (query?: Query<'/v1/topics/uncovered', 'get'>, options?: RequestOptions): Promise<Answer<'/v1/topics/uncovered', 'get'>> =>
    send.json('GET', '/v1/topics/uncovered', { query }, options),
  /** Get a topic. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/topics/{id}', 'get'>> =>
    send.json('GET', path`/v1/topics/${id}`, {  }, options),
  /** Rename or hide a topic. */
  update: (id: string, body: Body<'/v1/topics/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/topics/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/topics/${id}`, { body }, options),
  /** Merge a topic into another. */
  merge: (id: string, body: Body<'/v1/topics/{id}/merge', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/topics/{id}/merge', 'post'>> =>
    send.json('POST', path`/v1/topics/${id}/merge`, { body }, options),
  /** Draft a monitor from a topic. */
  draftMonitor: (id: string, body: Body<'/v1/topics/{id}/monitor', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/topics/{id}/monitor', 'post'>> =>
    send.json('POST', path`/v1/topics/${id}/monitor`, { body }, options),
  /** List a topic’s conversations. */
  listConversations: (id: string, query?: Query<'/v1/topics/{id}/conversations', 'get'>, options?: RequestOptions): Paged<Item<'/v1/topics/{id}/conversations', 'get'>> =>
    send.list('GET', path`/v1/topics/${id}/conversations`, { query }, options),
})

const webhookEndpoints = (send: Send) => ({
  /** List webhook endpoints. */
  list: (query?: Query<'/v1/webhook-endpoints', 'get'>, options?: RequestOptions): Paged<Item<'/v1/webhook-endpoints', 'get'>> =>
    send.list('GET', '/v1/webhook-endpoints', { query }, options),
  /** Create a webhook endpoint. */
  create: (body: Body<'/v1/webhook-endpoints', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/webhook-endpoints', 'post'>> =>
    send.json('POST', '/v1/webhook-endpoints', { body }, options),
  /** Get a webhook endpoint. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/webhook-endpoints/{id}', 'get'>> =>
    send.json('GET', path`/v1/webhook-endpoints/${id}`, {  }, options),
  /** Update a webhook endpoint. */
  update: (id: string, body: Body<'/v1/webhook-endpoints/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/webhook-endpoints/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/webhook-endpoints/${id}`, { body }, options),
  /** Delete a webhook endpoint. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/webhook-endpoints/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/webhook-endpoints/${id}`, {  }, options),
  /** Approve or re-enable a webhook endpoint. */
  approve: (id: string, body?: Body<'/v1/webhook-endpoints/{id}/approve', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/webhook-endpoints/{id}/approve', 'post'>> =>
    send.json('POST', path`/v1/webhook-endpoints/${id}/approve`, { body }, options),
  /** Disable a webhook endpoint. */
  disable: (id: string, options?: RequestOptions): Promise<Answer<'/v1/webhook-endpoints/{id}/disable', 'post'>> =>
    send.json('POST', path`/v1/webhook-endpoints/${id}/disable`, {  }, options),
  /** Rotate a webhook endpoint’s secret. */
  rotateSecret: (id: string, options?: RequestOptions): Promise<Answer<'/v1/webhook-endpoints/{id}/rotate-secret', 'post'>> =>
    send.json('POST', path`/v1/webhook-endpoints/${id}/rotate-secret`, {  }, options),
  /** List a webhook endpoint’s deliveries. */
  listDeliveries: (id: string, query?: Query<'/v1/webhook-endpoints/{id}/deliveries', 'get'>, options?: RequestOptions): Paged<Item<'/v1/webhook-endpoints/{id}/deliveries', 'get'>> =>
    send.list('GET', path`/v1/webhook-endpoints/${id}/deliveries`, { query }, options),
  /** Get a webhook delivery. */
  getDelivery: (id: string, deliveryId: string, options?: RequestOptions): Promise<Answer<'/v1/webhook-endpoints/{id}/deliveries/{deliveryId}', 'get'>> =>
    send.json('GET', path`/v1/webhook-endpoints/${id}/deliveries/${deliveryId}`, {  }, options),
  /** Redeliver a webhook. */
  redeliver: (id: string, deliveryId: string, options?: RequestOptions): Promise<Answer<'/v1/webhook-endpoints/{id}/deliveries/{deliveryId}/redeliver', 'post'>> =>
    send.json('POST', path`/v1/webhook-endpoints/${id}/deliveries/${deliveryId}/redeliver`, {  }, options),
  /** Send a test event to a webhook endpoint. */
  test: (id: string, options?: RequestOptions): Promise<Answer<'/v1/webhook-endpoints/{id}/test', 'post'>> =>
    send.json('POST', path`/v1/webhook-endpoints/${id}/test`, {  }, options),
})

/** Every operation that API keys can call, grouped by resource. */
export class Resources {
  readonly agentGroups: ReturnType<typeof agentGroups>
  readonly agents: ReturnType<typeof agents>
  readonly alertIncidents: ReturnType<typeof alertIncidents>
  readonly alertRules: ReturnType<typeof alertRules>
  readonly analytics: ReturnType<typeof analytics>
  readonly apiKeys: ReturnType<typeof apiKeys>
  readonly auditEvents: ReturnType<typeof auditEvents>
  readonly boards: ReturnType<typeof boards>
  readonly buckets: ReturnType<typeof buckets>
  readonly companies: ReturnType<typeof companies>
  readonly conversationExports: ReturnType<typeof conversationExports>
  readonly conversationTags: ReturnType<typeof conversationTags>
  readonly conversations: ReturnType<typeof conversations>
  readonly customerMetrics: ReturnType<typeof customerMetrics>
  readonly destinations: ReturnType<typeof destinations>
  readonly embeddings: ReturnType<typeof embeddings>
  readonly experiments: ReturnType<typeof experiments>
  readonly exportSchedules: ReturnType<typeof exportSchedules>
  readonly exports: ReturnType<typeof exports>
  readonly failedJobs: ReturnType<typeof failedJobs>
  readonly findings: ReturnType<typeof findings>
  readonly health: ReturnType<typeof health>
  readonly integrations: ReturnType<typeof integrations>
  readonly me: ReturnType<typeof me>
  readonly members: ReturnType<typeof members>
  readonly metadataKeys: ReturnType<typeof metadataKeys>
  readonly modelProviders: ReturnType<typeof modelProviders>
  readonly models: ReturnType<typeof models>
  readonly monitorResults: ReturnType<typeof monitorResults>
  readonly monitorTemplates: ReturnType<typeof monitorTemplates>
  readonly monitors: ReturnType<typeof monitors>
  readonly notificationPreferences: ReturnType<typeof notificationPreferences>
  readonly notifications: ReturnType<typeof notifications>
  readonly organization: ReturnType<typeof organization>
  readonly organizations: ReturnType<typeof organizations>
  readonly otlp: ReturnType<typeof otlp>
  readonly ownershipRules: ReturnType<typeof ownershipRules>
  readonly reviews: ReturnType<typeof reviews>
  readonly savedViews: ReturnType<typeof savedViews>
  readonly soundRuns: ReturnType<typeof soundRuns>
  readonly stream: ReturnType<typeof stream>
  readonly topics: ReturnType<typeof topics>
  readonly webhookEndpoints: ReturnType<typeof webhookEndpoints>

  constructor(send: Send) {
    this.agentGroups = agentGroups(send)
    this.agents = agents(send)
    this.alertIncidents = alertIncidents(send)
    this.alertRules = alertRules(send)
    this.analytics = analytics(send)
    this.apiKeys = apiKeys(send)
    this.auditEvents = auditEvents(send)
    this.boards = boards(send)
    this.buckets = buckets(send)
    this.companies = companies(send)
    this.conversationExports = conversationExports(send)
    this.conversationTags = conversationTags(send)
    this.conversations = conversations(send)
    this.customerMetrics = customerMetrics(send)
    this.destinations = destinations(send)
    this.embeddings = embeddings(send)
    this.experiments = experiments(send)
    this.exportSchedules = exportSchedules(send)
    this.exports = exports(send)
    this.failedJobs = failedJobs(send)
    this.findings = findings(send)
    this.health = health(send)
    this.integrations = integrations(send)
    this.me = me(send)
    this.members = members(send)
    this.metadataKeys = metadataKeys(send)
    this.modelProviders = modelProviders(send)
    this.models = models(send)
    this.monitorResults = monitorResults(send)
    this.monitorTemplates = monitorTemplates(send)
    this.monitors = monitors(send)
    this.notificationPreferences = notificationPreferences(send)
    this.notifications = notifications(send)
    this.organization = organization(send)
    this.organizations = organizations(send)
    this.otlp = otlp(send)
    this.ownershipRules = ownershipRules(send)
    this.reviews = reviews(send)
    this.savedViews = savedViews(send)
    this.soundRuns = soundRuns(send)
    this.stream = stream(send)
    this.topics = topics(send)
    this.webhookEndpoints = webhookEndpoints(send)
  }
}
