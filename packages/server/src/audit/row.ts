import { hash } from 'node:crypto'
import type { AuditKind, JsonObject } from '@countersign/core'
import type { AuditRow } from '../store/index.ts'

/** The content of a row of the record. */
export interface AuditEntry {
  kind: AuditKind
  /** Id of the principal who did it; `system` for what the server does by itself. */
  actor: string
  /** The action that it is about. */
  actionId?: string | undefined
  /** Further details. Never a secret of the configuration. Only this part of a row can be redacted later. */
  data: JsonObject
}

/** The actor of automatic changes, and the scope of rows that belong to no action. */
export const SYSTEM = 'system'

/** The end of a chain: number, hash and place of its last row. */
export type ChainEnd = Pick<AuditRow, 'seq' | 'hash'> & { place: number | null }

export const CHAIN_START: ChainEnd = { seq: 0, hash: '', place: null }

export const sha256 = (text: string): string => hash('sha256', text, 'base64url')

/** Returns the hash that represents a row's data. @param data Canonical JSON. */
export const dataHashOf = (salt: string, data: string): string => sha256(salt + data)

/** Returns the hash of a row: over the canonical JSON of all chained fields. */
export const rowHashOf = (row: Pick<AuditRow, 'scope' | 'seq' | 'prev' | 'at' | 'kind' | 'actor' | 'action_id' | 'data_hash'>): string =>
  // The names are in the order of canonical JSON; sorting them for each row would cost more than the hash.
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
