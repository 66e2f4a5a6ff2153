import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import { audit, type Store } from '../store/index.ts'
import { isGenuine, newestGenuine, type RecordProblem } from './compare.ts'
import { createTally, follows, gapOf, type Head, refOf } from './head.ts'
import { dataHashOf, rowHashOf } from './row.ts'
import type { Sealer } from './sealer.ts'

const HEADS_PER_READ = 100
/** Rows per read. Checking this many takes 4 ms. */
const ROWS_PER_READ = 200
/** The signature of a head takes as long to check as this many rows. Most heads cover a row or a few. */
const ROWS_PER_HEAD = 6
/** Pause after so many rows, so that the check takes about a tenth of a processor. */
const PAUSE_MS = 30
const CHECK_EVERY_MS = 6 * 3_600_000
/** Pause after a check that could not be made, for example because the database did not answer as the server started. */
const RETRY_MS = 10_000
/** Rows of another program, and heads that were changed while nothing is written, are detected within this time. */
const LOOK_EVERY_MS = 60_000

export interface CheckOptions {
  store: Store
  sealer: Sealer
  clock: Clock
  log: Logger
}

/**
 * Checks every sealed row and head against its signature: at the start, and then every six hours, a few rows at a time. A check that could
 * not be made is made again soon. It reports problems to the sealer, which signs nothing until a person accepts them. Disposal stops it.
 */
export function startRecordCheck({ store, sealer, clock, log }: CheckOptions): AsyncDisposable {
  const stopped = new AbortController()
  const waits = new Map<string, () => void>()
  const wait = (name: string, ms: number, then: () => void) =>
    waits.set(
      name,
      clock.after(ms, () => {
        waits.delete(name)
        then()
      }),
    )
  const pause = () =>
    new Promise<void>((resolve) => {
      if (stopped.signal.aborted) return resolve()
      wait('pause', PAUSE_MS, resolve)
      stopped.signal.addEventListener('abort', () => resolve(), { once: true })
    })

  const look = () => {
    sealer.wake()
    wait('look', LOOK_EVERY_MS, look)
  }
  async function checkAll(): Promise<void> {
    let nextMs = CHECK_EVERY_MS
    try {
      const { problem, rows } = await checkRecord(store, sealer, pause, stopped.signal)
      if (problem && !stopped.signal.aborted) await sealer.report(problem)
      log.debug({ rows, why: problem?.why }, 'record.checked')
    } catch (error) {
      log.warn({ error }, 'record.check_failed')
      nextMs = RETRY_MS
    }
    if (!stopped.signal.aborted) wait('check', nextMs, () => (inFlight = checkAll()))
  }
  let inFlight = checkAll()
  wait('look', LOOK_EVERY_MS, look)

  return {
    async [Symbol.asyncDispose]() {
      stopped.abort()
      for (const stop of waits.values()) stop()
      await inFlight
    },
  }
}

/**
 * Checks the heads from the first to the newest, and all rows that they cover. Accepted problems are not reported again.
 * @param pause Called after `ROWS_PER_READ` rows, or the heads that take as long.
 */
async function checkRecord(
  store: Store,
  { keys, status }: Pick<Sealer, 'keys' | 'status'>,
  pause: () => Promise<void>,
  signal?: AbortSignal,
): Promise<{ problem: RecordProblem | undefined; rows: number }> {
  const { newest, genuine } = await store.read(function* () {
    return { newest: yield* audit.lastHead.first({}), genuine: yield* newestGenuine(keys) }
  })
  const redactions: Redactions = { blanked: new Map(), said: new Set() }
  let left = ROWS_PER_READ
  async function took(count: number): Promise<void> {
    left -= count
    if (left > 0) return
    left = ROWS_PER_READ
    await pause()
  }
  let before: Head | undefined
  let why: string | undefined
  let rows = 0
  for (let after = 0; newest && after < newest.number && !signal?.aborted; ) {
    const heads = await store.read(() => audit.headsUpTo.all({ after, last: newest.number, limit: HEADS_PER_READ }))
    for (const head of heads) {
      if (signal?.aborted) break
      if (gapOf(head)?.kind === 'changed') {
        why = undefined
        redactions.blanked.clear()
      }
      // Its own key, because the server may have had another one.
      const isChained = isGenuine(head, [head.key]) && follows(head, refOf(before))
      if (!isChained) why ??= `Head ${head.number} of the record is not what was signed, or a head before it is missing.`
      const checked = await checkRows(store, { head, from: before?.last_id ?? 0, redactions }, took)
      await took(ROWS_PER_HEAD)
      why ??= checked.why
      rows += checked.rows
      before = head
    }
    after = heads.at(-1)?.number ?? newest.number
  }
  if (newest && !signal?.aborted) why ??= await whyBlanked(store, redactions, newest)
  // A forged head may have any number: an accepted head would not be newer than that.
  const found = refOf(genuine)
  const remembered = status.head && status.head.number > found.number ? refOf(status.head) : found
  return { rows, problem: why === undefined ? undefined : { kind: 'changed', why, found, remembered } }
}

/** The rows without data, by their actions, and the actions with a row that says that they were redacted. */
interface Redactions {
  blanked: Map<string, { row: audit.CheckedRow; head: number }>
  said: Set<string>
}

/** Returns why data is missing that no redaction removed. The row that says so may not be sealed yet. */
async function whyBlanked(store: Store, { blanked, said }: Redactions, { last_id }: Head): Promise<string | undefined> {
  const unsealed = { from: last_id + 1, before: Number.MAX_SAFE_INTEGER }
  for (const [actionId, { row, head }] of blanked) {
    if (said.has(actionId)) continue
    const [redaction] = await store.read(() => audit.listRows({ actionId, kind: 'redacted' }, unsealed, 1))
    if (!redaction)
      return `The data of row ${row.seq} of ${row.scope}, which head ${head} covers, was removed, and no redaction is recorded.`
  }
  return undefined
}

async function checkRows(
  store: Store,
  { head, from, redactions: { blanked, said } }: { head: Head; from: number; redactions: Redactions },
  took: (rows: number) => Promise<void>,
): Promise<{ why: string | undefined; rows: number }> {
  const tally = createTally()
  let why: string | undefined
  for (let after = from; after < head.last_id; ) {
    // Reading starts at the end of the previous head: a row that was inserted between the two belongs to neither.
    const rows = await store.read(() => audit.rowsToCheck.all({ after, last: head.last_id, limit: ROWS_PER_READ }))
    for (const row of rows) {
      tally.add(row)
      const { action_id, data, kind } = row
      if (action_id !== null && kind === 'redacted') said.add(action_id)
      if (action_id !== null && data === null && !blanked.has(action_id)) blanked.set(action_id, { row, head: head.number })
      if (!isAsWritten(row)) why ??= `Row ${row.seq} of ${row.scope}, which head ${head.number} covers, is not what was sealed.`
    }
    after = rows.at(-1)?.id ?? head.last_id
    await took(rows.length)
  }
  const seen = tally.end(head.format)
  const isCovered = seen.row_count === head.row_count && seen.rows_hash === head.rows_hash
  why ??= isCovered
    ? undefined
    : `Head ${head.number} of the record was signed over other rows: one of them was changed, deleted, added or moved.`
  return { why, rows: tally.rowCount }
}

function isAsWritten(row: audit.CheckedRow): boolean {
  const { data, salt, data_hash, prev, seq, follows: place, follows_hash } = row
  // Only what is about an action can be redacted.
  const isBlanked = data === null && salt === null && row.action_id !== null
  if (!isBlanked && (data === null || salt === null || dataHashOf(salt, data) !== data_hash)) return false
  if (rowHashOf(row) !== row.hash) return false
  return place === null ? seq === 1 && prev === '' : follows_hash === prev
}
