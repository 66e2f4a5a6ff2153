import { readFileSync } from 'node:fs'

/**
 * The ledger's behaviour on a request: one value per arrival for the same thing; the last value applies to all later ones.
 * - `answer` acts and answers, `hold` does so after a while or as soon as the caller is gone, `slow` acts and answers too late.
 * - `late` acts too late; `very_late` so late that the first checks of the outcome find nothing; `drop`, `bad_gateway` and `cut` act and
 * give no complete answer.
 * - `reset_early` and `reset_late` break the connection before and after the body, and do not act; `refuse` refuses the request.
 */
export type How =
  | 'answer'
  | 'hold'
  | 'slow'
  | 'late'
  | 'very_late'
  | 'drop'
  | 'bad_gateway'
  | 'cut'
  | 'reset_early'
  | 'reset_late'
  | 'refuse'

/** How long a tool of the campaign waits for the ledger. */
export const TOOL_TIMEOUT_MS = 400
/** How long a client may hold an action. */
export const HOLD_OF_CLIENTS_MS = 1_500
/** A `hold` ends within the tool's patience: only who dies meanwhile does not hear the answer. */
export const HOLD_MS = 200
/** Later than any tool waits. */
export const LATE_MS = 650
/** Later than the first looks, and well within the time that the tool is given to settle. */
export const VERY_LATE_MS = 3_500

/** A line of the ledger. All of it was on disk before the caller heard anything. */
export interface LedgerEntry {
  /** `request`: a call arrived; `effect`: it changed something; `replay`: its key had acted already. */
  kind: 'request' | 'effect' | 'replay'
  route: string
  /** The thing that was asked for: the name of one call of the campaign. */
  what: string
  /** The Idempotency-Key. */
  key: string
  how: How
  /** The body as it came; absent where it was not read. */
  body?: string
  atMs: number
}

/** Returns the current entries of the ledger, in the order of arrival. */
export const readLedger = (file: string): LedgerEntry[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    // The text after the last line end is still being written.
    .slice(0, -1)
    .map((line) => JSON.parse(line) as LedgerEntry)
