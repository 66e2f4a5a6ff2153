import { createHash } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { checkpoint } from '@countersign/toolkit/internal'
import { syncFolder } from '../durable-files.ts'
import { giveToOwner } from '../private-files.ts'

export interface WrittenFile {
  /** Hex, of the bytes as they stand in the file. */
  sha256: string
  bytes: number
}

/**
 * Writes texts to a compressed file. The file has its name only once it is whole and on the disk.
 * @param texts Taken one by one, as fast as the disk takes them.
 */
export function writeCompressed(path: string, texts: AsyncIterable<string>): Promise<WrittenFile> {
  const hash = createHash('sha256')
  let bytes = 0
  return removedOnError(`${path}.partial`, async (partial) => {
    const file = await makeFile(partial)
    try {
      await pipeline(Readable.from(texts), createGzip(), async (chunks: AsyncIterable<Buffer>) => {
        for await (const chunk of chunks) {
          hash.update(chunk)
          bytes += chunk.length
          await file.writeFile(chunk)
        }
      })
      checkpoint('archive.before_fsync')
      await file.sync()
    } finally {
      await file.close()
    }
    checkpoint('archive.before_rename')
    await rename(partial, path)
    checkpoint('archive.renamed')
    syncFolder(dirname(path))
    return { sha256: hash.digest('hex'), bytes }
  })
}

/** Writes a text under a name, whole or not at all. */
export const writeWhole = (path: string, text: string): Promise<void> =>
  removedOnError(`${path}.partial`, async (partial) => {
    const file = await makeFile(partial)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(partial, path)
    syncFolder(dirname(path))
  })

/** Makes a file in the place of what a run left that was killed. */
async function makeFile(partial: string): Promise<FileHandle> {
  await rm(partial, { force: true })
  const file = await open(partial, 'wx', 0o600)
  giveToOwner(file.fd, dirname(partial))
  return file
}

/**
 * Writes a file, and deletes the unfinished one on an error. On a full disk, an unfinished file would keep the disk full, and no decision could
 * be stored.
 */
async function removedOnError<T>(partial: string, write: (partial: string) => Promise<T>): Promise<T> {
  try {
    return await write(partial)
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined)
    throw error
  }
}
