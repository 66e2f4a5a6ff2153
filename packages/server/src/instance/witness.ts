import { closeSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncFolder } from '../durable-files.ts'
import type { Mark } from '../store/index.ts'

/** Which file it is, whatever it is called: a copy is another one. */
export interface FilePlace {
  inode: string
  /** Nanoseconds; null where the file system does not keep it. */
  born: string | null
}

/** What an installation keeps outside its database. */
export interface Witness {
  /** That of the database's epoch. */
  id: string
  epoch: number
  /** The witness file itself and the embedded database's, as they were bound; null where a copy of the file proves nothing. */
  files: { witness: FilePlace; database: FilePlace } | null
}

/** Half of the file is the witness, the other half the newest row of the record: each is written at once, and in its place. */
const HALF_BYTES = 512

export type FoundWitness = (Witness & { mark: Mark | undefined }) | 'unreadable'

/** Reads a witness file; undefined when there is none. */
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

/** Where a file is. @throws Error when it is not there. */
export function placeOf(file: string): FilePlace {
  const { ino, birthtimeNs } = statSync(file, { bigint: true })
  return { inode: String(ino), born: birthtimeNs === 0n ? null : String(birthtimeNs) }
}

/** True when the file at `now` may be the one that was `bound`. */
export const isSameFile = (bound: FilePlace, now: FilePlace): boolean =>
  bound.inode === now.inode && (bound.born === null || bound.born === now.born)

export interface WitnessFile extends Disposable {
  /** Writes down the newest row of the record that is committed. Without an fsync: after a loss of power it may be behind, never ahead. */
  note(mark: Mark): void
}

/**
 * Writes a witness file anew and opens it, so that `note` can keep it up to date.
 * @param databaseFile The embedded database's: then the witness is bound to both files. Without it a copy of the file is as good.
 * @throws Error when it cannot be written.
 */
export function writeWitness(
  file: string,
  { id, epoch, mark }: Pick<Witness, 'id' | 'epoch'> & { mark: Mark | undefined },
  databaseFile: string | undefined,
): WitnessFile {
  const temporary = `${file}.new`
  writeFileSync(temporary, '', { mode: 0o600 })
  const fd = openSync(temporary, 'r+')
  try {
    const witness = placeOf(temporary)
    const write = (places: Witness['files']) => writeSync(fd, padded({ id, epoch, files: places }), 0, HALF_BYTES, 0)
    const files = databaseFile === undefined ? null : { witness, database: placeOf(databaseFile) }
    write(files)
    writeSync(fd, padded(mark), 0, HALF_BYTES, HALF_BYTES)
    fsyncSync(fd)
    renameSync(temporary, file)
    // Where the time of birth is the time of the last change, as some systems tell it, it says nothing.
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
