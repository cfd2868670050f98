// Converts the metrics of `/metrics` to OpenTelemetry, so that each metric is defined only once.
import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api'
import { emptyResource, type Resource } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics'
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client'

type Metric = MetricObjectWithValues<MetricValue<string>>
/** In histograms, the library labels each value as a sum, a count, or a bucket. */
type Value = MetricValue<string> & { metricName?: string }

const toHrTime = (ms: number): HrTime => [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1e6)]

const startTime = toHrTime(performance.timeOrigin)

/** Converts the buckets of a histogram. They are cumulative in the library, but not in OpenTelemetry. */
const histogramPoints = (values: Value[], endTime: HrTime): DataPoint<Histogram>[] => {
  type Series = { attributes: Attributes; bounds: number[]; upTo: number[]; sum: number; count: number }
  const series = new Map<string, Series>()
  for (const { labels, value, metricName = '' } of values) {
    const { le, ...attributes } = labels
    const name = JSON.stringify(attributes)
    const one = series.get(name) ?? { attributes: attributes as Attributes, bounds: [], upTo: [], sum: 0, count: 0 }
    series.set(name, one)
    if (metricName.endsWith('_sum')) one.sum = value
    else if (metricName.endsWith('_count')) one.count = value
    else if (le !== '+Inf') {
      one.bounds.push(Number(le))
      one.upTo.push(value)
    }
  }
  return [...series.values()].map(({ attributes, bounds, upTo, sum, count }) => ({
    attributes,
    startTime,
    endTime,
    value: {
      buckets: { boundaries: bounds, counts: [...upTo, count].map((value, at) => value - (upTo[at - 1] ?? 0)) },
      sum,
      count,
    },
  }))
}

const numberPoints = (values: Value[], endTime: HrTime): DataPoint<number>[] =>
  values.map(({ labels, value }) => ({ attributes: labels as Attributes, startTime, endTime, value }))

const toMetric = ({ name, help, type, values }: Metric, endTime: HrTime): MetricData | undefined => {
  const shared = {
    descriptor: { name, description: help, unit: name.includes('_seconds') ? 's' : '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  // The library's interface declares an enum, but it is text at run time.
  switch (type as unknown as string) {
    case 'counter':
      return {
        ...shared,
        dataPointType: DataPointType.SUM,
        isMonotonic: true,
        dataPoints: numberPoints(values, endTime),
      }
    case 'gauge':
      return { ...shared, dataPointType: DataPointType.GAUGE, dataPoints: numberPoints(values, endTime) }
    case 'histogram':
      return { ...shared, dataPointType: DataPointType.HISTOGRAM, dataPoints: histogramPoints(values, endTime) }
    default:
      return undefined
  }
}

export const metricsOf = async (registry: Registry, resource: Resource = emptyResource()): Promise<ResourceMetrics> => {
  const endTime = toHrTime(Date.now())
  const metrics = (await registry.getMetricsAsJSON()).flatMap((metric) => toMetric(metric as Metric, endTime) ?? [])
  return { resource, scopeMetrics: [{ scope: { name: 'earshot' }, metrics }] }
}
