import type { JsonValue, PreviewField } from '@countersign/core'
import { diffWithin, openDiffBudget } from '@countersign/toolkit/internal'
import type { Workspace } from './read-tool.ts'
import { refuse } from './words.ts'

/** Returns a row for an unchanged value, which identifies the subject of the card. */
export const same = (field: string, value: JsonValue): PreviewField => ({ field, oldValue: value, newValue: value })

/** Returns a row for a new value; none when it is undefined. */
export const given = (field: string, newValue: JsonValue | undefined): PreviewField[] =>
  newValue === undefined ? [] : [{ field, newValue }]

/** Returns a row for a removed value; none when it is empty. */
export const gone = (field: string, oldValue: JsonValue): PreviewField[] =>
  oldValue === null || oldValue === '' ? [] : [{ field, oldValue }]

/** Returns a row for a changed value; none when the new value is undefined. */
export const changed = (field: string, oldValue: JsonValue, newValue: JsonValue | undefined): PreviewField[] =>
  newValue === undefined ? [] : [{ field, oldValue, newValue }]

/** @throws ToolError `refused` when there are no rows, or no row changes a value. */
export function refuseNoChange(what: string, rows: readonly PreviewField[]): void {
  if (rows.length === 0) throw refuse('There is nothing to change: name a value.')
  if (rows.every(({ oldValue, newValue }) => oldValue === newValue)) throw refuse(`${what} is like that already.`)
}

/** Returns the rows for a card. A text that changes in part becomes a unified diff, if it is computed in time. */
export async function withDiff(
  { work }: Pick<Workspace, 'work'>,
  rows: readonly PreviewField[],
  text: string,
  signal: AbortSignal,
): Promise<PreviewField[]> {
  const budget = openDiffBudget()
  return Promise.all(
    rows.map(async (row) => {
      const { field, oldValue: before, newValue: after } = row
      if (field !== text || typeof before !== 'string' || typeof after !== 'string' || before === '' || after === '' || before === after)
        return row
      const diff = await diffWithin(work, { from: field, to: field, before, after }, { budget, signal })
      return diff === undefined ? row : { field, diff }
    }),
  )
}
