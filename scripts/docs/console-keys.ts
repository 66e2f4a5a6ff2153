import { KEYS } from '../../apps/web/src/shell/keys.ts'
import { cell } from './schema-table.ts'

/** Every key of the console, as the list behind `?` has it. */
export function consoleKeys(): string {
  const rows = KEYS.flatMap(({ where, keys }) => keys.map(([key, does]) => `| ${where} | ${cell(key)} | ${cell(does)} |`))
  return ['| where | key | what it does |', '|---|---|---|', ...rows].join('\n')
}
