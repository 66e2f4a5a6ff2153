import { csvLine } from '../csv-line.ts'
import type { AuditRow } from '../store/index.ts'

const COLUMNS = ['id', 'at', 'kind', 'actor', 'action', 'scope', 'seq', 'data', 'dataHash', 'prev', 'hash']

export const CSV_HEADER = csvLine(COLUMNS)

export const csvOf = (row: AuditRow): string =>
  csvLine([
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
