import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Writes the names in a folder to the disk. A new file, or one with a new name, may be gone after a power failure until then, even when its
 * content was written. Does nothing on Windows, which has no such call.
 * @throws Error when the disk fails. A folder that this user may not read is left as it is.
 */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  let handle: number
  try {
    handle = openSync(folder, 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM')) return
    throw error
  }
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/**
 * Makes a folder, and those above it, so that it is still there after a power failure. A folder that exists stays as it is.
 * @param mode Of each new folder; default `0o700`.
 */
export function makeDurableFolder(folder: string, mode = 0o700): void {
  const path = resolve(folder)
  const first = mkdirSync(path, { recursive: true, mode }) ?? path
  // Also the name of a folder that exists: a process that was killed may have made it a moment ago.
  for (let made = path; ; made = dirname(made)) {
    syncFolder(dirname(made))
    if (made === first || made === dirname(made)) return
  }
}

/** A name beside `path` that nothing else has. */
const partialOf = (path: string): string => `${path}.${randomBytes(4).toString('hex')}.partial`

function writeSynced(path: string, text: string, mode: number): void {
  const handle = openSync(path, 'wx', mode)
  try {
    writeSync(handle, text)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/**
 * Writes a file that does not exist yet, as a whole or not at all, also when the power fails.
 * @returns False when a file of this name exists; it is left as it is.
 */
export function writeDurableFile(path: string, text: string, mode = 0o600): boolean {
  const partial = partialOf(path)
  try {
    writeSynced(partial, text, mode)
    // Unlike a rename, a link replaces nothing.
    linkSync(partial, path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(partial, { force: true })
  }
  syncFolder(dirname(path))
  return true
}

/**
 * Writes a file in place of the one of its name, as a whole or not at all, also when the power fails.
 * @throws Error when it cannot be written; the one that was there is left as it is.
 */
export function replaceDurableFile(path: string, text: string, mode = 0o600): void {
  const partial = partialOf(path)
  try {
    writeSynced(partial, text, mode)
    renameSync(partial, path)
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  }
  syncFolder(dirname(path))
}

const CHUNK_BYTES = 1_048_576

/**
 * Writes a file's content over itself and to the disk. Linux takes pages that it failed to write for written: the file reads as if nothing
 * had happened, a later fsync says that all is well, and after a power failure the content is gone. Nobody may write to the file meanwhile.
 */
export function rewriteFile(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0) return
  const handle = openSync(path, 'r+')
  try {
    const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, size))
    for (let at = 0; at < size; ) {
      const bytes = readSync(handle, chunk, 0, chunk.length, at)
      if (bytes === 0) break
      for (let done = 0; done < bytes; ) done += writeSync(handle, chunk, done, bytes - done, at + done)
      at += bytes
    }
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
