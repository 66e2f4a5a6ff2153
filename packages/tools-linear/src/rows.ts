import type { JsonValue, PreviewField } from '@countersign/core'
import { diffWithin } from '@countersign/toolkit/internal'
import type { Workspace } from './read-tool.ts'
import { refuse } from './words.ts'

const DIFF_MS = 5_000

/** What stays as it is, so that the card says what this is about. */
export const same = (field: string, value: JsonValue): PreviewField => ({ field, oldValue: value, newValue: value })

/** A value of what is made; nothing where none is given. */
export const given = (field: string, newValue: JsonValue | undefined): PreviewField[] =>
  newValue === undefined ? [] : [{ field, newValue }]

/** A value of what goes away; nothing where it has none. */
export const gone = (field: string, oldValue: JsonValue): PreviewField[] =>
  oldValue === null || oldValue === '' ? [] : [{ field, oldValue }]

/** A value that changes; nothing where no new one is given. */
export const changed = (field: string, oldValue: JsonValue, newValue: JsonValue | undefined): PreviewField[] =>
  newValue === undefined ? [] : [{ field, oldValue, newValue }]

/** @throws ToolError `refused` when no value is given, or each is as it is already. */
export function refuseNoChange(what: string, rows: readonly PreviewField[]): void {
  if (rows.length === 0) throw refuse('There is nothing to change: name a value.')
  if (rows.every(({ oldValue, newValue }) => oldValue === newValue)) throw refuse(`${what} is like that already.`)
}

/** The rows for a card: a text of which only a part changes becomes a unified diff, where one is found in time. */
export async function withDiff(
  { work }: Pick<Workspace, 'work'>,
  rows: readonly PreviewField[],
  text: string,
  signal: AbortSignal,
): Promise<PreviewField[]> {
  return Promise.all(
    rows.map(async (row) => {
      const { field, oldValue: before, newValue: after } = row
      if (field !== text || typeof before !== 'string' || typeof after !== 'string' || before === '' || after === '' || before === after)
        return row
      const diff = await diffWithin(work, { from: field, to: field, before, after }, { timeoutMs: DIFF_MS, signal })
      return diff === undefined ? row : { field, diff }
    }),
  )
}
