import { checkpoint } from '@countersign/toolkit/internal'
import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import type { Store } from '../store/index.ts'
import { type Accepter, acceptRecord, recordLostMemory, recordProblem } from './accept.ts'
import { compareHeads, isAcceptedSince, type RecordProblem } from './compare.ts'
import { HEAD_FORMAT, type Head, type HeadGap } from './head.ts'
import type { AuditKey } from './key.ts'
import { type HeadMemory, openMemory } from './memory.ts'
import { SEAL_EVERY_MS, type Sealed, sealOnce } from './seal.ts'

/** Pause after a failure, for example when the database was unreachable. */
const RETRY_MS = 5_000
/** Pause between two attempts to sign a state that a person has just accepted. */
const ACCEPT_RETRY_MS = 50
const MAX_ACCEPT_TRIES = 100

export interface SealerWork {
  store: Store
  key: AuditKey
  log: Logger
  /** Default: as long as the process runs. */
  memory?: HeadMemory
  /** True when no other process signs heads: then a memory that is behind by more than one head was replaced. */
  isAlone?: boolean
  /** Receives each head that this process signs or learns of. */
  onHead?: (head: Head) => void
}

/** The state of sealing, for people and probes. */
export interface SealStatus {
  /** Why nothing is sealed, and since when this process knows (epoch ms); undefined without a problem. */
  problem: (RecordProblem & { sinceMs: number }) | undefined
  head: Pick<Head, 'number' | 'hash' | 'at'> | undefined
  memory: Pick<HeadMemory, 'place' | 'since' | 'from'>
  /** How many heads this process has signed. */
  signed: number
}

/**
 * Seals the record: signs a head over the new rows, at most one a second. Every process seals the rows of all processes, one process at a
 * time; rows that one leaves, the next one finds. It signs nothing while the database does not hold the head that it remembers.
 */
export interface Sealer {
  /** Starts sealing, with the rows that earlier processes left. */
  start(work: SealerWork): void
  /** Reports that there may be new rows. */
  wake(): void
  /** Seals at once, however young the newest head is. Resolves with false when there was nothing that could be sealed. */
  sealNow(): Promise<boolean>
  readonly status: SealStatus
  /** The keys whose heads are genuine: this server's, and that of the head that it remembers. */
  readonly keys: readonly string[]
  /** Reports that sealed rows were changed: nothing is sealed until a person accepts that. */
  report(problem: RecordProblem): Promise<void>
  /**
   * Accepts the record in its current state, records the acceptance, and continues sealing; the next head states what was accepted.
   * @returns False when there was nothing to accept, or nothing of this kind.
   */
  accept(by: Accepter, reason: string, onlyKind?: RecordProblem['kind']): Promise<boolean>
  /** Seals the remaining rows, as far as possible, and nothing after that. */
  finish(): Promise<void>
}

export function createSealer(clock: Clock): Sealer {
  let work: (SealerWork & { memory: HeadMemory }) | undefined
  let takeBack: (() => void) | undefined
  let isAsked = false
  let isFinished = false
  let isHurried = false
  let inFlight: Promise<void> | undefined
  /** Accepted, but not stated by a head yet. */
  let gap: HeadGap | undefined
  let problem: SealStatus['problem']
  /** True once the record says that there is this problem. */
  let isRecorded = false
  /** Changed rows, which do not show in their heads. */
  let reported: RecordProblem | undefined
  let signed = 0
  const keysOf = ({ key, memory }: { key: AuditKey; memory: HeadMemory }) => [key.publicKey, ...(memory.head ? [memory.head.key] : [])]

  function arm(waitMs: number): void {
    if (takeBack || isFinished) return
    takeBack = clock.after(waitMs, () => {
      takeBack = undefined
      void look()
    })
  }

  function look(): Promise<void> {
    inFlight ??= seal().finally(() => {
      inFlight = undefined
      // A request that came meanwhile did not arm the timer.
      if (isAsked) arm(SEAL_EVERY_MS)
    })
    return inFlight
  }

  async function seal(): Promise<void> {
    if (!work) return
    const { store, key, log, memory } = work
    isAsked = false
    try {
      await beginMemory()
      // A problem in sealed rows does not show in their heads, so it lasts until a person accepts it.
      const known = memory.problem ?? reported
      if (known && !gap) {
        if (!(await store.read(() => isAcceptedSince(known.remembered, key.publicKey, 'changed')))) return await learn(known)
        forget(memory)
      }
      checkpoint('seal.before_store')
      const isStopped = () => !gap && (memory.problem ?? reported) !== undefined
      const sealed = await sealOnce({ store, key, memory, gap, isPaced: !isFinished && !isHurried, isStopped }, clock.nowMs())
      checkpoint('seal.after_store')
      await take(sealed)
    } catch (error) {
      log.warn({ error }, 'audit.seal_failed')
      arm(RETRY_MS)
    }
  }

  async function take(sealed: Sealed): Promise<void> {
    if (!work) return
    if (sealed.kind === 'problem') {
      gap = undefined
      return learn(sealed.problem)
    }
    if (sealed.kind !== 'sealed') gap = sealed.gap
    // A problem that was reported while this head was being signed remains.
    const isKept = (work.memory.problem ?? reported) !== undefined
    if (problem && !gap && !isKept) work.log.info({ head: sealed.last?.number }, 'record.problem_accepted_elsewhere')
    if (!isKept && (!gap || sealed.kind === 'sealed')) problem = undefined
    if (sealed.kind === 'sealed') {
      signed++
      gap = undefined
    }
    if (sealed.last && !gap) {
      work.memory.remember(sealed.last, clock.nowMs())
      work.onHead?.(sealed.last)
    }
    if (problem && gap && sealed.kind === 'nothing') return acceptAgain(problem, gap)
    if (sealed.kind === 'sealed' && sealed.isFull && isFinished) return seal()
    if (sealed.kind === 'later' || (sealed.kind === 'sealed' && sealed.leavesRows)) arm(SEAL_EVERY_MS)
  }

  /** Another process has signed a head over the row of the acceptance: with one more row, the next head can state it. */
  async function acceptAgain(accepted: RecordProblem, { by, reason }: HeadGap): Promise<void> {
    if (!work) return
    const { store } = work
    const keys = keysOf(work)
    gap = await store.transact((outbox) => acceptRecord(outbox, { problem: accepted, by: { id: by }, reason, keys }, clock.nowMs()))
    arm(ACCEPT_RETRY_MS)
  }

  /** Stops the sealing because of a problem, and reports it once: in the log, and in the record. */
  async function learn(found: RecordProblem): Promise<void> {
    if (!work) return
    const { store, log } = work
    if (problem?.why !== found.why) {
      problem = { ...found, sinceMs: clock.nowMs() }
      isRecorded = false
      log.error({ kind: found.kind, why: found.why, found: found.found, remembered: found.remembered }, 'record.problem')
    }
    // The disk may be full: then the next look tries again.
    if (isRecorded) return
    await store.transact((outbox) => recordProblem(outbox, found, clock.nowMs()))
    isRecorded = true
  }

  function forget(memory: HeadMemory): void {
    reported = undefined
    memory.keepProblem(undefined)
  }

  let hasBegun = false
  /** Handles a lost memory: notes it in the record, and starts with the newest head. */
  async function beginMemory(): Promise<void> {
    if (hasBegun || !work) return
    const { store, key, log, memory, isAlone } = work
    const { last, problem: other } = await store.read(() => compareHeads(memory.head, key.publicKey))
    if (!other && last && memory.place === 'file') {
      const lost = whyLost(memory, last, isAlone === true)
      if (lost !== undefined) {
        const data = { why: lost, remembered: memory.head?.number ?? 0, from: last.number }
        log.error(data, 'record.memory_lost')
        await store.transact((outbox) => recordLostMemory(outbox, data, clock.nowMs()))
        memory.beginAnew(last, clock.nowMs())
      }
    }
    hasBegun = true
  }

  async function accept(by: Accepter, reason: string, onlyKind?: RecordProblem['kind']): Promise<boolean> {
    if (!work) return false
    await look()
    const accepted = problem
    if (!accepted || (onlyKind && accepted.kind !== onlyKind)) return false
    const { store, memory, log } = work
    const keys = keysOf(work)
    const nowMs = clock.nowMs()
    gap = await store.transact((outbox) => acceptRecord(outbox, { problem: accepted, by, reason, keys }, nowMs))
    log.warn({ by: by.id, reason, why: accepted.why }, 'record.accepted')
    forget(memory)
    // The new row is sealed at once: from then on a restart knows of the acceptance.
    for (let tries = 0; gap && tries < MAX_ACCEPT_TRIES; tries++) {
      await look()
      if (gap) await new Promise<void>((resolve) => clock.after(ACCEPT_RETRY_MS, resolve))
    }
    return true
  }

  return {
    start(given) {
      work = { ...given, memory: given.memory ?? openMemory({ file: undefined, log: given.log }) }
      void look()
    },
    wake() {
      isAsked = true
      if (work && !inFlight) arm(SEAL_EVERY_MS)
    },
    async sealNow() {
      await inFlight
      const before = signed
      isHurried = true
      await look()
      isHurried = false
      return signed > before
    },
    get status() {
      const head = work?.memory.head
      return {
        problem,
        head: head && { number: head.number, hash: head.hash, at: head.at },
        memory: { place: work?.memory.place ?? 'process', since: work?.memory.since, from: work?.memory.from },
        signed,
      }
    },
    get keys() {
      return work ? keysOf(work) : []
    },
    async report(found) {
      if (!work) return
      const { store, key, memory } = work
      // It may have been accepted while the rows were checked.
      const isAccepted = await store.read(() => isAcceptedSince(found.remembered, key.publicKey, 'changed'))
      if (isAccepted || problem?.kind === 'changed') return
      reported = found
      memory.keepProblem(found)
      await learn(found)
    },
    accept,
    async finish() {
      isFinished = true
      takeBack?.()
      await inFlight
      await look()
    },
  }
}

/** Returns why a memory was lost; undefined when it was not. */
function whyLost({ head, isUnreadable }: HeadMemory, last: Head, isAlone: boolean): string | undefined {
  const only = 'Nothing that was changed in the record before that is noticed by this server.'
  if (isUnreadable) return `The file of the remembered head cannot be read. ${only}`
  // Heads of earlier versions were never remembered.
  if (!head) return last.format >= HEAD_FORMAT ? `The file of the remembered head is missing. ${only}` : undefined
  // A process that was killed between signing and remembering is one head behind.
  if (isAlone && last.number > head.number + 1) return `The file of the remembered head is older than the record. ${only}`
  return undefined
}
