import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { checkpoint } from '@countersign/toolkit/internal'
import type { Logger } from 'pino'
import { type Accepter, recordAudit, SYSTEM } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { type Database, databaseFile, type InstanceRow, instance, type Mark, type Outbox, type Store } from '../store/index.ts'
import { adviceForOne, type Evidence, whyCopy } from './judge.ts'
import { OwnFile } from './own-file.ts'
import { type PromotionWatch, VOUCH_AFTER_MS, watchPromotion } from './promotion.ts'
import { placeOf, readWitness } from './witness.ts'

/** The operator's settings for the installation. */
export interface InstanceSettings {
  /** Starts held, regardless of the evidence. */
  hold: boolean
  /** Adopts the database as the installation's own from now on, regardless of the evidence. */
  acceptCopy: boolean
  /** The witness file. Default on SQLite: `instance` in the data folder; on Postgres none. */
  file: string | undefined
  /** A token that every process of the installation has in its environment. A secret. */
  token: string | undefined
}

/** Why nothing is executed, and since when (epoch ms). */
export interface Held {
  why: string
  sinceMs: number
}

/** Checks whether this database is the installation's own, and keeps it held while it looks like a copy. */
export interface Guard {
  /** Undefined while nothing is held. */
  readonly held: Held | undefined
  readonly epoch: number
  /** Receives each commit. */
  note(outbox: Pick<Outbox, 'mark'>): void
  /**
   * Begins a new epoch, in which nothing is held. Returns false when another caller did so first.
   * @param hold The hold that ends; another one stays.
   * @param by Undefined for the command line.
   */
  accept(hold: Held, by?: Accepter): Promise<boolean>
  /** Calls the listener when everything becomes held while the process runs, and when the hold ends. */
  onChange(listener: (held: Held | undefined) => void): void
  close(): void
}

export interface GuardOptions {
  store: Store
  database: Database
  settings: InstanceSettings
  clock: Clock
  log: Logger
  /** True when other processes work on the database. */
  hasOthers?: () => Promise<boolean>
  /** True when one of them was there before this process: then the problem is with this one. Of several that start at once, one is first. */
  hasEarlier?: () => Promise<boolean>
}

const NEW_ID_BYTES = 16
const newInstanceId = (): string => randomBytes(NEW_ID_BYTES).toString('hex')

/** Interval at which a start that waits for others to vouch for a promoted database checks again. */
const START_LOOK_MS = 250
/** How long a start waits without other processes, so that they could reconnect; and at most with them. */
const START_WAIT_MS = 20_000

const PROMOTED =
  'The database was promoted or restored since it was last in use, and nothing outside it shows that it holds what was committed.'

const NOWHERE = { system: null, timeline: null } as const

/**
 * Checks the opened database, and binds it to this installation when it is new. A database that looks like a copy is held.
 * @throws Error when the token or the file shows that this process does not belong to the running ones.
 */
export async function openGuard(options: GuardOptions): Promise<Guard> {
  const { store, database, settings, clock, log, hasOthers = async () => false, hasEarlier = async () => false } = options
  const isEmbedded = database.kind === 'sqlite'
  const file = settings.file ?? (isEmbedded ? join(database.dataDir, 'instance') : undefined)
  const ownDatabaseFile = isEmbedded ? databaseFile(database.dataDir) : undefined
  const token = settings.token === undefined ? null : createHash('sha256').update(settings.token).digest('hex')
  const listeners = new Set<(held: Held | undefined) => void>()
  /** The newest row that this process knows to be committed. */
  let mark: Mark | undefined
  let row = await store.read(instance.readInstance)
  let held: Held | undefined = heldOf(row)
  const ownFile = new OwnFile({ file, databaseFile: ownDatabaseFile, bound: () => row, clock, log })
  /** True from a new epoch until it is written to the file: an attempt that failed is repeated. */
  let isUnbound = false

  const placeNow = () => (isEmbedded ? Promise.resolve(NOWHERE) : store.read(instance.readPlace))

  async function evidence(): Promise<Evidence> {
    const found = file === undefined ? undefined : readWitness(file)
    const known = found === undefined || found === 'unreadable' ? undefined : found.mark
    const { system } = await placeNow()
    return {
      file,
      witness: found,
      isMarkThere: known === undefined || (await store.read(() => isThere(known))),
      files: ownDatabaseFile === undefined ? undefined : { witness: found && placeOf(file ?? ''), database: placeOf(ownDatabaseFile) },
      system,
      token,
    }
  }

  const readRow = async () => takeRow(await store.read(instance.readInstance))

  async function takeRow(seen: InstanceRow): Promise<void> {
    isUnbound ||= seen.id !== row.id
    row = seen
    if (isUnbound) await bind()
    isUnbound = false
    const now = heldOf(row)
    if (now?.sinceMs === held?.sinceMs) return
    held = now
    tell()
  }

  const tell = () => {
    for (const listener of listeners) listener(held)
  }

  /** Waits until the earlier processes have confirmed that a promoted database holds the commits that they know. */
  async function whyNotVouched(knows: boolean): Promise<string | undefined> {
    for (const since = clock.nowMs(); ; ) {
      const { current_timeline: now, timeline, held_at, held_why, id } = await store.read(instance.readNow)
      if (held_at !== null) return held_why ?? PROMOTED
      if (timeline === null || now === null || timeline === now) return undefined
      const waitedMs = clock.nowMs() - since
      if (waitedMs > VOUCH_AFTER_MS) {
        if (knows) await store.transact(() => instance.vouchForTimeline.change({ id, timeline: now }))
        else if (waitedMs > START_WAIT_MS || !(await hasOthers())) return PROMOTED
      }
      await new Promise<void>((resolve) => clock.after(START_LOOK_MS, resolve))
    }
  }

  async function hold(why: string): Promise<void> {
    const nowMs = clock.nowMs()
    await store.transact(function* (outbox) {
      if (!(yield* instance.holdInstance.change({ why, now: nowMs }))) return
      yield* recordAudit(outbox, { kind: 'held', actor: SYSTEM, data: { why } }, nowMs)
    })
    log.error({ why }, 'instance.held')
    await readRow()
  }

  /** Adds the hold to the record of a restored database, which does not have it yet. */
  async function recordRestored({ why }: Held): Promise<void> {
    const nowMs = clock.nowMs()
    await store.transact(function* (outbox) {
      if (!(yield* instance.takeUpHold.change({ now: nowMs }))) return
      yield* recordAudit(outbox, { kind: 'held', actor: SYSTEM, data: { why } }, nowMs)
    })
  }

  /** Binds the database to this installation, and this process's file to the database. */
  async function bind(): Promise<void> {
    const place = await placeNow()
    mark = await store.read(() => instance.newestMark.first({}))
    ownFile.write(row, mark)
    // A token that is set later becomes the installation's from then on.
    if (row.bound_at !== null && (row.token !== null || token === null)) return
    const bound = { id: row.id, ...place, token, now: clock.nowMs() }
    await store.transact(() => instance.bindInstance.change(bound))
    log.info({ epoch: row.epoch }, 'instance.bound')
    row = await store.read(instance.readInstance)
  }

  async function accept({ why, sinceMs }: Held, by?: Accepter): Promise<boolean> {
    const nowMs = clock.nowMs()
    const place = await placeNow()
    const next = { ...place, id: newInstanceId(), token, epoch: row.epoch, held_at: sinceMs, now: nowMs }
    const isOurs = await store.transact(function* (outbox) {
      if (by?.requireStanding) yield* by.requireStanding(nowMs)
      if (!(yield* instance.beginEpoch.change(next))) return false
      const epoch = next.epoch + 1
      // Before the commit: a process that dies right after it must find its file there, or the next start holds the database again.
      mark = yield* instance.newestMark.first({})
      ownFile.write({ id: next.id, epoch }, mark)
      const data = { epoch, why }
      yield* recordAudit(outbox, { kind: 'copy_accepted', actor: by?.id ?? SYSTEM, data }, nowMs)
      return true
    })
    checkpoint('accept.stored')
    await readRow()
    if (isOurs) log.warn({ epoch: row.epoch, by: by?.id ?? 'the command line' }, 'instance.accepted')
    return isOurs
  }

  const found = await evidence()
  const knows = found.witness !== undefined && found.witness !== 'unreadable' && found.witness.mark !== undefined
  const byHand = settings.hold ? 'Countersign was started with --hold.' : undefined
  const whyFound = whyCopy(row, found)
  const why =
    held === undefined ? (byHand ?? whyFound ?? (isEmbedded || row.bound_at === null ? undefined : await whyNotVouched(knows))) : undefined
  if (why !== undefined && held === undefined) {
    const advice = adviceForOne(row, found)
    if (advice !== undefined && (await hasEarlier())) throw new Error(`${whyFound} Other processes are working on it: ${advice}`)
    await hold(why)
  } else if (held) {
    await recordRestored(held)
    log.error({ why: held.why }, 'instance.held')
  }
  if (held === undefined) await bind()
  const watch: PromotionWatch | undefined = isEmbedded
    ? undefined
    : watchPromotion({
        store,
        clock,
        opened: row,
        marks: mark ? [mark] : [],
        seen: takeRow,
        hold,
        vouched: () => held === undefined && tell(),
        failed: (error) => log.debug({ error }, 'instance.read_failed'),
      })

  return {
    get held() {
      return held
    },
    get epoch() {
      return row.epoch
    },
    note({ mark: newest }) {
      if (!newest) return
      watch?.note(newest)
      if (mark && newest.place < mark.place) return
      mark = newest
      ownFile.note(newest)
    },
    accept,
    onChange: (listener) => void listeners.add(listener),
    close() {
      watch?.stop()
      ownFile.close()
    },
  }
}

const heldOf = ({ held_at, held_why }: InstanceRow): Held | undefined =>
  held_at === null ? undefined : { why: held_why ?? '', sinceMs: held_at }

/** Returns true when the record holds this row. */
function* isThere({ place, hash }: Mark) {
  return (yield* instance.markAt.first({ place }))?.hash === hash
}
