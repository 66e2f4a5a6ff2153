import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The cells of each row of the tables in a page, the heads included, the rules not. */
export const rowsOf = (page: string): string[][] =>
  page
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.slice(2, -2).split(' | '))

/** One row for each client of `verification/clients.md`, one column for each case: *yes* where a test is named there. */
export function clientReference(root: string): string {
  const named = rowsOf(readFileSync(join(root, 'verification', 'clients.md'), 'utf8')).slice(1)
  const cases = [...new Set(named.map(([, of = '']) => of))]
  const tested = Map.groupBy(named, ([client = '']) => client)
  const rows = [...tested].map(([client, tests]) => {
    const has = new Set(tests.map(([, of]) => of))
    return `| ${client} | ${cases.map((of) => (has.has(of) ? 'yes' : 'unknown')).join(' | ')} |`
  })
  return [`| Client | ${cases.join(' | ')} |`, `|---${'|---'.repeat(cases.length)}|`, ...rows].join('\n')
}
