import { readFileSync } from 'node:fs'

/**
 * The target's behaviour on the first write of a call; every later write is answered at once.
 * - `answer` acts and answers; `sent` waits before it acts, `acted` waits after it acted. Both wait until the caller is gone, held writes
 * are released, or `HOLD_MS` have passed.
 * - `drop` acts and breaks the connection, `lose` breaks it and does not act, `refuse` refuses the write.
 * - `late` breaks the connection and acts after `LATE_MS`.
 */
export type How = 'answer' | 'sent' | 'acted' | 'drop' | 'lose' | 'refuse' | 'late'

/** How long a write is held for somebody to kill its sender. Shorter than any tool waits. */
export const HOLD_MS = 10_000
/** Later than a tool's last look after its lost answer. */
export const LATE_MS = 4_000

/** A line about one write. It is on disk before the caller hears anything. */
export interface TargetEntry {
  /** `request`: it arrived; `effect`: it changed something; `replay`: its key had acted already; `answer`: its answer was handed over. */
  kind: 'request' | 'effect' | 'replay' | 'answer'
  /** Which service: `keyed`, `plain`, `github`, `linear`, `stock`. */
  service: string
  /** The call of the campaign that it is about. */
  what: string
  /** The Idempotency-Key; empty for services that have none. */
  key: string
  how: How
  body: string
  /** The caller was gone by then. */
  isGone: boolean
  atMs: number
}

/** The name of a call: a number and what its target does with it. It stands somewhere in everything that the call sends. */
export const WHAT = /\bc\d+-(answer|sent|acted|drop|lose|refuse|late)\b/

/** Returns the target's behaviour on the first write of a call, read from the name of the call. */
export const howOfCall = (what: string): How => (WHAT.exec(what)?.[1] ?? 'answer') as How

export const readTargets = (file: string): TargetEntry[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    // The text after the last line end is still being written.
    .slice(0, -1)
    .map((line) => JSON.parse(line) as TargetEntry)
