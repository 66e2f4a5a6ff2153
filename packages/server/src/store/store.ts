import type { NewEvent } from '@countersign/core'
import type { Tx } from './query.ts'
import type { Happening } from './tables/happening.ts'
import type { Mark } from './tables/instance.ts'
import type { EndedJobs, HeldJob } from './tables/jobs.ts'
import type { SessionState } from './tables/session-state.ts'

/** Where the data is: in a folder of this machine, or in a Postgres that several processes share. */
export type Database =
  | {
      kind: 'sqlite'
      dataDir: string
      /** True starts a new database when the old one, or its newest commits, are lost. */
      acceptLoss?: boolean | undefined
    }
  | {
      kind: 'postgres'
      /** `postgres://…` A secret: it holds the password. */
      url: string
      /** The same database without the pooler in transaction mode that `url` goes through. A secret. */
      directUrl?: string | undefined
    }

/** An event as it was stored: `seq` is its number in its session (null without one), `id` its place in the whole log. */
export interface StoredEvent {
  id: number
  sessionId: string | null
  seq: number | null
  event: NewEvent
}

/** The work that follows a commit. The outbox of a rolled-back transaction is dropped. */
export interface Outbox {
  readonly events: StoredEvent[]
  /** Sessions with more work to do. */
  readonly sessions: Set<string>
  /** Approved actions to execute. */
  readonly actions: Set<string>
  /** Set when this process starts all of this work itself: its jobs, which the transaction locks for this process. Postgres only. */
  held?: HeldJob[]
  /** The process that may claim the steps of these sessions with the transaction. Postgres only. */
  runner?: string
  /** Jobs of this process that have ended, which the transaction removes. Postgres only. */
  ended?: EndedJobs
  /** The earliest timer of the actions that were written, epoch ms. */
  dueAt?: number
  /** Set when the transaction may have queued webhook deliveries: the time since which they wait, epoch ms. */
  deliveriesAt?: number
  /** Principals who lost permissions or have other ones now: see `tellAccess`. */
  access?: Set<string>
  /** True when the transaction added audit rows, which are not sealed yet. */
  isAudited?: boolean
  /** The last audit row that the transaction wrote. */
  mark?: Mark
  /** Occurrences that this process counts in its metrics. */
  happened?: Happening[]
}

/** Whether a database can store new data. */
export interface StorageHealth {
  /** Why the database is unusable until an operator repairs it and restarts the server; undefined while no damage is known. */
  readonly damage: string | undefined
  /**
   * Checks that there is room for a write, and that nobody keeps a table locked that decisions write, without changing stored data.
   * @throws CountersignError `storage_full` without room; `not_ready` with the locked table.
   */
  requireRoom(): Promise<void>
  /** Refuses every transaction from now on, until the server is started again. */
  refuse(why: string): void
}

/** The health of a store without any known problem. */
export const ALWAYS_WELL: StorageHealth = { damage: undefined, requireRoom: async () => undefined, refuse: () => undefined }

export interface Store {
  readonly health: StorageHealth
  /**
   * Runs `work` as one transaction and resolves after it is on disk. Transactions in flight together share the commit. When one of them
   * fails the others are run again from their start, so `work` acts through its queries and its outbox only.
   * @throws The error of `work`, after its writes were rolled back; CountersignError `storage_full` when the disk is full.
   */
  transact<T>(work: (outbox: Outbox) => Tx<T>): Promise<T>
  /**
   * The session as this process wrote it last, on a database where that saves a round trip. Others may have written to it since: see
   * `claimStep`.
   */
  lastWritten(sessionId: string): SessionState | undefined
  /** Runs `work` without writing, on a consistent view. */
  read<T>(work: () => Tx<T>): Promise<T>
  close(): Promise<void>
}
