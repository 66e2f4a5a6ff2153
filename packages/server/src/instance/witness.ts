import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncFolder } from '../durable-files.ts'
import { giveToOwner } from '../private-files.ts'
import type { Mark } from '../store/index.ts'

/** The identity of a file, independent of its name: a copy has another one. */
export interface FilePlace {
  inode: string
  /** Nanoseconds; null where the file system does not store it. */
  born: string | null
}

/** The data that an installation stores outside its database. */
export interface Witness {
  /** The token of the database's epoch. */
  id: string
  epoch: number
  /** The identities of the witness file and of the embedded database when they were bound; null where a copy of the file proves nothing. */
  files: { witness: FilePlace; database: FilePlace } | null
}

/** Half of the file is the witness, the other half the newest row of the record: each is written at once, and in its place. */
const HALF_BYTES = 512

export type FoundWitness = (Witness & { mark: Mark | undefined }) | 'unreadable'

/** Reads a witness file; undefined when it does not exist. */
export function readWitness(file: string): FoundWitness | undefined {
  try {
    const bytes = readFileSync(file)
    const { id, epoch, files } = JSON.parse(bytes.toString('utf8', 0, HALF_BYTES))
    const text = bytes.toString('utf8', HALF_BYTES).trim()
    return { id, epoch, files, mark: text === '' ? undefined : JSON.parse(text) }
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT' ? undefined : 'unreadable'
  }
}

/** Returns the identity of a file. @throws Error when it does not exist. */
export function placeOf(file: string): FilePlace {
  const { ino, birthtimeNs } = statSync(file, { bigint: true })
  return { inode: String(ino), born: birthtimeNs === 0n ? null : String(birthtimeNs) }
}

/** Returns true when the file at `now` may be the one that was `bound`. */
export const isSameFile = (bound: FilePlace, now: FilePlace): boolean =>
  bound.inode === now.inode && (bound.born === null || bound.born === now.born)

export interface WitnessFile extends Disposable {
  /** Writes the newest committed row of the record. Without an fsync: after a power failure it may be behind, never ahead. */
  note(mark: Mark): void
}

/**
 * Writes a new witness file and opens it, so that `note` can keep it up to date.
 * @param databaseFile The embedded database's: then the witness is bound to both files. Without it, a copy of the file is equally valid.
 * @throws Error when it cannot be written.
 */
export function writeWitness(
  file: string,
  { id, epoch, mark }: Pick<Witness, 'id' | 'epoch'> & { mark: Mark | undefined },
  databaseFile: string | undefined,
): WitnessFile {
  const temporary = `${file}.new`
  rmSync(temporary, { force: true })
  const fd = openSync(temporary, 'wx+', 0o600)
  try {
    giveToOwner(fd, dirname(file))
    const witness = placeOf(temporary)
    const write = (places: Witness['files']) => writeSync(fd, padded({ id, epoch, files: places }), 0, HALF_BYTES, 0)
    const files = databaseFile === undefined ? null : { witness, database: placeOf(databaseFile) }
    write(files)
    writeSync(fd, padded(mark), 0, HALF_BYTES, HALF_BYTES)
    fsyncSync(fd)
    renameSync(temporary, file)
    // Some systems report the time of the last change as the birth time; it proves nothing there.
    if (files && placeOf(file).born !== witness.born) {
      write({ witness: { ...witness, born: null }, database: { ...files.database, born: null } })
      fsyncSync(fd)
    }
    syncFolder(dirname(file))
  } catch (error) {
    closeSync(fd)
    throw error
  }
  return {
    note: (newest) => void writeSync(fd, padded(newest), 0, HALF_BYTES, HALF_BYTES),
    [Symbol.dispose]: () => closeSync(fd),
  }
}

const padded = (value: unknown): Buffer => Buffer.from((value === undefined ? '' : JSON.stringify(value)).padEnd(HALF_BYTES))
