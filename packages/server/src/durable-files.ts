import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { giveToOwner } from './private-files.ts'

/**
 * Syncs the entries of a folder to disk. Until then, a power failure can remove a new or renamed file, even when its content was written.
 * Does nothing on Windows, which has no such call.
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
 * Creates a folder, and those above it, so that it survives a power failure. An existing folder stays as it is.
 * @param mode Of each new folder; default `0o700`.
 */
export function makeDurableFolder(folder: string, mode = 0o700): void {
  const path = resolve(folder)
  const first = mkdirSync(path, { recursive: true, mode }) ?? path
  // An existing folder is synced as well: a process that was killed may have created it a moment ago.
  for (let made = path; ; made = dirname(made)) {
    syncFolder(dirname(made))
    if (made === first || made === dirname(made)) return
  }
}

/** Returns an unused name beside `path`. */
const partialOf = (path: string): string => `${path}.${randomBytes(4).toString('hex')}.partial`

function writeSynced(path: string, text: string, mode: number): void {
  const handle = openSync(path, 'wx', mode)
  try {
    giveToOwner(handle, dirname(path))
    // Unlike writeSync, it writes all or throws: on a full disk, a write may store only a part without an error.
    writeFileSync(handle, text)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/**
 * Creates a file, as a whole or not at all, even on a power failure.
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
 * Replaces a file, as a whole or not at all, even on a power failure.
 * @throws Error when it cannot be written; the previous file is left as it is.
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
 * Rewrites a file's own content and syncs it to disk. Linux marks pages as clean even when writing them failed: the file reads normally, a
 * later fsync succeeds, and after a power failure the content is gone. The file must not be written by others meanwhile.
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
