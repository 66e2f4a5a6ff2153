import type { NewEvent } from '@countersign/core'
import type { Tx } from './query.ts'
import type { Happening } from './tables/happening.ts'
import type { Mark } from './tables/instance.ts'

/** Where the data is: in a folder of this machine, or in a Postgres that several processes share. */
export type Database =
  | {
      kind: 'sqlite'
      dataDir: string
      /** True begins anew where the database, or its newest commits, are lost. */
      acceptLoss?: boolean | undefined
    }
  | {
      kind: 'postgres'
      /** `postgres://…` A secret: it holds the password. */
      url: string
      /** The same database past the pooler in transaction mode that `url` goes through. A secret. */
      directUrl?: string | undefined
    }

/** An event as it was stored: `seq` is its number in its session (null without one), `id` its place in the whole log. */
export interface StoredEvent {
  id: number
  sessionId: string | null
  seq: number | null
  event: NewEvent
}

/** What a transaction wants done once it is durable. A rolled-back transaction's outbox is dropped with it. */
export interface Outbox {
  readonly events: StoredEvent[]
  /** Sessions whose rows call for the next thing. */
  readonly sessions: Set<string>
  /** Approved actions to carry out. */
  readonly actions: Set<string>
  /** The earliest time, epoch ms, at which time itself does something to an action that was written. */
  dueAt?: number
  /** Since when deliveries to webhooks may wait, epoch ms: the transaction wrote some where webhooks hear of what it did. */
  deliveriesAt?: number
  /** Principals who may do less than before, or something else: see `tellAccess`. */
  access?: Set<string>
  /** True when the record has new rows, which wait for their seal. */
  isAudited?: boolean
  /** The last row of the record that the transaction wrote. */
  mark?: Mark
  /** What the metrics of this process count. */
  happened?: Happening[]
}

/** Whether a database can take what has to be stored. */
export interface StorageHealth {
  /** Why the database cannot be trusted until somebody has looked after it and started the server again; undefined while nothing is known. */
  readonly damage: string | undefined
  /**
   * Finds out whether there is room for a write, without changing what is stored.
   * @throws CountersignError `storage_full` when there is none.
   */
  requireRoom(): Promise<void>
}

/** The health of a store that nothing is known about. */
export const ALWAYS_WELL: StorageHealth = { damage: undefined, requireRoom: async () => undefined }

export interface Store {
  readonly health: StorageHealth
  /**
   * Runs `work` as one transaction and resolves after it is on disk. Transactions in flight together share the commit. When one of them
   * fails the others are run again from their start, so `work` acts through its queries and its outbox only.
   * @throws whatever `work` throws, with everything it wrote undone; CountersignError `storage_full` when the disk is full.
   */
  transact<T>(work: (outbox: Outbox) => Tx<T>): Promise<T>
  /** Runs `work` without writing, on a consistent view. */
  read<T>(work: () => Tx<T>): Promise<T>
  close(): Promise<void>
}
