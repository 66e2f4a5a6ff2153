import { existsSync, statSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { checkpoint } from '@countersign/toolkit/internal'
import { isFull } from '../sqlite/errors.ts'
import { holdTemporaryLock, type Lock } from '../sqlite/file-lock.ts'

/**
 * Lets `write` create a file, and gives it its name only when it is complete and on disk. Until then it is called `….partial`; after a
 * crash at any point, the name is absent or has its previous content. The next call removes what a killed one left.
 * @param overwrite False refuses an existing name.
 * @throws Error when the name is taken or that of a folder, another process writes to it, or `write` throws.
 */
export async function writeWholeFile<T>(file: string, overwrite: boolean, write: (partial: string) => Promise<T>): Promise<T> {
  const folder = dirname(resolve(file))
  if (!existsSync(folder)) throw new Error(`the folder ${folder} does not exist`)
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`${file} is a folder; name a file in it`)
  const partial = `${file}.partial`
  const lock = lockName(file, folder)
  try {
    if (!overwrite && existsSync(file)) throw new Error(`${file} exists; name another file, or overwrite it with --force`)
    await remove(partial)
    const made = await open(partial, 'wx', 0o600)
    await made.close()
    const result = await write(partial)
    await syncToDisk(partial)
    checkpoint('backup.before_rename')
    await rename(partial, file)
    await syncToDisk(folder)
    return result
  } catch (error) {
    await remove(partial)
    throw isFull(error) ? new Error(`${file} was not written: the disk of ${folder} is full`, { cause: error }) : error
  } finally {
    lock.close()
  }
}

/** @throws Error when another process writes to the file, or its folder cannot be written. */
function lockName(file: string, folder: string): Lock {
  let lock: Lock | undefined
  try {
    lock = holdTemporaryLock(`${file}.partial.lock`)
  } catch (cause) {
    const why = isFull(cause)
      ? `the disk of ${folder} is full`
      : `${cause instanceof Error ? cause.message : cause}. Make ${folder} and ${file}.partial.lock writable for this user, or name another file`
    throw new Error(`${file} was not written: ${why}`, { cause })
  }
  if (!lock) throw new Error(`another backup to ${file} is running; wait for its end, or name another file`)
  return lock
}

/** Removes a file that was not finished, with the journal that SQLite keeps beside its copy: it would be taken for that of the next one. */
const remove = async (partial: string): Promise<void> => {
  for (const name of [partial, `${partial}-journal`]) await rm(name, { force: true })
}

/** Waits until a file, or the entries of a folder, are on disk. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
