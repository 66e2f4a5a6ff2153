/** A number, or a histogram, in the model of Prometheus. */
export interface Metric {
  name: string
  help: string
  type: 'gauge' | 'counter' | 'histogram'
  /** A value for each set of labels. */
  samples: readonly Sample[]
}

export interface Sample {
  labels?: Record<string, string>
  value: number
  /** The suffix of the name: a histogram has several series. Default: nothing. */
  suffix?: '_bucket' | '_sum' | '_count'
}

/**
 * Writes metrics in the text format of Prometheus, version 0.0.4
 * (https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format).
 * @example
 * writeMetrics([{ name: 'doors', help: 'Open doors.', type: 'gauge', samples: [{ labels: { wall: 'north' }, value: 2 }] }])
 * // '# HELP doors Open doors.\n# TYPE doors gauge\ndoors{wall="north"} 2\n'
 */
export function writeMetrics(metrics: readonly Metric[]): string {
  const lines = metrics.flatMap(({ name, help, type, samples }) => [
    `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(({ labels = {}, value, suffix = '' }) => `${name}${suffix}${writeLabels(labels)} ${value}`),
  ])
  return `${lines.join('\n')}\n`
}

function writeLabels(labels: Record<string, string>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escapeValue = (value: string): string => value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

/** Creates a metric that goes up and down. @param samples One number, or one for each set of labels. */
export const gauge = (name: string, help: string, samples: number | readonly Sample[]): Metric => ({
  name,
  help,
  type: 'gauge',
  samples: typeof samples === 'number' ? [{ value: samples }] : samples,
})
