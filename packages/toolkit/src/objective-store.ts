import type { JsonValue, KeyResult, Objective, ObjectiveChange, ObjectiveChangeKind, ObjectiveState } from '@countersign/core'

export type ObjectiveValues = Pick<Objective, 'title' | 'description' | 'owner' | 'period'>
export type KeyResultValues = Pick<KeyResult, 'title' | 'metric' | 'unit' | 'start' | 'target' | 'current'>

/** One change, whole: it is made as one transaction, once for the key of its attempt. */
export interface ObjectiveWrite {
  attempt: { key: string; actionId: string; by: string | undefined }
  kind: ObjectiveChangeKind
  /** The values that are changed, for the history. */
  before: JsonValue
  after: JsonValue
  note?: string
  /** `note` leaves it as it is and needs it to be open. */
  objective:
    | { to: 'create'; values: ObjectiveValues }
    | {
        to: 'set'
        id: string
        version: number
        values: ObjectiveValues
        state: ObjectiveState
        /** Ids and versions of the key results that the change was judged by. Default: it rests on none. */
        measured?: [id: string, version: number][]
      }
    | { to: 'note'; id: string }
  add?: readonly KeyResultValues[]
  set?: { id: string; version: number; values: KeyResultValues; isRemoved: boolean }
}

/** The subject of a change, made now or earlier under the same key. */
export interface Written {
  objectiveId: string
  keyResultId: string | null
}

/** Where objectives are kept. */
export interface ObjectiveStore {
  /** Newest first. */
  list(filter: { owner?: string; period?: string; state?: ObjectiveState; limit: number }): Promise<Objective[]>
  find(id: string): Promise<Objective | undefined>
  /** The objective that a key result is of; undefined when it was taken out. */
  findByKeyResult(keyResultId: string): Promise<Objective | undefined>
  /** Newest first; undefined for a key result that never existed. A removed one keeps its history. */
  keyResultHistory(keyResultId: string, limit: number): Promise<ObjectiveChange[] | undefined>
  /** Returns what the attempt with this key changed; undefined when it changed nothing. */
  findWritten(key: string): Promise<Written | undefined>
  /** @throws ToolError `stale` when what it is held against is not so any more: then nothing is changed. */
  write(write: ObjectiveWrite): Promise<Written>
}
