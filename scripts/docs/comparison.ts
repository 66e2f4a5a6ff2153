import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The columns of the whole table that the page shows, by their heads. */
const SHOWN = [
  'system, database',
  'cycles/s at 1',
  'cycles/s at 32',
  'a decision sent twice has one effect',
  'no second effect after a crash',
]

const cellsOf = (row: string): string[] =>
  row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())

/** The cycles per second and the probes of every system that was compared, from the measurements in full. */
export function comparison(root: string): string {
  const [, section = ''] = readFileSync(join(root, 'bench/measurements.md'), 'utf8').split('## Compared with other systems')
  const [heads = [], , ...rows] = section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map(cellsOf)
  const places = SHOWN.map((head) => heads.indexOf(head))
  if (places.includes(-1) || rows.length === 0) throw new Error(`bench/measurements.md has no table with the columns ${SHOWN.join(', ')}`)
  const shown = rows.map((row) => places.map((place) => row[place] ?? '').map((cell) => (cell === 'not applicable' ? '—' : cell)))
  return [SHOWN, SHOWN.map(() => '---'), ...shown].map((row) => `| ${row.join(' | ')} |`).join('\n')
}
