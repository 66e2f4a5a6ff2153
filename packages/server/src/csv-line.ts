import { stringify } from 'csv-stringify/sync'

/** Returns a line of CSV (RFC 4180). It quotes every cell, and prefixes an apostrophe to a cell that a spreadsheet would take for a formula. */
export const csvLine = (cells: readonly string[]): string =>
  stringify([[...cells]], { quoted: true, quoted_empty: true, escape_formulas: true, record_delimiter: 'windows' })
