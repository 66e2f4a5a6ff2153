import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Guard, type GuardOptions, openGuard } from '../../packages/server/src/instance/index.ts'
import { readWitness } from '../../packages/server/src/instance/witness.ts'
import { databaseFile, type InstanceRow } from '../../packages/server/src/store/index.ts'
import type { Counts } from './counts.ts'
import type { DatabaseCopy, Move, WorldDatabase } from './database.ts'
import type { Random } from './random.ts'
import type { Timeline } from './timeline.ts'

/** When a world's database is copied, put back, and released: milliseconds since the beginning of the world. */
export interface RestorePlan {
  readonly copyAtMs: number
  readonly restoreAtMs: number
  readonly releaseAtMs: number
}

/** In how many of the worlds with one process the database is restored. */
const CHANCE = 0.08

/** Undefined for a world whose database is never restored. */
export function drawRestore(random: Random): RestorePlan | undefined {
  if (!random.chance(CHANCE)) return undefined
  const copyAtMs = 300 + random.next() * 1_000
  const restoreAtMs = copyAtMs + 100 + random.next() * 1_500
  return { copyAtMs, restoreAtMs, releaseAtMs: restoreAtMs + 500 + random.next() * 1_500 }
}

export interface RestoreParts {
  plan: RestorePlan
  timeline: Timeline
  database: WorldDatabase
  counts: Counts
  /** Kills the process and keeps it from writing anything more. */
  killAll(): void
  /** Called when the earlier rows are back, before any process starts on them. */
  restored(): void
  /** Called when it is time for a person to release everything. */
  release(): void
  /** True while the process carries out somebody's wish to cancel. */
  isCancelling(): boolean
  violate(text: string): void
  name(id: string): string
}

/** A database that is put back to an earlier moment while the target has gone on, and the checks that nothing happens on it unasked. */
export interface Restore extends Disposable {
  begin(): void
  /** Opens the guard of a process that starts. */
  openGuard(parts: Pick<GuardOptions, 'store' | 'clock' | 'log'>): Promise<Guard>
  /** True from the restore until a person begins to release what is held; false where nothing known was lost. */
  readonly mustBeHeld: boolean
  readonly isRestored: boolean
  /** A process is about to do this to the outside world. */
  onDeed(what: string): void
  /** A process committed these moves. */
  onMoves(moves: readonly Move[]): void
}

const SETTINGS = { hold: false, acceptCopy: false, file: undefined, token: undefined }

/** The ways in which people may still settle actions that were under way. */
const ALLOWED: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled', 'outcome_unknown'])

export function planRestore({ plan, timeline, database, counts, killAll, restored, release, ...parts }: RestoreParts): Restore {
  const { violate, name } = parts
  const dataDir = mkdtempSync(join(tmpdir(), 'countersign-world-'))
  // The guard binds its witness to this file; the rows are in memory.
  writeFileSync(databaseFile(dataDir), '')
  const guards: Guard[] = []
  let copy: DatabaseCopy | undefined
  let mustBeHeld = false
  let isRestored = false
  let votes = 0

  const countVotes = () => database.all<{ n: number }>('select count(*) as n from vote')[0]?.n ?? 0
  const newestRow = () => database.all<{ n: number | null }>('select max(id) as n from audit')[0]?.n ?? 0
  const isBound = () => database.all<InstanceRow>('select * from instance')[0]?.bound_at !== null

  function putBack(): void {
    if (!copy) return
    timeline.say('the database is restored to an earlier moment')
    killAll()
    database.restore(copy)
    isRestored = true
    const known = readWitness(join(dataDir, 'instance'))
    const isLossKnown = known !== undefined && known !== 'unreadable' && (known.mark?.place ?? 0) > newestRow()
    mustBeHeld = isLossKnown && isBound()
    counts.hit(mustBeHeld ? 'restored: newer commits are known' : 'restored: nothing known is lost')
    votes = countVotes()
    restored()
  }

  function checkVotes(): void {
    if (countVotes() !== votes) violate('I2: a vote was taken on a restored database before a person released it')
  }

  return {
    begin() {
      timeline.after(plan.copyAtMs, 'the database is copied', () => {
        copy = database.copy()
      })
      timeline.after(plan.restoreAtMs, '', putBack)
      timeline.after(plan.releaseAtMs, 'a person releases what is held', () => {
        if (mustBeHeld) checkVotes()
        mustBeHeld = false
        release()
      })
    },
    async openGuard(options) {
      const guard = await openGuard({ ...options, database: { kind: 'sqlite', dataDir }, settings: SETTINGS })
      guards.push(guard)
      if (mustBeHeld && guard.held) counts.hit('restored: started held')
      if (mustBeHeld && !guard.held) violate('I4: a process started on a restored database and is not held')
      return guard
    },
    get mustBeHeld() {
      return mustBeHeld
    },
    get isRestored() {
      return isRestored
    },
    onDeed(what) {
      if (mustBeHeld) violate(`I4: ${what} on a restored database before a person released it`)
    },
    onMoves(moves) {
      if (!mustBeHeld) return
      for (const { id, to } of moves) {
        // What a person cancels after its deadline has expired.
        if (to === 'expired' && parts.isCancelling()) continue
        if (!ALLOWED.has(to)) violate(`I4: ${name(id)} became ${to} on a restored database before a person released it`)
      }
      checkVotes()
    },
    [Symbol.dispose]() {
      for (const guard of guards) guard.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
