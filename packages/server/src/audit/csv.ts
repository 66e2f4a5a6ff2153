import { stringify } from 'csv-stringify/sync'
import type { AuditRow } from '../store/index.ts'

const COLUMNS = ['id', 'at', 'kind', 'actor', 'action', 'scope', 'seq', 'data', 'dataHash', 'prev', 'hash']

/** Quotes every cell, and prefixes an apostrophe to a cell that a spreadsheet would take for a formula. */
const lineOf = (cells: readonly string[]): string =>
  stringify([[...cells]], { quoted: true, quoted_empty: true, escape_formulas: true, record_delimiter: 'windows' })

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
