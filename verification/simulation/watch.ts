import { ACTION_EVENTS, type ActionState, AFTER, canonicalJson, type JsonObject } from '@countersign/core'
import { digestOf } from '../../packages/server/src/gate/propose/digest.ts'
import type { ActionRow } from '../../packages/server/src/store/index.ts'
import type { Counts } from './counts.ts'
import type { Move, WorldDatabase } from './database.ts'
import type { Owner } from './timeline.ts'

/** Holds every change of the rows, as it is committed, against what may happen to an action. */
export interface Watch {
  /** Looks at what a process has committed since the last look. */
  look(by: Owner): Move[]
  /** A tool is about to be sent something. */
  onSend(tool: string, args: JsonObject, context: { actionId: string; idempotencyKey: string }): void
  /** Forgets what it saw: the database was put back to an earlier moment. */
  forget(): void
  /** How often a person started this action again. */
  retriesOf(actionId: string): number
}

export interface WatchDeps {
  database: WorldDatabase
  counts: Counts
  isKeyed(tool: string): boolean
  /** When an action was decided, or expired, by the clock that counts. */
  decidedAtMs(move: Move): number
  /** True when the process with this id shows that it lives. */
  isAlive(runner: string): boolean
  violate(text: string): void
  say(line: string): void
  name(id: string): string
}

export function createWatch({ database, counts, isKeyed, decidedAtMs, isAlive, violate, say, name }: WatchDeps): Watch {
  const retries = new Map<string, number>()
  const ended = new Map<string, ActionState>()
  /** The keys of actions whose outcome was unknown once. */
  const doubted = new Map<string, string>()
  /** Which process goes by which id; one that was taken for dead has another afterwards. */
  const processOf = new Map<string, Owner>()
  let hasForgotten = false

  function check(move: Move, by: Owner): void {
    const row = database.action(move.id)
    if (!row) violate(`I2: ${name(move.id)} is gone`)
    if (!row || move.from === null) return
    if (move.from === 'executing' && move.to === 'executing') {
      if (move.epoch !== move.wasEpoch + 1 || move.attempt !== move.wasAttempt)
        violate(`I5: ${name(move.id)} was taken over under the epoch ${move.epoch}`)
      // What a process may have begun without hearing of it, it takes up itself.
      const isOwn = move.wasRunner !== null && processOf.get(move.wasRunner) === by
      counts.hit(isOwn ? 'taken up: its own' : 'taken over: from another')
      if (move.wasRunner !== null && !isOwn && isAlive(move.wasRunner)) violate(`I5: ${name(move.id)} was taken from a process that lives`)
      if (move.runner !== null) processOf.set(move.runner, by)
      return
    }
    const isLegal = ACTION_EVENTS.some((cause) => move.from !== null && AFTER[move.from][cause] === move.to)
    if (!isLegal) violate(`I2: ${name(move.id)} went from ${move.from} to ${move.to}`)
    if (move.from === 'proposed' && row.expires_at !== null) {
      const lateMs = decidedAtMs(move) - row.expires_at
      const isLate = lateMs >= 0
      if (Math.abs(lateMs) <= 5) counts.hit(`within 5 ms of the deadline: ${move.to}`)
      if (isLate && (move.to === 'approved' || move.to === 'declined'))
        violate(`I2: ${name(move.id)} was ${move.to} when its time was over`)
      if (!isLate && move.to === 'expired') violate(`I2: ${name(move.id)} expired before its time was over`)
    }
    if (move.from === 'approved' && move.to === 'expired') {
      const isLate = row.expires_at !== null && decidedAtMs(move) >= row.expires_at
      if (row.executor !== 'client' || !isLate) violate(`I2: ${name(move.id)} was approved, and expired all the same`)
    }
    if (move.to === 'outcome_unknown') doubted.set(move.id, row.idempotency_key)
    const over = ended.get(move.id)
    if (over !== undefined) violate(`I2: ${name(move.id)} was ${over} and became ${move.to}`)
    if (['succeeded', 'declined', 'expired', 'cancelled'].includes(move.to)) ended.set(move.id, move.to)
    const runner = move.wasRunner === null ? undefined : (processOf.get(move.wasRunner) ?? 'unknown')
    // Attempts that were in a restored copy are ended by a person, or when the copy is accepted.
    const isOfCopy = hasForgotten && runner === 'unknown'
    if (move.from === 'executing' && runner !== undefined && runner !== by && !isOfCopy) {
      violate(`I5: ${name(move.id)} was settled by ${by.name}, which does not carry it out`)
    }
    if (move.to !== 'executing') {
      if (move.epoch < move.wasEpoch) violate(`I5: the epoch of ${name(move.id)} went back`)
      return
    }
    if (move.runner !== null) processOf.set(move.runner, by)
    if (move.epoch !== move.wasEpoch + 1) violate(`I5: ${name(move.id)} started under the epoch ${move.epoch} after ${move.wasEpoch}`)
    if (!isDecided(database, row)) violate(`I1: ${name(move.id)} was started without a decision`)
    // Also what a person tried again, was asked anew about, and approved.
    if (move.from === 'failed' || (move.from === 'approved' && move.attempt > 1)) retries.set(move.id, (retries.get(move.id) ?? 0) + 1)
    if (move.from === 'outcome_unknown' && row.effect === 'write' && !isKeyed(row.tool)) {
      violate(`I4: ${name(move.id)} was started again by itself, and its target knows no keys`)
    }
  }

  return {
    forget() {
      hasForgotten = true
      for (const seen of [retries, ended, doubted, processOf]) seen.clear()
    },
    retriesOf: (actionId) => retries.get(actionId) ?? 0,
    look(by) {
      const moves = database.takeMoves()
      for (const move of moves) {
        say(
          `  ${name(move.id)} ${move.from ?? 'new'} → ${move.to}${move.to === 'executing' ? `, attempt ${move.attempt}, epoch ${move.epoch}` : ''}`,
        )
        counts.hit(`moved: ${move.from ?? 'new'} → ${move.to}`)
        check(move, by)
      }
      return moves
    },
    onSend(tool, args, { actionId, idempotencyKey }) {
      const row = database.action(actionId)
      if (!row) return violate(`I1: ${tool} was called for ${actionId}, which does not exist`)
      const sent = digestOf({ ...row, tool, arguments: canonicalJson(args) })
      if (sent !== row.digest) violate(`I3: what was sent for ${name(actionId)} is not what was decided`)
      if (!isDecided(database, row)) violate(`I1: ${name(actionId)} was sent without a decision, in the state ${row.state}`)
      if (row.attempt === 0) violate(`I5: ${name(actionId)} was sent before the intent was stored`)
      const doubtedKey = doubted.get(actionId)
      if (doubtedKey !== undefined && idempotencyKey !== doubtedKey) {
        violate(`I4: ${name(actionId)} was sent under the key ${idempotencyKey}, after its outcome was unknown under ${doubtedKey}`)
      }
      if (!idempotencyKey.startsWith(actionId)) violate(`I4: ${name(actionId)} was sent under the key ${idempotencyKey}`)
    },
  }
}

/** True when a person or a rule of policy said yes to exactly this, and the rows say so. */
function isDecided(database: WorldDatabase, row: ActionRow): boolean {
  if (JSON.parse(row.policy).verdict === 'allow') return true
  const votes = database.all<{ verdict: string; revision: number }>('select verdict, revision from vote where action_id = ?', row.id)
  return (
    votes.some((vote) => vote.verdict === 'approve' && vote.revision === row.revision) && votes.every((vote) => vote.verdict !== 'decline')
  )
}
