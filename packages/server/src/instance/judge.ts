import type { InstanceRow } from '../store/index.ts'
import { type FilePlace, type FoundWitness, isSameFile } from './witness.ts'

/** The evidence that a starting process finds outside the rows. */
export interface Evidence {
  /** The witness file, for the sentence. */
  file: string | undefined
  witness: FoundWitness | undefined
  /** False when the record does not hold the row that the witness knows to be committed. */
  isMarkThere: boolean
  /** Identities of the current witness file and embedded database; undefined on Postgres. */
  files: { witness: FilePlace | undefined; database: FilePlace } | undefined
  /** Identity of the cluster and the database in it; null where it is unknown or does not exist. */
  system: string | null
  /** Hash of the token in the environment. */
  token: string | null
}

/**
 * Returns what to do where only this process has the evidence for a copy, and others that work on the database show that it is none: a
 * process that was away while the database was accepted has the file of an earlier epoch. A file of a later epoch is news about the
 * database, which is older than what was committed.
 */
export function adviceForOne(row: InstanceRow, { file, witness, token }: Evidence): string | undefined {
  if (row.token !== null && row.token !== token) return 'start this one with the same token as they have'
  if (witness === undefined || row.bound_at === null) return undefined
  const isOwn = witness === 'unreadable' || (witness.id !== row.id && witness.epoch <= row.epoch)
  return isOwn ? `if this one belongs to them, remove ${file} and start it again` : undefined
}

/**
 * Returns why a database looks like a copy, as a sentence; undefined when it is the installation's own. Promotion of a standby is judged
 * separately: see `openGuard`.
 */
export function whyCopy(row: InstanceRow, { file, witness, isMarkThere, files, system, token }: Evidence): string | undefined {
  if (witness === 'unreadable') return `The file ${file}, which shows that this database is no copy, cannot be read.`
  if (row.bound_at === null) {
    // An interrupted start has written the file and not yet the row.
    if (!witness || witness.id === row.id) return undefined
    return `The file ${file} belongs to another database: the one that was here has been replaced by one that was never in use.`
  }
  if (row.system !== null && system !== null && row.system !== system) {
    return 'This database was in use on another server or under another name: it was restored or copied to where it is now.'
  }
  if (row.token !== null && row.token !== token) {
    return 'COUNTERSIGN_INSTANCE_TOKEN is not the one that this database was used with.'
  }
  if (!witness) {
    return files ? `The file ${file}, which belongs to this database, is missing: the database was copied here without it.` : undefined
  }
  if (witness.id !== row.id) {
    return `This database is of epoch ${row.epoch}, and the file ${file} is of epoch ${witness.epoch} or of another database.`
  }
  if (files && witness.files) {
    if (!files.witness || !isSameFile(witness.files.witness, files.witness)) return 'The data folder is a copy of another one.'
    if (!isSameFile(witness.files.database, files.database)) return 'The database file is not the one that was used in this folder.'
  }
  return isMarkThere ? undefined : 'This database is older than what was already committed: it was restored from a backup or rolled back.'
}
