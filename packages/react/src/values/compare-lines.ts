import { cellOf, columnsOf, type Line, MAX_COLUMNS } from '../lines-table.tsx'

/** One entry of a list in its old and its new version, and at which places it stands, from 1. */
export type ChangedLine = { before?: Line; after?: Line; from?: number; to?: number }

export type LinesChange = {
  columns: string[]
  /** In the new order; an entry that goes away stands where it stood. */
  rows: ChangedLine[]
  /** True where entries that stay are in another order than before. */
  isReordered: boolean
}

/** The columns of the card itself. A list with a member of that name is no table: it could say "unchanged" of what changes. */
const OWN_COLUMNS = /^(change|place)$/i

/** The members that may identify the entries of a list. */
const IDENTITIES = ['id', '_id', 'uuid', 'key', 'sku']

/**
 * The change from one list of lines to another, entry by entry; undefined for lists of anything else. Entries are matched by the member that
 * identifies them, else where they are equal. Every entry of both lists is in exactly one row.
 */
export function compareLines(before: unknown, after: unknown): LinesChange | undefined {
  const [old, now] = [linesOf(before), linesOf(after)]
  if (!old || !now || old.lines.length + now.lines.length === 0) return undefined
  const columns = [...new Set([...old.columns, ...now.columns])]
  if (columns.length > MAX_COLUMNS || columns.some((column) => OWN_COLUMNS.test(column.trim()))) return undefined
  const identity = identityOf(columns, old.lines, now.lines)
  const nameOf = (line: Line) =>
    JSON.stringify(
      identity === undefined ? columns.map((column) => [cellOf(line, column) === undefined, cellOf(line, column)]) : cellOf(line, identity),
    )
  const places = new Map<string, number[]>()
  for (const [at, line] of old.lines.entries()) places.set(nameOf(line), [...(places.get(nameOf(line)) ?? []), at])
  const matched = now.lines.map((line) => places.get(nameOf(line))?.shift())
  return { columns, rows: rowsOf(old.lines, now.lines, matched), isReordered: !isRising(matched.filter((at) => at !== undefined)) }
}

const linesOf = (value: unknown): { lines: Line[]; columns: string[] } | undefined =>
  Array.isArray(value) && value.length === 0 ? { lines: [], columns: [] } : columnsOf(value)

/** The column that has another text or number in each entry, in both lists. Of several, a usual one, or the one that matches the most entries. */
function identityOf(columns: readonly string[], before: readonly Line[], after: readonly Line[]): string | undefined {
  const valuesIn = (column: string, lines: readonly Line[]) => new Set(lines.map((line) => cellOf(line, column)).filter(isName))
  const candidates = columns
    .map((column) => ({ column, old: valuesIn(column, before), now: valuesIn(column, after) }))
    .filter(
      ({ column, old, now }) => old.size === before.length && now.size === after.length && (IDENTITIES.includes(column) || areTexts(old)),
    )
    .map(({ column, old, now }) => ({ column, common: [...old].filter((value) => now.has(value)).length }))
    .filter(({ common }) => common > 0)
  const usual = candidates.find(({ column }) => IDENTITIES.includes(column))
  return (usual ?? candidates.toSorted((a, b) => b.common - a.common)[0])?.column
}

const isName = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number'

/** Numbers that differ by chance identify nothing. */
const areTexts = (values: ReadonlySet<unknown>): boolean => [...values].every((value) => typeof value === 'string')

function rowsOf(before: readonly Line[], after: readonly Line[], matched: readonly (number | undefined)[]): ChangedLine[] {
  const stays = new Set(matched)
  const rows: ChangedLine[] = []
  let next = 0
  const goneUpTo = (end: number) => {
    for (; next < end; next++) if (!stays.has(next)) rows.push({ before: before[next], from: next + 1 })
  }
  for (const [to, line] of after.entries()) {
    const from = matched[to]
    if (from !== undefined) goneUpTo(from)
    rows.push({ after: line, to: to + 1, ...(from === undefined ? {} : { before: before[from], from: from + 1 }) })
  }
  goneUpTo(before.length)
  return rows
}

const isRising = (places: readonly number[]): boolean => places.every((at, index) => index === 0 || at > (places[index - 1] ?? 0))

/** Returns the word on the card for what happens to an entry. A change of its place in the list is shown apart from that. */
export function kindOf(row: ChangedLine): 'added' | 'removed' | 'changed' | 'unchanged' {
  const { before, after } = row
  if (!before) return 'added'
  if (!after) return 'removed'
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].some((column) => changesIn(row, column)) ? 'changed' : 'unchanged'
}

/** True where the cell is not the same in both versions of an entry that stays. */
export const changesIn = ({ before, after }: ChangedLine, column: string): boolean =>
  before !== undefined && after !== undefined && JSON.stringify(cellOf(before, column)) !== JSON.stringify(cellOf(after, column))
