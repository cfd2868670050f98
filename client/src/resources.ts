// Written by `npm run generate` from openapi.json.

import type { Answer, Body, Item, Query } from './operation.ts'
import type { Paged } from './paged.ts'
import { path, type RequestOptions, type Send } from './send.ts'

const agentGroups = (send: Send) => ({
  /** List agent groups, newest first. */
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
  /** Delete an agent group; its agents stay. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/agent-groups/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/agent-groups/${id}`, {  }, options),
})

const agents = (send: Send) => ({
  /** List agents, newest first. */
  list: (query?: Query<'/v1/agents', 'get'>, options?: RequestOptions): Paged<Item<'/v1/agents', 'get'>> =>
    send.list('GET', '/v1/agents', { query }, options),
  /** Create an agent. */
  create: (body: Body<'/v1/agents', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/agents', 'post'>> =>
    send.json('POST', '/v1/agents', { body }, options),
  /** Get an agent. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/agents/{id}', 'get'>> =>
    send.json('GET', path`/v1/agents/${id}`, {  }, options),
  /** Change an agent, its groups, or bring it back from the archive. */
  update: (id: string, body: Body<'/v1/agents/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/agents/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/agents/${id}`, { body }, options),
  /** Archive an agent; its conversations stay. */
  archive: (id: string, options?: RequestOptions): Promise<Answer<'/v1/agents/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/agents/${id}`, {  }, options),
  /** List the versions of an agent, newest first. */
  listVersions: (id: string, query?: Query<'/v1/agents/{id}/versions', 'get'>, options?: RequestOptions): Paged<Item<'/v1/agents/{id}/versions', 'get'>> =>
    send.list('GET', path`/v1/agents/${id}/versions`, { query }, options),
  /** Make a version, or find the one with this prompt and configuration. */
  createVersion: (id: string, body: Body<'/v1/agents/{id}/versions', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/agents/{id}/versions', 'post'>> =>
    send.json('POST', path`/v1/agents/${id}/versions`, { body, repeat: 'always' }, options),
  /** Get a version of an agent. */
  getVersion: (id: string, versionId: string, options?: RequestOptions): Promise<Answer<'/v1/agents/{id}/versions/{versionId}', 'get'>> =>
    send.json('GET', path`/v1/agents/${id}/versions/${versionId}`, {  }, options),
})

const apiKeys = (send: Send) => ({
  /** List the keys, newest first, revoked ones included. */
  list: (query?: Query<'/v1/api-keys', 'get'>, options?: RequestOptions): Paged<Item<'/v1/api-keys', 'get'>> =>
    send.list('GET', '/v1/api-keys', { query }, options),
  /** Make a key that acts for you. */
  create: (body: Body<'/v1/api-keys', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/api-keys', 'post'>> =>
    send.json('POST', '/v1/api-keys', { body }, options),
  /** Revoke a key. */
  revoke: (id: string, options?: RequestOptions): Promise<Answer<'/v1/api-keys/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/api-keys/${id}`, {  }, options),
})

const auditEvents = (send: Send) => ({
  /** List who did what, newest first. */
  list: (query?: Query<'/v1/audit-events', 'get'>, options?: RequestOptions): Paged<Item<'/v1/audit-events', 'get'>> =>
    send.list('GET', '/v1/audit-events', { query }, options),
})

const buckets = (send: Send) => ({
  /** List buckets, newest first. */
  list: (query?: Query<'/v1/buckets', 'get'>, options?: RequestOptions): Paged<Item<'/v1/buckets', 'get'>> =>
    send.list('GET', '/v1/buckets', { query }, options),
  /** Create a bucket of conversations to review. */
  create: (body: Body<'/v1/buckets', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/buckets', 'post'>> =>
    send.json('POST', '/v1/buckets', { body }, options),
  /** Get a bucket. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/buckets/{id}', 'get'>> =>
    send.json('GET', path`/v1/buckets/${id}`, {  }, options),
  /** Change a bucket. */
  update: (id: string, body: Body<'/v1/buckets/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/buckets/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/buckets/${id}`, { body }, options),
  /** Delete a bucket. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/buckets/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/buckets/${id}`, {  }, options),
  /** List the conversations of a bucket, those that were put in last first. */
  listConversations: (id: string, query?: Query<'/v1/buckets/{id}/conversations', 'get'>, options?: RequestOptions): Paged<Item<'/v1/buckets/{id}/conversations', 'get'>> =>
    send.list('GET', path`/v1/buckets/${id}/conversations`, { query }, options),
  /** Put conversations into a bucket, and say of each what became of it. */
  addConversations: (id: string, body: Body<'/v1/buckets/{id}/conversations', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/buckets/{id}/conversations', 'post'>> =>
    send.json('POST', path`/v1/buckets/${id}/conversations`, { body }, options),
  /** Take a conversation out of a bucket. */
  removeConversation: (id: string, conversationId: string, options?: RequestOptions): Promise<Answer<'/v1/buckets/{id}/conversations/{conversationId}', 'delete'>> =>
    send.json('DELETE', path`/v1/buckets/${id}/conversations/${conversationId}`, {  }, options),
  /** Count what is reviewed of a bucket and what is left, also by reviewer. */
  getProgress: (id: string, query?: Query<'/v1/buckets/{id}/progress', 'get'>, options?: RequestOptions): Promise<Answer<'/v1/buckets/{id}/progress', 'get'>> =>
    send.json('GET', path`/v1/buckets/${id}/progress`, { query }, options),
  /** Claim the next conversation of a bucket to review. */
  claimReview: (id: string, options?: RequestOptions): Promise<Answer<'/v1/buckets/{id}/claim', 'post'>> =>
    send.json('POST', path`/v1/buckets/${id}/claim`, {  }, options),
})

const companies = (send: Send) => ({
  /** List companies, newest first. */
  list: (query?: Query<'/v1/companies', 'get'>, options?: RequestOptions): Paged<Item<'/v1/companies', 'get'>> =>
    send.list('GET', '/v1/companies', { query }, options),
  /** Create a company. */
  create: (body: Body<'/v1/companies', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/companies', 'post'>> =>
    send.json('POST', '/v1/companies', { body }, options),
  /** Get a company. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/companies/{id}', 'get'>> =>
    send.json('GET', path`/v1/companies/${id}`, {  }, options),
  /** Rename a company, or set or remove its logo. */
  update: (id: string, body: Body<'/v1/companies/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/companies/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/companies/${id}`, { body }, options),
  /** Delete a company. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/companies/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/companies/${id}`, {  }, options),
  /** Upload a logo. */
  uploadLogo: (id: string, body: Blob, options?: RequestOptions): Promise<Answer<'/v1/companies/{id}/logo', 'put'>> =>
    send.json('PUT', path`/v1/companies/${id}/logo`, { body }, options),
})

const conversations = (send: Send) => ({
  /** Take in a conversation, or complete the one that has this externalId. */
  create: (body: Body<'/v1/conversations', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/conversations', 'post'>> =>
    send.json('POST', '/v1/conversations', { body, repeat: 'externalId' }, options),
  /** List conversations, the last to start first. */
  list: (query?: Query<'/v1/conversations', 'get'>, options?: RequestOptions): Paged<Item<'/v1/conversations', 'get'>> =>
    send.list('GET', '/v1/conversations', { query }, options),
  /** Take in many conversations, and say of each what became of it. */
  createBatch: (body: Body<'/v1/conversations/batch', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/conversations/batch', 'post'>> =>
    send.json('POST', '/v1/conversations/batch', { body, repeat: 'externalId' }, options),
  /** Get a conversation. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/conversations/{id}', 'get'>> =>
    send.json('GET', path`/v1/conversations/${id}`, {  }, options),
  /** Change a conversation. */
  update: (id: string, body: Body<'/v1/conversations/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/conversations/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/conversations/${id}`, { body }, options),
  /** Erase a conversation. */
  erase: (id: string, options?: RequestOptions): Promise<Answer<'/v1/conversations/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/conversations/${id}`, {  }, options),
  /** Get the transcript of a conversation, as it was given and as turns. */
  getTranscript: (id: string, options?: RequestOptions): Promise<Answer<'/v1/conversations/{id}/transcript', 'get'>> =>
    send.json('GET', path`/v1/conversations/${id}/transcript`, {  }, options),
  /** List the conversations that a filter selects, the last to start first. */
  search: (body: Body<'/v1/conversations/search', 'post'>, options?: RequestOptions): Paged<Item<'/v1/conversations/search', 'post'>> =>
    send.list('POST', '/v1/conversations/search', { body, repeat: 'always' }, options),
  /** Count the conversations that a filter selects, and say in words what it selects. */
  count: (body: Body<'/v1/conversations/count', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/conversations/count', 'post'>> =>
    send.json('POST', '/v1/conversations/count', { body, repeat: 'always' }, options),
  /** Upload the recording of a conversation. */
  uploadRecording: (id: string, body: Blob, options?: RequestOptions): Promise<Answer<'/v1/conversations/{id}/recording', 'put'>> =>
    send.json('PUT', path`/v1/conversations/${id}/recording`, { body }, options),
  /** Get the recording of a conversation. */
  getRecording: (id: string, options?: RequestOptions): Promise<Response> =>
    send.open('GET', path`/v1/conversations/${id}/recording`, {  }, options),
  /** List the metrics of a conversation, by key. */
  listCustomerMetrics: (id: string, query?: Query<'/v1/conversations/{id}/metrics', 'get'>, options?: RequestOptions): Paged<Item<'/v1/conversations/{id}/metrics', 'get'>> =>
    send.list('GET', path`/v1/conversations/${id}/metrics`, { query }, options),
  /** Get a metric of a conversation. */
  getCustomerMetric: (id: string, key: string, options?: RequestOptions): Promise<Answer<'/v1/conversations/{id}/metrics/{key}', 'get'>> =>
    send.json('GET', path`/v1/conversations/${id}/metrics/${key}`, {  }, options),
  /** Set a metric of a conversation. */
  putCustomerMetric: (id: string, key: string, body: Body<'/v1/conversations/{id}/metrics/{key}', 'put'>, options?: RequestOptions): Promise<Answer<'/v1/conversations/{id}/metrics/{key}', 'put'>> =>
    send.json('PUT', path`/v1/conversations/${id}/metrics/${key}`, { body }, options),
  /** Delete a metric of a conversation. */
  deleteCustomerMetric: (id: string, key: string, options?: RequestOptions): Promise<Answer<'/v1/conversations/{id}/metrics/{key}', 'delete'>> =>
    send.json('DELETE', path`/v1/conversations/${id}/metrics/${key}`, {  }, options),
  /** List the results of a conversation, of each monitor that of the newest version. */
  listResults: (id: string, query?: Query<'/v1/conversations/{id}/results', 'get'>, options?: RequestOptions): Paged<Item<'/v1/conversations/{id}/results', 'get'>> =>
    send.list('GET', path`/v1/conversations/${id}/results`, { query }, options),
  /** List the findings that a conversation is attached to, newest first. */
  listFindings: (id: string, query?: Query<'/v1/conversations/{id}/findings', 'get'>, options?: RequestOptions): Paged<Item<'/v1/conversations/{id}/findings', 'get'>> =>
    send.list('GET', path`/v1/conversations/${id}/findings`, { query }, options),
  /** List the reviews of a conversation, newest first. */
  listReviews: (id: string, query?: Query<'/v1/conversations/{id}/reviews', 'get'>, options?: RequestOptions): Paged<Item<'/v1/conversations/{id}/reviews', 'get'>> =>
    send.list('GET', path`/v1/conversations/${id}/reviews`, { query }, options),
})

const customerMetrics = (send: Send) => ({
  /** Set metrics of many conversations, and say of each what became of it. */
  create: (body: Body<'/v1/customer-metrics', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/customer-metrics', 'post'>> =>
    send.json('POST', '/v1/customer-metrics', { body, repeat: 'always' }, options),
})

const experiments = (send: Send) => ({
  /** Launch an experiment. */
  launch: (body: Body<'/v1/experiments', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/experiments', 'post'>> =>
    send.json('POST', '/v1/experiments', { body }, options),
  /** List experiments, newest first. */
  list: (query?: Query<'/v1/experiments', 'get'>, options?: RequestOptions): Paged<Item<'/v1/experiments', 'get'>> =>
    send.list('GET', '/v1/experiments', { query }, options),
  /** Get an experiment with its outcomes and its health. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/experiments/{id}', 'get'>> =>
    send.json('GET', path`/v1/experiments/${id}`, {  }, options),
  /** Finish an experiment. */
  finish: (id: string, options?: RequestOptions): Promise<Answer<'/v1/experiments/{id}/finish', 'post'>> =>
    send.json('POST', path`/v1/experiments/${id}/finish`, {  }, options),
  /** List the evaluation runs of an experiment, newest first. */
  listEvaluations: (id: string, query?: Query<'/v1/experiments/{id}/evaluations', 'get'>, options?: RequestOptions): Paged<Item<'/v1/experiments/{id}/evaluations', 'get'>> =>
    send.list('GET', path`/v1/experiments/${id}/evaluations`, { query }, options),
  /** Ask again for missing and failed observations. */
  retryEvaluations: (id: string, options?: RequestOptions): Promise<Answer<'/v1/experiments/{id}/evaluations', 'post'>> =>
    send.json('POST', path`/v1/experiments/${id}/evaluations`, {  }, options),
  /** Ask for an export of what an experiment observed. */
  createExport: (id: string, body: Body<'/v1/experiments/{id}/exports', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/experiments/{id}/exports', 'post'>> =>
    send.json('POST', path`/v1/experiments/${id}/exports`, { body, repeat: 'always' }, options),
  /** List the exports of an experiment, newest first. */
  listExports: (id: string, query?: Query<'/v1/experiments/{id}/exports', 'get'>, options?: RequestOptions): Paged<Item<'/v1/experiments/{id}/exports', 'get'>> =>
    send.list('GET', path`/v1/experiments/${id}/exports`, { query }, options),
  /** Get an export of an experiment: its manifest as it is now. */
  getExport: (id: string, exportId: string, options?: RequestOptions): Promise<Answer<'/v1/experiments/{id}/exports/{exportId}', 'get'>> =>
    send.json('GET', path`/v1/experiments/${id}/exports/${exportId}`, {  }, options),
  /** Cancel an unfinished export of an experiment, or expire a completed one now. */
  deleteExport: (id: string, exportId: string, options?: RequestOptions): Promise<Answer<'/v1/experiments/{id}/exports/{exportId}', 'delete'>> =>
    send.json('DELETE', path`/v1/experiments/${id}/exports/${exportId}`, {  }, options),
  /** Get a link to the file of a completed export of an experiment. */
  downloadExport: (id: string, exportId: string, options?: RequestOptions): Promise<Response> =>
    send.open('GET', path`/v1/experiments/${id}/exports/${exportId}/download`, {  }, options),
  /** List monitor groups, newest first. */
  listMonitorGroups: (query?: Query<'/v1/experiments/monitor-groups', 'get'>, options?: RequestOptions): Paged<Item<'/v1/experiments/monitor-groups', 'get'>> =>
    send.list('GET', '/v1/experiments/monitor-groups', { query }, options),
  /** Get a monitor group. */
  getMonitorGroup: (id: string, options?: RequestOptions): Promise<Answer<'/v1/experiments/monitor-groups/{id}', 'get'>> =>
    send.json('GET', path`/v1/experiments/monitor-groups/${id}`, {  }, options),
  /** Rename a monitor group, or change its metrics for experiments to come. */
  updateMonitorGroup: (id: string, body: Body<'/v1/experiments/monitor-groups/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/experiments/monitor-groups/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/experiments/monitor-groups/${id}`, { body }, options),
  /** Delete a monitor group; experiments keep what they measure. */
  deleteMonitorGroup: (id: string, options?: RequestOptions): Promise<Answer<'/v1/experiments/monitor-groups/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/experiments/monitor-groups/${id}`, {  }, options),
})

const exportSchedules = (send: Send) => ({
  /** List export schedules, newest first. */
  list: (query?: Query<'/v1/export-schedules', 'get'>, options?: RequestOptions): Paged<Item<'/v1/export-schedules', 'get'>> =>
    send.list('GET', '/v1/export-schedules', { query }, options),
  /** Have an export made again and again, and sent to a bucket or a webhook. */
  create: (body: Body<'/v1/export-schedules', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/export-schedules', 'post'>> =>
    send.json('POST', '/v1/export-schedules', { body }, options),
  /** Get an export schedule. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/export-schedules/{id}', 'get'>> =>
    send.json('GET', path`/v1/export-schedules/${id}`, {  }, options),
  /** Change, pause or resume an export schedule. */
  update: (id: string, body: Body<'/v1/export-schedules/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/export-schedules/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/export-schedules/${id}`, { body }, options),
  /** Delete an export schedule and its runs; exports that it made stay. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/export-schedules/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/export-schedules/${id}`, {  }, options),
  /** See whether the destination of an export schedule can be written to. */
  test: (id: string, options?: RequestOptions): Promise<Answer<'/v1/export-schedules/{id}/test', 'post'>> =>
    send.json('POST', path`/v1/export-schedules/${id}/test`, {  }, options),
  /** List the runs of an export schedule, newest first. */
  listRuns: (id: string, query?: Query<'/v1/export-schedules/{id}/runs', 'get'>, options?: RequestOptions): Paged<Item<'/v1/export-schedules/{id}/runs', 'get'>> =>
    send.list('GET', path`/v1/export-schedules/${id}/runs`, { query }, options),
  /** Run an export schedule now, paused or not. */
  run: (id: string, options?: RequestOptions): Promise<Answer<'/v1/export-schedules/{id}/run', 'post'>> =>
    send.json('POST', path`/v1/export-schedules/${id}/run`, {  }, options),
})

const exports = (send: Send) => ({
  /** Ask for an export of stored monitor results. */
  create: (body: Body<'/v1/monitor-exports', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/monitor-exports', 'post'>> =>
    send.json('POST', '/v1/monitor-exports', { body, repeat: 'always' }, options),
  /** List exports, newest first. */
  list: (query?: Query<'/v1/monitor-exports', 'get'>, options?: RequestOptions): Paged<Item<'/v1/monitor-exports', 'get'>> =>
    send.list('GET', '/v1/monitor-exports', { query }, options),
  /** Count the rows that an export would have, and show the first of them. */
  preview: (body: Body<'/v1/monitor-exports/preview', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/monitor-exports/preview', 'post'>> =>
    send.json('POST', '/v1/monitor-exports/preview', { body, repeat: 'always' }, options),
  /** Get an export: its manifest as it is now. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/monitor-exports/{id}', 'get'>> =>
    send.json('GET', path`/v1/monitor-exports/${id}`, {  }, options),
  /** Cancel an unfinished export, or expire a completed one now. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/monitor-exports/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/monitor-exports/${id}`, {  }, options),
  /** Get a link to the file of a completed export. */
  download: (id: string, options?: RequestOptions): Promise<Response> =>
    send.open('GET', path`/v1/monitor-exports/${id}/download`, {  }, options),
})

const findings = (send: Send) => ({
  /** List findings, newest first. */
  list: (query?: Query<'/v1/findings', 'get'>, options?: RequestOptions): Paged<Item<'/v1/findings', 'get'>> =>
    send.list('GET', '/v1/findings', { query }, options),
  /** File a finding. */
  create: (body: Body<'/v1/findings', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/findings', 'post'>> =>
    send.json('POST', '/v1/findings', { body }, options),
  /** Get a finding. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/findings/{id}', 'get'>> =>
    send.json('GET', path`/v1/findings/${id}`, {  }, options),
  /** Change what a finding says, or whose it is. */
  update: (id: string, body: Body<'/v1/findings/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/findings/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/findings/${id}`, { body }, options),
  /** Move a finding to another status, or give it another priority. */
  triage: (id: string, body: Body<'/v1/findings/{id}/triage', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/findings/{id}/triage', 'post'>> =>
    send.json('POST', path`/v1/findings/${id}/triage`, { body }, options),
  /** Merge a finding into another. */
  merge: (id: string, body: Body<'/v1/findings/{id}/merge', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/findings/{id}/merge', 'post'>> =>
    send.json('POST', path`/v1/findings/${id}/merge`, { body }, options),
  /** List how a finding was moved, the last move first. */
  listHistory: (id: string, query?: Query<'/v1/findings/{id}/history', 'get'>, options?: RequestOptions): Paged<Item<'/v1/findings/{id}/history', 'get'>> =>
    send.list('GET', path`/v1/findings/${id}/history`, { query }, options),
  /** List the conversations of a finding, the one that was stored last first. */
  listConversations: (id: string, query?: Query<'/v1/findings/{id}/conversations', 'get'>, options?: RequestOptions): Paged<Item<'/v1/findings/{id}/conversations', 'get'>> =>
    send.list('GET', path`/v1/findings/${id}/conversations`, { query }, options),
  /** Attach a conversation to a finding. */
  attachConversation: (id: string, body: Body<'/v1/findings/{id}/conversations', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/findings/{id}/conversations', 'post'>> =>
    send.json('POST', path`/v1/findings/${id}/conversations`, { body, repeat: 'always' }, options),
  /** Get the attachment of a conversation to a finding. */
  getConversation: (id: string, conversationId: string, options?: RequestOptions): Promise<Answer<'/v1/findings/{id}/conversations/{conversationId}', 'get'>> =>
    send.json('GET', path`/v1/findings/${id}/conversations/${conversationId}`, {  }, options),
  /** Take a conversation off a finding. */
  detachConversation: (id: string, conversationId: string, options?: RequestOptions): Promise<Answer<'/v1/findings/{id}/conversations/{conversationId}', 'delete'>> =>
    send.json('DELETE', path`/v1/findings/${id}/conversations/${conversationId}`, {  }, options),
  /** List the comments on a finding, oldest first. */
  listComments: (id: string, query?: Query<'/v1/findings/{id}/comments', 'get'>, options?: RequestOptions): Paged<Item<'/v1/findings/{id}/comments', 'get'>> =>
    send.list('GET', path`/v1/findings/${id}/comments`, { query }, options),
  /** Comment on a finding. */
  createComment: (id: string, body: Body<'/v1/findings/{id}/comments', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/findings/{id}/comments', 'post'>> =>
    send.json('POST', path`/v1/findings/${id}/comments`, { body }, options),
  /** Get a comment on a finding. */
  getComment: (id: string, commentId: string, options?: RequestOptions): Promise<Answer<'/v1/findings/{id}/comments/{commentId}', 'get'>> =>
    send.json('GET', path`/v1/findings/${id}/comments/${commentId}`, {  }, options),
  /** Edit a comment of one’s own. */
  updateComment: (id: string, commentId: string, body: Body<'/v1/findings/{id}/comments/{commentId}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/findings/{id}/comments/{commentId}', 'patch'>> =>
    send.json('PATCH', path`/v1/findings/${id}/comments/${commentId}`, { body }, options),
  /** Delete a comment of one’s own, or as an admin any. */
  deleteComment: (id: string, commentId: string, options?: RequestOptions): Promise<Answer<'/v1/findings/{id}/comments/{commentId}', 'delete'>> =>
    send.json('DELETE', path`/v1/findings/${id}/comments/${commentId}`, {  }, options),
})

const integrations = (send: Send) => ({
  /** List integrations, newest first. */
  list: (query?: Query<'/v1/integrations', 'get'>, options?: RequestOptions): Paged<Item<'/v1/integrations', 'get'>> =>
    send.list('GET', '/v1/integrations', { query }, options),
  /** Create an integration, whose webhook a provider calls. */
  create: (body: Body<'/v1/integrations', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/integrations', 'post'>> =>
    send.json('POST', '/v1/integrations', { body }, options),
  /** Get an integration, and how it is doing. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/integrations/{id}', 'get'>> =>
    send.json('GET', path`/v1/integrations/${id}`, {  }, options),
  /** Rename an integration, change its settings, or replace its secret. */
  update: (id: string, body: Body<'/v1/integrations/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/integrations/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/integrations/${id}`, { body }, options),
  /** Delete an integration and what it received; its conversations stay. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/integrations/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/integrations/${id}`, {  }, options),
  /** Get how the calls of the provider are synced, and how that is going. */
  getSync: (id: string, options?: RequestOptions): Promise<Answer<'/v1/integrations/{id}/sync', 'get'>> =>
    send.json('GET', path`/v1/integrations/${id}/sync`, {  }, options),
  /** Have the calls listed at the provider, so that what its webhooks did not bring is fetched. */
  setSync: (id: string, body: Body<'/v1/integrations/{id}/sync', 'put'>, options?: RequestOptions): Promise<Answer<'/v1/integrations/{id}/sync', 'put'>> =>
    send.json('PUT', path`/v1/integrations/${id}/sync`, { body }, options),
  /** Forget the sync with its key, its runs and its gaps; the conversations stay. */
  deleteSync: (id: string, options?: RequestOptions): Promise<Answer<'/v1/integrations/{id}/sync', 'delete'>> =>
    send.json('DELETE', path`/v1/integrations/${id}/sync`, {  }, options),
  /** Sync now; a run under way goes on. */
  runSync: (id: string, options?: RequestOptions): Promise<Answer<'/v1/integrations/{id}/sync/run', 'post'>> =>
    send.json('POST', path`/v1/integrations/${id}/sync/run`, {  }, options),
  /** List the runs of the last month, newest first. */
  listSyncRuns: (id: string, query?: Query<'/v1/integrations/{id}/sync/runs', 'get'>, options?: RequestOptions): Paged<Item<'/v1/integrations/{id}/sync/runs', 'get'>> =>
    send.list('GET', path`/v1/integrations/${id}/sync/runs`, { query }, options),
  /** List calls that the provider has and that are not stored, newest first. */
  listSyncGaps: (id: string, query?: Query<'/v1/integrations/{id}/sync/gaps', 'get'>, options?: RequestOptions): Paged<Item<'/v1/integrations/{id}/sync/gaps', 'get'>> =>
    send.list('GET', path`/v1/integrations/${id}/sync/gaps`, { query }, options),
  /** List what a provider sent, newest first. */
  listDeliveries: (id: string, query?: Query<'/v1/integrations/{id}/deliveries', 'get'>, options?: RequestOptions): Paged<Item<'/v1/integrations/{id}/deliveries', 'get'>> =>
    send.list('GET', path`/v1/integrations/${id}/deliveries`, { query }, options),
  /** Get a delivery with what was sent. */
  getDelivery: (id: string, deliveryId: string, options?: RequestOptions): Promise<Answer<'/v1/integrations/{id}/deliveries/{deliveryId}', 'get'>> =>
    send.json('GET', path`/v1/integrations/${id}/deliveries/${deliveryId}`, {  }, options),
  /** Apply a delivery once more. */
  replayDelivery: (id: string, deliveryId: string, options?: RequestOptions): Promise<Answer<'/v1/integrations/{id}/deliveries/{deliveryId}/replay', 'post'>> =>
    send.json('POST', path`/v1/integrations/${id}/deliveries/${deliveryId}/replay`, {  }, options),
  /** Take in a call as the SDK of Roark sends it. */
  receiveRoarkCall: (body: Body<'/v1/integrations/roark/v1/call', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/integrations/roark/v1/call', 'post'>> =>
    send.json('POST', '/v1/integrations/roark/v1/call', { body }, options),
  /** Take in a conversation as a client of Coval submits it. */
  receiveCovalConversation: (body: Body<'/v1/integrations/coval/v1/conversations:submit', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/integrations/coval/v1/conversations:submit', 'post'>> =>
    send.json('POST', '/v1/integrations/coval/v1/conversations:submit', { body }, options),
  /** Take in a call as a client of Cekura sends it to be observed. */
  receiveCekuraCall: (body: Body<'/v1/integrations/cekura/observability/v1/observe/', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/integrations/cekura/observability/v1/observe/', 'post'>> =>
    send.json('POST', '/v1/integrations/cekura/observability/v1/observe/', { body }, options),
  /** Take in a call as a client of Bluejay sends it to be evaluated. */
  receiveBluejayCall: (body: Body<'/v1/integrations/bluejay/v1/evaluate', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/integrations/bluejay/v1/evaluate', 'post'>> =>
    send.json('POST', '/v1/integrations/bluejay/v1/evaluate', { body }, options),
  /** Take in a call as a client of Bluejay sends it to be evaluated. */
  receiveBluejayCallByItsFirstName: (body: Body<'/v1/integrations/bluejay/v1/evaluate-call', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/integrations/bluejay/v1/evaluate-call', 'post'>> =>
    send.json('POST', '/v1/integrations/bluejay/v1/evaluate-call', { body }, options),
})

const me = (send: Send) => ({
  /** Tell whom the key acts for and what it may do. */
  get: (options?: RequestOptions): Promise<Answer<'/v1/me', 'get'>> =>
    send.json('GET', '/v1/me', {  }, options),
})

const members = (send: Send) => ({
  /** List the members, newest first. */
  list: (query?: Query<'/v1/members', 'get'>, options?: RequestOptions): Paged<Item<'/v1/members', 'get'>> =>
    send.list('GET', '/v1/members', { query }, options),
  /** Invite a person. */
  invite: (body: Body<'/v1/members', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/members', 'post'>> =>
    send.json('POST', '/v1/members', { body }, options),
  /** Get a member. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/members/{id}', 'get'>> =>
    send.json('GET', path`/v1/members/${id}`, {  }, options),
  /** Rename a member or change the role. */
  update: (id: string, body: Body<'/v1/members/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/members/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/members/${id}`, { body }, options),
  /** Remove a member and revoke the keys that act for them. */
  remove: (id: string, options?: RequestOptions): Promise<Answer<'/v1/members/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/members/${id}`, {  }, options),
  /** Make a fresh invitation link, which ends the former one. */
  renewInvitation: (id: string, options?: RequestOptions): Promise<Answer<'/v1/members/{id}/invitation', 'post'>> =>
    send.json('POST', path`/v1/members/${id}/invitation`, {  }, options),
})

const monitorResults = (send: Send) => ({
  /** Store results of external monitors, and say of each what became of it. */
  create: (body: Body<'/v1/monitor-results', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/monitor-results', 'post'>> =>
    send.json('POST', '/v1/monitor-results', { body, repeat: 'always' }, options),
})

const monitors = (send: Send) => ({
  /** List monitors, newest first. */
  list: (query?: Query<'/v1/monitors', 'get'>, options?: RequestOptions): Paged<Item<'/v1/monitors', 'get'>> =>
    send.list('GET', '/v1/monitors', { query }, options),
  /** Create a monitor with its first version. */
  create: (body: Body<'/v1/monitors', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/monitors', 'post'>> =>
    send.json('POST', '/v1/monitors', { body }, options),
  /** Get a monitor with its current version. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/monitors/{id}', 'get'>> =>
    send.json('GET', path`/v1/monitors/${id}`, {  }, options),
  /** Change a monitor; another definition makes its next version. */
  update: (id: string, body: Body<'/v1/monitors/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/monitors/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/monitors/${id}`, { body }, options),
  /** Delete a monitor with its versions and all its results. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/monitors/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/monitors/${id}`, {  }, options),
  /** List the versions of a monitor, newest first. */
  listVersions: (id: string, query?: Query<'/v1/monitors/{id}/versions', 'get'>, options?: RequestOptions): Paged<Item<'/v1/monitors/{id}/versions', 'get'>> =>
    send.list('GET', path`/v1/monitors/${id}/versions`, { query }, options),
  /** Try a monitor that is not saved. */
  testDraft: (body: Body<'/v1/monitors/test', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/monitors/test', 'post'>> =>
    send.json('POST', '/v1/monitors/test', { body }, options),
  /** Try a monitor, or another definition of it, and tell what would change. */
  test: (id: string, body: Body<'/v1/monitors/{id}/test', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/monitors/{id}/test', 'post'>> =>
    send.json('POST', path`/v1/monitors/${id}/test`, { body }, options),
  /** List the runs of a monitor, newest first. */
  listEvaluations: (id: string, query?: Query<'/v1/monitors/{id}/evaluations', 'get'>, options?: RequestOptions): Paged<Item<'/v1/monitors/{id}/evaluations', 'get'>> =>
    send.list('GET', path`/v1/monitors/${id}/evaluations`, { query }, options),
  /** Evaluate stored conversations with the current version, or estimate what it would take. */
  createEvaluation: (id: string, body: Body<'/v1/monitors/{id}/evaluations', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/monitors/{id}/evaluations', 'post'>> =>
    send.json('POST', path`/v1/monitors/${id}/evaluations`, { body }, options),
  /** Get a run of a monitor with its progress. */
  getEvaluation: (id: string, runId: string, options?: RequestOptions): Promise<Answer<'/v1/monitors/{id}/evaluations/{runId}', 'get'>> =>
    send.json('GET', path`/v1/monitors/${id}/evaluations/${runId}`, {  }, options),
  /** Cancel a run; what it found stays. */
  cancelEvaluation: (id: string, runId: string, options?: RequestOptions): Promise<Answer<'/v1/monitors/{id}/evaluations/{runId}/cancel', 'post'>> =>
    send.json('POST', path`/v1/monitors/${id}/evaluations/${runId}/cancel`, {  }, options),
  /** Take up a cancelled or failed run where it stopped. */
  resumeEvaluation: (id: string, runId: string, options?: RequestOptions): Promise<Answer<'/v1/monitors/{id}/evaluations/{runId}/resume', 'post'>> =>
    send.json('POST', path`/v1/monitors/${id}/evaluations/${runId}/resume`, {  }, options),
  /** List the results of a monitor, of the last call to start first. */
  listResults: (id: string, query?: Query<'/v1/monitors/{id}/results', 'get'>, options?: RequestOptions): Paged<Item<'/v1/monitors/{id}/results', 'get'>> =>
    send.list('GET', path`/v1/monitors/${id}/results`, { query }, options),
  /** Count what a monitor found, by the hours, days or weeks in which the calls started. */
  getTrend: (id: string, query?: Query<'/v1/monitors/{id}/trend', 'get'>, options?: RequestOptions): Promise<Answer<'/v1/monitors/{id}/trend', 'get'>> =>
    send.json('GET', path`/v1/monitors/${id}/trend`, { query }, options),
  /** Compare how often monitors were affected with the period before. */
  compare: (query?: Query<'/v1/monitors/comparison', 'get'>, options?: RequestOptions): Promise<Answer<'/v1/monitors/comparison', 'get'>> =>
    send.json('GET', '/v1/monitors/comparison', { query }, options),
  /** How the results of a monitor agree with what people judged, by version, the newest first. */
  listAgreement: (id: string, query?: Query<'/v1/monitors/{id}/agreement', 'get'>, options?: RequestOptions): Paged<Item<'/v1/monitors/{id}/agreement', 'get'>> =>
    send.list('GET', path`/v1/monitors/${id}/agreement`, { query }, options),
})

const organization = (send: Send) => ({
  /** Get the organization of the key. */
  get: (options?: RequestOptions): Promise<Answer<'/v1/organization', 'get'>> =>
    send.json('GET', '/v1/organization', {  }, options),
  /** Change the settings of the organization of the key. */
  update: (body: Body<'/v1/organization', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/organization', 'patch'>> =>
    send.json('PATCH', '/v1/organization', { body }, options),
})

const organizations = (send: Send) => ({
  /** List the organizations of this instance, newest first. */
  list: (query?: Query<'/v1/organizations', 'get'>, options?: RequestOptions): Paged<Item<'/v1/organizations', 'get'>> =>
    send.list('GET', '/v1/organizations', { query }, options),
  /** Provision an organization with its owner and a first key. */
  create: (body: Body<'/v1/organizations', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/organizations', 'post'>> =>
    send.json('POST', '/v1/organizations', { body }, options),
  /** Get an organization. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/organizations/{id}', 'get'>> =>
    send.json('GET', path`/v1/organizations/${id}`, {  }, options),
  /** Rename an organization, or switch its entitlements and features. */
  update: (id: string, body: Body<'/v1/organizations/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/organizations/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/organizations/${id}`, { body }, options),
  /** Answer 403 to everything the organization sends. */
  suspend: (id: string, options?: RequestOptions): Promise<Answer<'/v1/organizations/{id}/suspend', 'post'>> =>
    send.json('POST', path`/v1/organizations/${id}/suspend`, {  }, options),
  /** End a suspension. */
  reactivate: (id: string, options?: RequestOptions): Promise<Answer<'/v1/organizations/{id}/reactivate', 'post'>> =>
    send.json('POST', path`/v1/organizations/${id}/reactivate`, {  }, options),
  /** Make a key that acts for the owner of an organization. */
  provisionApiKey: (id: string, body: Body<'/v1/organizations/{id}/api-keys', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/organizations/{id}/api-keys', 'post'>> =>
    send.json('POST', path`/v1/organizations/${id}/api-keys`, { body }, options),
})

const otlp = (send: Send) => ({
  /** Receive OpenTelemetry traces of conversations (OTLP/HTTP). */
  receiveTraces: (body: Blob, options?: RequestOptions): Promise<Answer<'/v1/otlp/v1/traces', 'post'>> =>
    send.json('POST', '/v1/otlp/v1/traces', { body }, options),
  /** List OpenTelemetry traces without a readable conversation, newest first. */
  listUnreadTraces: (query?: Query<'/v1/otlp/unread-traces', 'get'>, options?: RequestOptions): Paged<Item<'/v1/otlp/unread-traces', 'get'>> =>
    send.list('GET', '/v1/otlp/unread-traces', { query }, options),
  /** Get the spans of unread traces. */
  getUnreadSpans: (query: Query<'/v1/otlp/unread-traces/spans', 'get'>, options?: RequestOptions): Promise<Answer<'/v1/otlp/unread-traces/spans', 'get'>> =>
    send.json('GET', '/v1/otlp/unread-traces/spans', { query }, options),
})

const reviews = (send: Send) => ({
  /** List reviews, newest first. */
  list: (query?: Query<'/v1/reviews', 'get'>, options?: RequestOptions): Paged<Item<'/v1/reviews', 'get'>> =>
    send.list('GET', '/v1/reviews', { query }, options),
  /** Review a conversation outside of buckets. */
  create: (body: Body<'/v1/reviews', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/reviews', 'post'>> =>
    send.json('POST', '/v1/reviews', { body }, options),
  /** Get a review. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/reviews/{id}', 'get'>> =>
    send.json('GET', path`/v1/reviews/${id}`, {  }, options),
  /** Change, complete or skip a review of your own. */
  update: (id: string, body: Body<'/v1/reviews/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/reviews/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/reviews/${id}`, { body }, options),
  /** Extend the lease of a review of your own to 30 minutes from now. */
  keep: (id: string, options?: RequestOptions): Promise<Answer<'/v1/reviews/{id}/heartbeat', 'post'>> =>
    send.json('POST', path`/v1/reviews/${id}/heartbeat`, {  }, options),
  /** Give back what you claimed; what you wrote stays for when it comes to you again. */
  release: (id: string, query?: Query<'/v1/reviews/{id}/release', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/reviews/{id}/release', 'post'>> =>
    send.json('POST', path`/v1/reviews/${id}/release`, { query }, options),
  /** Decide between reviews of a conversation that differ, of which this is one. */
  adjudicate: (id: string, body: Body<'/v1/reviews/{id}/adjudicate', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/reviews/{id}/adjudicate', 'post'>> =>
    send.json('POST', path`/v1/reviews/${id}/adjudicate`, { body }, options),
})

const savedViews = (send: Send) => ({
  /** List saved views, newest first. */
  list: (query?: Query<'/v1/saved-views', 'get'>, options?: RequestOptions): Paged<Item<'/v1/saved-views', 'get'>> =>
    send.list('GET', '/v1/saved-views', { query }, options),
  /** Save a filter under a name. */
  create: (body: Body<'/v1/saved-views', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/saved-views', 'post'>> =>
    send.json('POST', '/v1/saved-views', { body }, options),
  /** Get a saved view. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/saved-views/{id}', 'get'>> =>
    send.json('GET', path`/v1/saved-views/${id}`, {  }, options),
  /** Rename a saved view, or give it another filter. */
  update: (id: string, body: Body<'/v1/saved-views/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/saved-views/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/saved-views/${id}`, { body }, options),
  /** Delete a saved view. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/saved-views/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/saved-views/${id}`, {  }, options),
})

const webhookEndpoints = (send: Send) => ({
  /** List webhook endpoints, newest first. */
  list: (query?: Query<'/v1/webhook-endpoints', 'get'>, options?: RequestOptions): Paged<Item<'/v1/webhook-endpoints', 'get'>> =>
    send.list('GET', '/v1/webhook-endpoints', { query }, options),
  /** Propose a webhook endpoint, which an admin is then to approve. */
  create: (body: Body<'/v1/webhook-endpoints', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/webhook-endpoints', 'post'>> =>
    send.json('POST', '/v1/webhook-endpoints', { body }, options),
  /** Get a webhook endpoint. */
  get: (id: string, options?: RequestOptions): Promise<Answer<'/v1/webhook-endpoints/{id}', 'get'>> =>
    send.json('GET', path`/v1/webhook-endpoints/${id}`, {  }, options),
  /** Change a webhook endpoint. */
  update: (id: string, body: Body<'/v1/webhook-endpoints/{id}', 'patch'>, options?: RequestOptions): Promise<Answer<'/v1/webhook-endpoints/{id}', 'patch'>> =>
    send.json('PATCH', path`/v1/webhook-endpoints/${id}`, { body }, options),
  /** Delete a webhook endpoint; what was not yet accepted is not sent any more. */
  delete: (id: string, options?: RequestOptions): Promise<Answer<'/v1/webhook-endpoints/{id}', 'delete'>> =>
    send.json('DELETE', path`/v1/webhook-endpoints/${id}`, {  }, options),
  /** Approve a proposed webhook endpoint, or enable a disabled one again. */
  approve: (id: string, body?: Body<'/v1/webhook-endpoints/{id}/approve', 'post'>, options?: RequestOptions): Promise<Answer<'/v1/webhook-endpoints/{id}/approve', 'post'>> =>
    send.json('POST', path`/v1/webhook-endpoints/${id}/approve`, { body }, options),
  /** Disable a webhook endpoint, or refuse a proposed one. */
  disable: (id: string, options?: RequestOptions): Promise<Answer<'/v1/webhook-endpoints/{id}/disable', 'post'>> =>
    send.json('POST', path`/v1/webhook-endpoints/${id}/disable`, {  }, options),
  /** Make a new secret; for 24 hours both sign. */
  rotateSecret: (id: string, options?: RequestOptions): Promise<Answer<'/v1/webhook-endpoints/{id}/rotate-secret', 'post'>> =>
    send.json('POST', path`/v1/webhook-endpoints/${id}/rotate-secret`, {  }, options),
  /** List what was sent to an endpoint in the last 30 days, newest first. */
  listDeliveries: (id: string, query?: Query<'/v1/webhook-endpoints/{id}/deliveries', 'get'>, options?: RequestOptions): Paged<Item<'/v1/webhook-endpoints/{id}/deliveries', 'get'>> =>
    send.list('GET', path`/v1/webhook-endpoints/${id}/deliveries`, { query }, options),
  /** Get a delivery with what is sent, and with its attempts. */
  getDelivery: (id: string, deliveryId: string, options?: RequestOptions): Promise<Answer<'/v1/webhook-endpoints/{id}/deliveries/{deliveryId}', 'get'>> =>
    send.json('GET', path`/v1/webhook-endpoints/${id}/deliveries/${deliveryId}`, {  }, options),
  /** Send a delivery anew, under the same `webhook-id`. */
  redeliver: (id: string, deliveryId: string, options?: RequestOptions): Promise<Answer<'/v1/webhook-endpoints/{id}/deliveries/{deliveryId}/redeliver', 'post'>> =>
    send.json('POST', path`/v1/webhook-endpoints/${id}/deliveries/${deliveryId}/redeliver`, {  }, options),
  /** Send a `webhook.test` event to an endpoint now. */
  test: (id: string, options?: RequestOptions): Promise<Answer<'/v1/webhook-endpoints/{id}/test', 'post'>> =>
    send.json('POST', path`/v1/webhook-endpoints/${id}/test`, {  }, options),
})

/** Every operation that a key reaches, by what it is about. */
export class Resources {
  readonly agentGroups: ReturnType<typeof agentGroups>
  readonly agents: ReturnType<typeof agents>
  readonly apiKeys: ReturnType<typeof apiKeys>
  readonly auditEvents: ReturnType<typeof auditEvents>
  readonly buckets: ReturnType<typeof buckets>
  readonly companies: ReturnType<typeof companies>
  readonly conversations: ReturnType<typeof conversations>
  readonly customerMetrics: ReturnType<typeof customerMetrics>
  readonly experiments: ReturnType<typeof experiments>
  readonly exportSchedules: ReturnType<typeof exportSchedules>
  readonly exports: ReturnType<typeof exports>
  readonly findings: ReturnType<typeof findings>
  readonly integrations: ReturnType<typeof integrations>
  readonly me: ReturnType<typeof me>
  readonly members: ReturnType<typeof members>
  readonly monitorResults: ReturnType<typeof monitorResults>
  readonly monitors: ReturnType<typeof monitors>
  readonly organization: ReturnType<typeof organization>
  readonly organizations: ReturnType<typeof organizations>
  readonly otlp: ReturnType<typeof otlp>
  readonly reviews: ReturnType<typeof reviews>
  readonly savedViews: ReturnType<typeof savedViews>
  readonly webhookEndpoints: ReturnType<typeof webhookEndpoints>

  constructor(send: Send) {
    this.agentGroups = agentGroups(send)
    this.agents = agents(send)
    this.apiKeys = apiKeys(send)
    this.auditEvents = auditEvents(send)
    this.buckets = buckets(send)
    this.companies = companies(send)
    this.conversations = conversations(send)
    this.customerMetrics = customerMetrics(send)
    this.experiments = experiments(send)
    this.exportSchedules = exportSchedules(send)
    this.exports = exports(send)
    this.findings = findings(send)
    this.integrations = integrations(send)
    this.me = me(send)
    this.members = members(send)
    this.monitorResults = monitorResults(send)
    this.monitors = monitors(send)
    this.organization = organization(send)
    this.organizations = organizations(send)
    this.otlp = otlp(send)
    this.reviews = reviews(send)
    this.savedViews = savedViews(send)
    this.webhookEndpoints = webhookEndpoints(send)
  }
}
