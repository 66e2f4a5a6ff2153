import type { AuditRow } from '../store/index.ts'

const COLUMNS = ['id', 'at', 'kind', 'actor', 'action', 'scope', 'seq', 'data', 'dataHash', 'prev', 'hash']

/** What a spreadsheet would take for the beginning of a formula, and work out. */
const FORMULA = /^[=+\-@\t\r\n]/

/** A cell that is text to every spreadsheet: in quotes, and with an apostrophe before what would be a formula. */
function csvCell(text: string): string {
  return `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
}

const lineOf = (cells: readonly string[]): string => `${cells.map(csvCell).join()}\r\n`

export const CSV_HEADER = lineOf(COLUMNS)

export const csvLine = (row: AuditRow): string =>
  lineOf([
    String(row.id),
    new Date(row.at).toISOString(),
    row.kind,
    row.actor,
    row.action_id ?? '',
    row.scope,
    String(row.seq),
    row.data ?? '',
    row.data_hash,
    row.prev,
    row.hash,
  ])
