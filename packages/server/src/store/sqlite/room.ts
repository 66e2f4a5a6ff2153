import { rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CountersignError } from '@countersign/core'

/** A commit writes its pages (4 KB each) to the write-ahead log: with less space than this, the next larger one fails. */
const LEAST_BYTES = 262_144

/** Checks whether the disk of a data folder has space for the next commits. */
export const sqliteRoom =
  (dataDir: string) =>
  async (hasFailed: boolean): Promise<void> => {
    const { bavail, bsize } = await statfs(dataDir)
    const full = (cause?: unknown) => new CountersignError('storage_full', `the disk of ${dataDir} is full`, {}, { cause })
    if (bavail * bsize < LEAST_BYTES) throw full()
    if (!hasFailed) return
    // A quota, or space reserved for the system's administrator, shows only in a write.
    const file = join(dataDir, 'room.tmp')
    try {
      await writeFile(file, new Uint8Array(LEAST_BYTES), { flush: true, mode: 0o600 })
    } catch (cause) {
      throw full(cause)
    } finally {
      await rm(file, { force: true })
    }
  }
