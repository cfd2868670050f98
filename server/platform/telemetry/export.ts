// Sends spans and metrics by OTLP. Headers, time-outs and compression are read by the exporters, from OpenTelemetry's own variables.
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
import type { Config } from '../../config.ts'
import { newId } from '../ids.ts'
import type { Log } from '../log.ts'
import { metricsOf } from './metrics-of-registry.ts'
import { traceWith } from './span.ts'
import type { Telemetry } from './telemetry.ts'

type Options = { config: Config; registry: Registry; log: Log }

/** A collector that is away must not hold up the end of the process. */
const closeTimeoutMs = 5_000

const quiet = () => {}

export const startExport = ({ config, registry, log }: Options, endpoint: string): Telemetry => {
  const { serviceName, share, metricIntervalMs } = config.telemetry
  const warn = (message: string) => log.warn({ from: 'telemetry' }, message.slice(0, 500))
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
    // A caller may name its trace, not decide that it is recorded.
    sampler: new ParentBasedSampler({ root: sampler, remoteParentSampled: sampler }),
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
