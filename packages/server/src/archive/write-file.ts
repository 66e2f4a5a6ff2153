import { createHash } from 'node:crypto'
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { checkpoint } from '@countersign/toolkit/internal'
import { syncFolder } from '../durable-files.ts'

export interface WrittenFile {
  /** Hex, of the bytes as they stand in the file. */
  sha256: string
  bytes: number
}

/**
 * Writes texts to a compressed file. The file has its name only once it is whole and on the disk.
 * @param texts Taken one by one, as fast as the disk takes them.
 */
export async function writeCompressed(path: string, texts: AsyncIterable<string>): Promise<WrittenFile> {
  const partial = `${path}.partial`
  const hash = createHash('sha256')
  let bytes = 0
  const file = await open(partial, 'w', 0o600)
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
}

/** Writes a text under a name, whole or not at all. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const partial = `${path}.partial`
  const file = await open(partial, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(partial, path)
  syncFolder(dirname(path))
}
