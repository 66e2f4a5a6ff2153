import { CountersignError } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import type { Logger } from 'pino'
import type { Clock } from '../../clock.ts'
import { type Machine, newId, type OtherProcess, type OwnConnection, openLastingConnection, processes as rows } from '../../store/index.ts'
import { createDatabaseClock } from './database-clock.ts'
import { createFailureDetector, GRACE_MS, RETURN_MS, SILENT_MS } from './failure-detector.ts'

const BEAT_MS = 1_000
/** Without a beat for this long, nothing new is begun before the next one: others may have taken this process for frozen. */
const FRESH_MS = SILENT_MS / 2
/** How long work waits for the sign of life to come back. */
const PATIENCE_MS = 10_000

export interface ProcessesOptions {
  /** Of the database itself, not of a pooler: a session of our own is the sign of life. */
  url: string
  /** Machine and process number, for people. */
  name: string
  version: string
  machine: Machine
  log: Logger
}

export interface ProcessWork {
  /** Does what another process left undone; then that one is forgotten. Called by one process at a time, and again when it throws. */
  takeOver(gone: OtherProcess): Promise<void>
  /** This process was taken for dead and has another id now: what it still does under the former, somebody else does too. */
  beginAnew(formerId: string): void
}

/**
 * This process among the others on one database. Its sign of life is an advisory lock, which the database takes back the moment the
 * process or its connection ends. Once a second it says that it lives, measures the database's clock, and sees who is gone.
 */
export interface Processes {
  /** Under which it works now. */
  readonly id: string
  /** The database's time. */
  readonly clock: Clock
  readonly connection: OwnConnection
  /** False without a sign of life: then nothing is begun. */
  readonly isAlive: boolean
  /** Resolves when it is alive. @throws CountersignError `not_ready` when that takes too long. */
  whenAlive(): Promise<void>
  /** True when another process on the database is alive. */
  hasOthers(): Promise<boolean>
  /** Looks after the others from now on. */
  start(work: ProcessWork): void
  /** Takes jobs under these ids from now on. */
  usePools(pools: readonly string[]): Promise<void>
  /** Ends the sign of life. A process with nothing left undone is forgotten; otherwise another one takes over at once. */
  leave(isEverythingDone: boolean): Promise<void>
}

/** @throws Error when the database cannot be reached. */
export async function openProcesses({ url, name, version, machine, log }: ProcessesOptions): Promise<Processes> {
  const { steadyMs } = machine
  const clock = createDatabaseClock(machine)
  const others = createFailureDetector()
  const waitingForLife = new Set<() => void>()
  let pools: readonly string[] = []
  let id = newId('prc', machine.clock.nowMs())
  let number: number | undefined
  let seenAt = 0
  /** When the connection was made again; before the first time it broke, long ago. */
  let returnedAt = Number.NEGATIVE_INFINITY
  let work: ProcessWork | undefined
  let hasLeft = false
  let isTakingOver = false
  let stopWaiting: (() => void) | undefined

  const connection = await openLastingConnection({
    url,
    name: 'countersign sign of life',
    machine,
    async onOpen(session) {
      if (number === undefined) number = await rows.registerProcess(session, { id, name, version, pools })
      else {
        returnedAt = steadyMs()
        if (await rows.resumeProcess(session, id, number)) await rows.savePools(session, id, pools)
        else await beginAnew(session)
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

  async function beat(session: OwnConnection): Promise<void> {
    const sentAt = steadyMs()
    const seen = await rows.beat(session, id)
    const receivedAt = steadyMs()
    clock.adjust(seen.nowMs, sentAt, receivedAt)
    if (!seen.isKnown) await beginAnew(session)
    seenAt = receivedAt
    for (const resolve of waitingForLife) resolve()
    const graceMs = receivedAt - returnedAt < RETURN_MS ? RETURN_MS : GRACE_MS
    const { gone, frozen } = others.look(seen.others, receivedAt, graceMs)
    if (others.lateMs > 0) log.warn({ processId: id, lateMs: others.lateMs }, 'process.heartbeat_late')
    for (const { id: processId, backend, silentMs } of frozen) {
      log.warn({ processId, silentMs }, 'process.frozen')
      // Who runs as another user of the database may not: its connection ends with the machine.
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
          // A broken connection is made again and beats then.
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
        // Whoever holds its lock is the only one, proves that it is gone, and keeps it from coming back under its id.
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

  const isAlive = () => connection.isOpen && !hasLeft && steadyMs() - seenAt < FRESH_MS

  return {
    get id() {
      return id
    },
    clock,
    connection,
    get isAlive() {
      return isAlive()
    },
    async whenAlive() {
      if (isAlive()) return
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      waitingForLife.add(resolve)
      const stop = machine.clock.after(PATIENCE_MS, () =>
        reject(new CountersignError('not_ready', 'the database does not answer: try again')),
      )
      // Who stood still asks at once what became of it meanwhile.
      if (connection.isOpen) scheduleBeat(0)
      await promise.finally(() => {
        stop()
        waitingForLife.delete(resolve)
      })
    },
    async hasOthers() {
      const { others } = await rows.beat(connection, id)
      return others.some(({ heldBy, backend }) => heldBy === backend)
    },
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
        // Only who really left nothing undone is forgotten.
        if (!isEverythingDone || !(await rows.forgetProcess(connection, id))) await rows.abandonProcess(connection, id)
      } catch (error) {
        log.warn({ processId: id, error }, 'process.deregister_failed')
      }
      await connection[Symbol.asyncDispose]()
    },
  }
}
