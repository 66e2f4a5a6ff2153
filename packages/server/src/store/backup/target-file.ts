import { existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isFull } from '../sqlite/errors.ts'

/**
 * Lets `write` create a file, and gives it its name only when it is complete and on disk. Until then it is called `….partial`; after a
 * crash at any point, the name is absent or has its previous content.
 * @param overwrite False refuses an existing name.
 * @throws Error when the name is taken or `write` throws.
 */
export async function writeWholeFile<T>(file: string, overwrite: boolean, write: (partial: string) => Promise<T>): Promise<T> {
  if (!overwrite && existsSync(file)) throw new Error(`${file} exists; name another file, or overwrite it with --force`)
  const folder = dirname(resolve(file))
  if (!existsSync(folder)) throw new Error(`the folder ${folder} does not exist`)
  const partial = `${file}.partial`
  await remove(partial)
  const made = await open(partial, 'wx', 0o600)
  await made.close()
  try {
    const result = await write(partial)
    await syncToDisk(partial)
    await rename(partial, file)
    await syncToDisk(folder)
    return result
  } catch (error) {
    await remove(partial)
    throw isFull(error) ? new Error(`${file} was not written: the disk of ${folder} is full`, { cause: error }) : error
  }
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
