// Sends spans and metrics with OTLP. The exporters read headers, timeouts, and compression from OpenTelemetry's own
// variables.
import { DiagLogLevel, diag } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Registry } from 'prom-client'
import packageFile from '../../../package.json' with { type: 'json' }
import type { Config } from '../config.ts'
import { newId } from '../ids.ts'
import type { Log } from '../log.ts'
import { metricsOf } from './metrics-of-registry.ts'
import { traceWith } from './span.ts'
import type { Telemetry } from './telemetry.ts'

type Options = { config: Config; registry: Registry; log: Log }

/**
 * If the collector is unavailable, this limits how long closing takes. The process ends with the exporters' last
 * request, which has its own timeout (OTEL_EXPORTER_OTLP_TIMEOUT).
 */
const closeTimeoutMs = 5_000

const quiet = () => {}

/** Returns the message of an SDK error. The error is JSON with a stack that does not help operators. */
const messageIn = (told: string): string => {
  try {
    return String(JSON.parse(told).message ?? told)
  } catch {
    return told
  }
}

export const startExport = ({ config, registry, log }: Options, endpoint: string): Telemetry => {
  const { serviceName, share, metricIntervalMs } = config.telemetry
  const warn = (told: string) => log.warn({ from: 'telemetry' }, messageIn(told).slice(0, 500))
  diag.setLogger({ error: warn, warn, info: quiet, debug: quiet, verbose: quiet }, DiagLogLevel.WARN)

  const resource = defaultResource()
    .merge(
      resourceFromAttributes({
        'service.name': serviceName,
        'service.version': packageFile.version,
        'service.instance.id': newId(),
        'earshot.roles': config.roles.join(','),
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }))
  const sampler = new TraceIdRatioBasedSampler(share)
  const spans = new TracerProvider({
    resource,
    // A caller can set its trace ID, but can't determine whether the trace is recorded.
    sampler: new ParentBasedSampler({ root: sampler, remoteParentSampled: sampler, remoteParentNotSampled: sampler }),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }) })],
  })
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ url: `${endpoint}/v1/metrics` }),
    exportIntervalMillis: metricIntervalMs,
    exportTimeoutMillis: Math.min(metricIntervalMs, 30_000),
    metricProducers: [{ collect: async () => ({ resourceMetrics: await metricsOf(registry, resource), errors: [] }) }],
  })
  const meters = new MeterProvider({ resource, readers: [reader] })
  traceWith(spans.getTracer('earshot', packageFile.version))

  return {
    close: async () => {
      traceWith(undefined)
      const late = AbortSignal.timeout(closeTimeoutMs)
      const tooLate = new Promise((resolve) => late.addEventListener('abort', resolve, { once: true }))
      await Promise.race([Promise.allSettled([spans.shutdown(), meters.shutdown()]), tooLate])
      diag.disable()
    },
  }
}
