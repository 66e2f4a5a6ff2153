import { cell } from './schema-table.ts'

/** One metric as `/metrics` describes it, with the values that its labels have from the start. */
export interface DescribedMetric {
  name: string
  type: string
  help: string
  labels: ReadonlyMap<string, ReadonlySet<string>>
}

/** Reads the text format of Prometheus. */
export function describedMetrics(text: string): DescribedMetric[] {
  const help = new Map([...text.matchAll(/^# HELP (\S+) (.+)$/gm)].map(([, name = '', said = '']) => [name, said]))
  return [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => {
    const labels = new Map<string, Set<string>>()
    for (const [, inside = ''] of text.matchAll(new RegExp(`^${name}\\{(.+)\\} `, 'gm')))
      for (const [, label = '', value = ''] of inside.matchAll(/(\w+)="([^"]*)"/g))
        labels.set(label, (labels.get(label) ?? new Set()).add(value))
    return { name, type, help: help.get(name) ?? '', labels }
  })
}

/** Every metric with its type, its labels and what it says. */
export function metricReference(text: string): string {
  const rows = describedMetrics(text).map(({ name, type, help, labels }) => {
    const shown = [...labels].map(([label, values]) =>
      label === 'version' ? '`version`' : `\`${label}\`: ${[...values].map((value) => `\`${value}\``).join(', ')}`,
    )
    return `| \`${name}\` | ${cell([`${type[0]?.toUpperCase()}${type.slice(1)}.`, help, ...shown].join(' '))} |`
  })
  return ['| metric | what it says |', '|---|---|', ...rows].join('\n')
}
