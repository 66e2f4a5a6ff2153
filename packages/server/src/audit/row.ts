import { hash } from 'node:crypto'
import type { AuditKind, JsonObject } from '@countersign/core'
import type { AuditRow } from '../store/index.ts'

/** What a row of the record says. */
export interface AuditEntry {
  kind: AuditKind
  /** Id of the principal who did it; `system` for what the server does by itself. */
  actor: string
  /** The action that it is about. */
  actionId?: string | undefined
  /** What else is to be known of it. Never a secret of the configuration. It can be blanked later: nothing else in the row can. */
  data: JsonObject
}

/** The actor of what nobody asked for, and the scope of what belongs to no action. */
export const SYSTEM = 'system'

/** Where a chain goes on: number, hash and place of its last row. */
export type ChainEnd = Pick<AuditRow, 'seq' | 'hash'> & { place: number | null }

export const CHAIN_START: ChainEnd = { seq: 0, hash: '', place: null }

export const sha256 = (text: string): string => hash('sha256', text, 'base64url')

/** The hash by which a row stands for its data. @param data Canonical JSON. */
export const dataHashOf = (salt: string, data: string): string => sha256(salt + data)

/** The hash of a row: over the canonical JSON of all that is chained. */
export const rowHashOf = (row: Pick<AuditRow, 'scope' | 'seq' | 'prev' | 'at' | 'kind' | 'actor' | 'action_id' | 'data_hash'>): string =>
  // The names stand in the order that canonical JSON has; sorting them anew for each row would cost more than the hash.
  sha256(
    JSON.stringify({
      action: row.action_id,
      actor: row.actor,
      at: row.at,
      dataHash: row.data_hash,
      kind: row.kind,
      prev: row.prev,
      scope: row.scope,
      seq: row.seq,
    }),
  )
