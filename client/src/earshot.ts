// The Earshot client. Everything exported here is the package's public API.

import type { DownloadOptions, ExportedFile } from './export-file.ts'
import { makeFile } from './export-file.ts'
import { type ImportOptions, type ImportResult, importConversations, type NewConversation } from './import.ts'
import type { Body } from './operation.ts'
import { Resources } from './resources.ts'
import type { Schemas } from './schema.ts'
import { type EarshotOptions, openSend, type RequestOptions, type Sent } from './send.ts'

export { EarshotError, type Issue } from './errors.ts'
export type { Page, Paged } from './paged.ts'
export { verifyWebhook, type WebhookEvent, WebhookVerificationError } from './webhook.ts'
export type {
  DownloadOptions,
  EarshotOptions,
  ExportedFile,
  ImportOptions,
  ImportResult,
  NewConversation,
  RequestOptions,
  Schemas,
}

type ExportConfig = Body<'/v1/monitor-exports', 'post'>['config']
type ConversationExportConfig = Body<'/v1/conversation-exports', 'post'>['config']
type ExperimentExportConfig = Body<'/v1/experiments/{id}/exports', 'post'>['config']

type Importing = {
  /** Creates conversations from any source, and returns each one's result. */
  import: <T extends NewConversation>(
    items: Iterable<T> | AsyncIterable<T>,
    options?: ImportOptions,
  ) => AsyncGenerator<ImportResult<T>>
}

type Downloading = {
  /** Creates an export, waits for it, and downloads its file. */
  createAndDownload: (
    config: ExportConfig,
    options?: DownloadOptions,
  ) => Promise<ExportedFile<Schemas['MonitorExport']>>
}

type DownloadingOfConversations = {
  /** Creates an export of conversations, waits for it, and downloads its file. */
  createAndDownload: (
    config: ConversationExportConfig,
    options?: DownloadOptions,
  ) => Promise<ExportedFile<Schemas['ConversationExport']>>
}

type DownloadingOfExperiments = {
  /** Creates an experiment's export, waits for it, and downloads its file. */
  createAndDownloadExport: (
    id: string,
    config: ExperimentExportConfig,
    options?: DownloadOptions,
  ) => Promise<ExportedFile<Schemas['ExperimentExport']>>
}

/** A server and an API key. It keeps no connections open, so you can create as many as you like. */
export class Earshot extends Resources {
  declare readonly conversations: Resources['conversations'] & Importing
  declare readonly exports: Resources['exports'] & Downloading
  declare readonly conversationExports: Resources['conversationExports'] & DownloadingOfConversations
  declare readonly experiments: Resources['experiments'] & DownloadingOfExperiments
  /** Sends any other request, such as `request('GET', '/healthz')`. */
  readonly request: <T = unknown>(method: string, path: string, sent?: Sent, options?: RequestOptions) => Promise<T>

  constructor(options: EarshotOptions) {
    const send = openSend(options)
    super(send)
    this.request = send.json
    const { conversations, exports, conversationExports, experiments }: Resources = this
    this.conversations = { ...conversations, import: (items, given) => importConversations(send, items, given) }
    this.exports = {
      ...exports,
      createAndDownload: (config, given) =>
        makeFile(
          send,
          {
            create: (operationId) => exports.create({ operationId, config }, given),
            get: (id) => exports.get(id, given),
          },
          given,
        ),
    }
    this.conversationExports = {
      ...conversationExports,
      createAndDownload: (config, given) =>
        makeFile(
          send,
          {
            create: (operationId) => conversationExports.create({ operationId, config }, given),
            get: (id) => conversationExports.get(id, given),
          },
          given,
        ),
    }
    this.experiments = {
      ...experiments,
      createAndDownloadExport: (id, config, given) =>
        makeFile(
          send,
          {
            create: (operationId) => experiments.createExport(id, { operationId, config }, given),
            get: (exportId) => experiments.getExport(id, exportId, given),
          },
          given,
        ),
    }
  }
}
