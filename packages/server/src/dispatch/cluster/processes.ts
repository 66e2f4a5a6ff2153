import { CountersignError } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import type { Logger } from 'pino'
import type { Clock } from '../../clock.ts'
import { type Machine, newId, type OtherProcess, type OwnConnection, openLastingConnection, processes as rows } from '../../store/index.ts'
import { createDatabaseClock } from './database-clock.ts'
import { createFailureDetector, GRACE_MS, RETURN_MS, SILENT_MS } from './failure-detector.ts'
import { createPeers, type Peers } from './peers.ts'

const BEAT_MS = 1_000
/** Without a beat for this long, nothing new is begun before the next one: other processes may have taken this one for frozen. */
const FRESH_MS = SILENT_MS / 2
/** How long work waits for the sign of life to come back. */
const PATIENCE_MS = 10_000

export interface ProcessesOptions {
  /** Of the database itself, not of a pooler: a dedicated session is the sign of life. */
  url: string
  /** Machine and process number, for operators. */
  name: string
  version: string
  machine: Machine
  log: Logger
  /** Learns of the other processes from their rows. Default: one of its own. */
  peers?: Peers
  /** Returns why the database is not for this version any more; undefined while it is. Default: it always is. */
  findNewer?: (session: OwnConnection) => Promise<string | undefined>
  /** Receives that sentence when another process has changed the database meanwhile: this one has left it for good. Default: none. */
  onNewer?: ((why: string) => void) | undefined
}

export interface ProcessWork {
  /**
   * Completes the work that another process left; then that process is forgotten. Called by one process at a time, and again after it
   * throws.
   */
  takeOver(gone: OtherProcess): Promise<void>
  /**
   * Called when this process was taken for dead and has a new id: the work it still does under the old id was taken over by another
   * process.
   */
  beginAnew(formerId: string): void
}

/**
 * This process among the others on one database. Its sign of life is an advisory lock, which the database releases the moment the process
 * or its connection ends. Once a second the process reports that it is alive, measures the database's clock, and checks which processes are
 * gone.
 */
export interface Processes {
  /** The id under which it works now. */
  readonly id: string
  /** The database's time. */
  readonly clock: Clock
  readonly connection: OwnConnection
  /** False without a sign of life: nothing is begun then. */
  readonly isAlive: boolean
  /** Milliseconds since the database last answered. */
  readonly silentMs: number
  /** Resolves when it is alive. @throws CountersignError `not_ready` when that takes too long. */
  whenAlive(): Promise<void>
  /** True when another process on the database is alive. */
  hasOthers(): Promise<boolean>
  /** True when one that registered before this process is alive. */
  hasEarlier(): Promise<boolean>
  /** Starts to look after the other processes. */
  start(work: ProcessWork): void
  /** Adds ids under which this process takes jobs. */
  usePools(pools: readonly string[]): Promise<void>
  /** Ends the sign of life. A process without unfinished work is forgotten; otherwise another one takes over at once. */
  leave(isEverythingDone: boolean): Promise<void>
}

/** @throws Error when the database cannot be reached, or is newer than this version. */
export async function openProcesses({
  url,
  name,
  version,
  machine,
  log,
  peers = createPeers(machine),
  findNewer = async () => undefined,
  onNewer,
}: ProcessesOptions): Promise<Processes> {
  const { steadyMs } = machine
  const clock = createDatabaseClock(machine)
  const others = createFailureDetector()
  const waitingForLife = new Set<() => void>()
  let pools: readonly string[] = []
  let id = newId('prc', machine.clock.nowMs())
  let number: number | undefined
  let seenAt = 0
  /** By how much the wall clock was ahead of the steady one when the beat began that the database answered last. */
  let aheadMs = 0
  /** When the connection was last restored; long ago before the first reconnect. */
  let returnedAt = Number.NEGATIVE_INFINITY
  let work: ProcessWork | undefined
  let hasLeft = false
  let isTakingOver = false
  let stopWaiting: (() => void) | undefined

  const wallAheadMs = () => machine.clock.nowMs() - steadyMs()
  // Linux leaves the time in which a machine is suspended out of the steady clock; it shows in the wall clock alone. Where somebody sets that
  // ahead, this costs a beat.
  const isFresh = () => steadyMs() - seenAt + Math.max(wallAheadMs() - aheadMs, 0) < FRESH_MS

  const connection = await openLastingConnection({
    url,
    name: 'countersign sign of life',
    machine,
    async onOpen(session) {
      if (number === undefined) {
        number = await rows.registerProcess(session, { id, name, version, pools })
        const why = await findNewer(session)
        if (why !== undefined) throw new Error(why)
      } else {
        returnedAt = steadyMs()
        if (await rows.resumeProcess(session, id, number)) await rows.savePools(session, id, pools)
        else await beginAnew(session)
        if (await isOutdated(session)) return
      }
      await beat(session)
      scheduleBeat(BEAT_MS)
    },
    onLost() {
      stopWaiting?.()
      if (!hasLeft) log.warn({ processId: id }, 'process.connection_lost')
    },
  })

  async function beginAnew(session: OwnConnection): Promise<void> {
    const former = id
    id = newId('prc', clock.nowMs())
    number = await rows.registerProcess(session, { id, name, version, pools })
    log.warn({ processId: id, former }, 'process.rejoined')
    checkpoint('process.rejoined')
    work?.beginAnew(former)
  }

  /** Leaves at once when a newer version, which did not see this process, has changed the database: it does not know these tables. */
  async function isOutdated(session: OwnConnection): Promise<boolean> {
    const why = await findNewer(session)
    if (why === undefined) return false
    hasLeft = true
    stopWaiting?.()
    log.fatal({ processId: id, problem: why }, 'database.newer')
    onNewer?.(why)
    await connection[Symbol.asyncDispose]()
    return true
  }

  async function beat(session: OwnConnection): Promise<void> {
    const sentAt = steadyMs()
    const sentAheadMs = wallAheadMs()
    const tellPeers = peers.look()
    const seen = await rows.beat(session, id)
    const receivedAt = steadyMs()
    tellPeers(seen.others.length > 0)
    clock.adjust(seen.nowMs, sentAt, receivedAt)
    if (!seen.isKnown) {
      await beginAnew(session)
      if (await isOutdated(session)) return
    }
    seenAt = receivedAt
    aheadMs = sentAheadMs
    // An answer from before a suspension says nothing about the time after it.
    if (isFresh()) for (const resolve of waitingForLife) resolve()
    const graceMs = receivedAt - returnedAt < RETURN_MS ? RETURN_MS : GRACE_MS
    const { gone, frozen } = others.look(seen.others, receivedAt, graceMs)
    if (others.lateMs > 0) log.warn({ processId: id, lateMs: others.lateMs }, 'process.heartbeat_late')
    for (const { id: processId, backend, silentMs } of frozen) {
      log.warn({ processId, silentMs }, 'process.frozen')
      // A process with another database user lacks the permission: its connection ends with its machine.
      await rows.endConnection(session, backend).catch((error) => log.warn({ processId, error }, 'process.end_failed'))
    }
    if (gone.length > 0 && work && !isTakingOver) void takeOver(gone, work)
  }

  function scheduleBeat(delayMs: number): void {
    stopWaiting?.()
    if (hasLeft) return
    stopWaiting = machine.clock.after(delayMs, () => {
      beat(connection).then(
        () => scheduleBeat(others.isUnsure ? GRACE_MS : BEAT_MS),
        (error) => {
          // A broken connection is restored, and the next beat follows.
          if (!connection.isOpen || hasLeft) return
          log.error({ error }, 'process.heartbeat_failed')
          scheduleBeat(BEAT_MS)
        },
      )
    })
  }

  async function takeOver(gone: readonly OtherProcess[], { takeOver: doTheirs }: ProcessWork): Promise<void> {
    isTakingOver = true
    for (const other of gone) {
      try {
        // The holder of its lock is the only one that takes over, proves that the process is gone, and prevents it from returning under its
        // id.
        if (!(await rows.takeProcess(connection, other.number))) continue
        log.warn({ processId: other.id, cause: others.causeOf(other) }, 'process.gone')
        checkpoint('takeover.begun')
        try {
          await doTheirs(other)
          checkpoint('takeover.before_forget')
          await rows.forgetProcess(connection, other.id)
        } finally {
          await rows.releaseProcess(connection, other.number)
        }
        checkpoint('takeover.done')
      } catch (error) {
        others.postpone(other.id, steadyMs())
        log.error({ processId: other.id, error }, 'process.takeover_failed')
      }
    }
    isTakingOver = false
  }

  const livingOthers = async () => (await rows.beat(connection, id)).others.filter(({ heldBy, backend }) => heldBy === backend)

  const isAlive = () => connection.isOpen && !hasLeft && isFresh()

  return {
    get id() {
      return id
    },
    clock,
    connection,
    get isAlive() {
      return isAlive()
    },
    get silentMs() {
      return steadyMs() - seenAt
    },
    async whenAlive() {
      if (isAlive()) return
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      waitingForLife.add(resolve)
      const stop = machine.clock.after(PATIENCE_MS, () =>
        reject(new CountersignError('not_ready', 'the database does not answer: try again')),
      )
      // After a suspension, this process checks at once whether it still holds its id.
      if (connection.isOpen) scheduleBeat(0)
      await promise.finally(() => {
        stop()
        waitingForLife.delete(resolve)
      })
    },
    hasOthers: async () => (await livingOthers()).length > 0,
    hasEarlier: async () => (await livingOthers()).some((other) => number !== undefined && other.number < number),
    start(given) {
      work = given
      scheduleBeat(0)
    },
    async usePools(given) {
      pools = given
      if (connection.isOpen) await rows.savePools(connection, id, pools)
    },
    async leave(isEverythingDone) {
      if (hasLeft) return
      hasLeft = true
      stopWaiting?.()
      try {
        // A process is forgotten only when it left no unfinished work.
        if (!isEverythingDone || !(await rows.forgetProcess(connection, id))) await rows.abandonProcess(connection, id)
      } catch (error) {
        log.warn({ processId: id, error }, 'process.deregister_failed')
      }
      await connection[Symbol.asyncDispose]()
    },
  }
}
