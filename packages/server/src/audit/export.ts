import { createHash } from 'node:crypto'
import { type AuditRow, audit, type Store } from '../store/index.ts'
import { type Head, type HeadRef, refOf } from './head.ts'
import { headsOfPeriod } from './heads-of-period.ts'
import type { AuditKey } from './key.ts'
import { type ExportEnd, endLine, endText, FORMAT, headLine, rowLine, startLine } from './line.ts'

const ROWS_PER_READ = 500
const HEADS_PER_READ = 200

export interface ExportOptions {
  store: Store
  key: AuditKey
  nowMs: number
  /** The newest head that the server remembers: an export that lacks it then states the gap. */
  remembered?: HeadRef | undefined
  /** Start (inclusive) and end (exclusive), epoch milliseconds. */
  since?: number | undefined
  until?: number | undefined
  /** Seals the rows that wait for it. Resolves with false where there is no use in looking for newer heads. Default: there is none. */
  sealMore?: () => Promise<boolean>
}

/** Yields the sealed rows of a period and their heads as lines that can be verified without the database; complete heads, in order. */
export async function* exportLines({ store, key, nowMs, remembered, since, until, sealMore }: ExportOptions): AsyncGenerator<string> {
  const digest = createHash('sha256')
  const end: ExportEnd = { rows: 0, heads: 0, lines: '', exportedAt: nowMs, remembered: remembered ? refOf(remembered) : null }
  const take = (line: string): string => {
    const text = `${line}\n`
    digest.update(text)
    return text
  }
  yield take(startLine({ format: FORMAT, publicKey: key.publicKey, exportedAt: nowMs, since: since ?? null, until: until ?? null }))
  // A chain of heads has no gap: heads between the first and the last match belong to it.
  let before: Head | undefined
  const blanked = new Set<string>()
  const saidBlanked = new Set<string>()
  for (let heads = headsOf(store, since, until); ; heads = headsAfter(store, before?.number)) {
    for await (const head of heads) {
      // Reading starts at the end of the previous head: a row that was inserted between the two is included, and fails verification.
      for await (const rows of rowsOf(store, head, before?.last_id)) {
        end.rows += rows.length
        for (const { data, kind, action_id } of rows) {
          if (action_id !== null && data === null) blanked.add(action_id)
          if (action_id !== null && kind === 'redacted') saidBlanked.add(action_id)
        }
        yield rows.map((row) => take(rowLine(row))).join('')
      }
      before = head
      end.heads++
      yield take(headLine(head))
    }
    // A redaction blanks sealed rows at once, and the row that says so is sealed later. Without it the file would look as if data was taken away.
    const unsaid = until === undefined ? [...blanked].filter((actionId) => !saidBlanked.has(actionId)) : []
    if (!(await isSaidLater(store, unsaid, before?.last_id)) || !(await sealMore?.())) break
  }
  end.lines = digest.digest('base64url')
  yield `${endLine(end, key.sign(endText(end)))}\n`
}

/** Yields the sealed rows of a period as a table for people: it proves nothing by itself. */
export async function* exportCsv({ store, since, until }: ExportOptions): AsyncGenerator<string> {
  const { CSV_HEADER, csvOf } = await import('./csv.ts')
  yield CSV_HEADER
  for await (const head of headsOf(store, since, until)) {
    for await (const rows of rowsOf(store, head)) {
      const fitting = rows.filter(({ at }) => at >= (since ?? 0) && at < (until ?? Number.POSITIVE_INFINITY))
      if (fitting.length > 0) yield fitting.map(csvOf).join('')
    }
  }
}

/** True where a row after this place records one of these redactions. A redaction that no row records was lost (an accepted loss): no seal can bring it. */
async function isSaidLater(store: Store, actionIds: readonly string[], after = 0): Promise<boolean> {
  if (actionIds.length === 0) return false
  const recorded = new Set((await store.read(() => audit.redactedAfter.all({ after }))).map(({ action_id }) => action_id))
  return actionIds.some((actionId) => recorded.has(actionId))
}

async function* headsOf(store: Store, since?: number, until?: number): AsyncGenerator<Head> {
  let first: number | undefined
  let last: number | undefined
  if (since !== undefined || until !== undefined)
    for await (const { firstNumber, lastNumber } of headsOfPeriod(store, { since, until })) {
      first = firstNumber
      last ??= lastNumber
    }
  // Without an end the newest head belongs to it, and without a beginning the first one, also where a wrong clock wrote their rows or nothing
  // was recorded since: a file that lacks them looks as if they had been deleted.
  if (until === undefined) last = (await store.read(() => audit.lastHead.first({})))?.number
  // Row times may differ from the order of heads: a row outside the period may lie between two inside.
  if (last !== undefined) yield* headsAfter(store, since === undefined ? 0 : (first ?? last) - 1, last)
}

async function* headsAfter(store: Store, number = 0, upTo = Number.MAX_SAFE_INTEGER): AsyncGenerator<Head> {
  for (let after = number; after < upTo; ) {
    const heads = await store.read(() => audit.headsUpTo.all({ after, last: upTo, limit: HEADS_PER_READ }))
    const last = heads.at(-1)
    if (!last) return
    yield* heads
    after = last.number
  }
}

async function* rowsOf(store: Store, { first_id, last_id }: Head, end = first_id - 1): AsyncGenerator<AuditRow[]> {
  for (let after = end; after < last_id; ) {
    const rows = await store.read(() => audit.rowsUpTo.all({ after, last: last_id, limit: ROWS_PER_READ }))
    const last = rows.at(-1)
    if (!last) return
    yield rows
    after = last.id
  }
}
