import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import { codeOf, Fault, faultOf } from './fault.ts'
import { type Folder, requireExact, sameName, spelledOtherwise } from './folder.ts'

/** A file with its content, as read. */
export interface ReadFile {
  bytes: Buffer
  /** The permissions, as for `chmod`. */
  mode: number
  /** The number of hard links. */
  links: number
  /** Equal for all hard links of a file. */
  identity: string
}

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/**
 * Reads a whole file of a folder.
 * @param path The path as people and models know it.
 * @returns Undefined when it does not exist.
 * @throws Fault when it is not a file, is larger than `maxBytes`, or is spelled differently.
 */
export async function readWhole(folder: Folder, name: string, path: string, maxBytes: number): Promise<ReadFile | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  // Opening a pipe without a writer would block forever.
  const handle = await open(folder.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw faultOf(error, path)
  })
  if (handle === undefined) {
    await requireNoOther(folder, name, path)
    return undefined
  }
  try {
    await requireExact(folder, name, path)
    const found = await handle.stat()
    if (found.isDirectory()) throw new Fault(`${path} is a folder.`)
    if (!found.isFile()) throw new Fault(`${path} is not a file.`)
    if (found.size > maxBytes) throw new Fault(`${path} has ${count(found.size)} bytes; at most ${count(maxBytes)} are read here.`)
    const buffer = Buffer.alloc(found.size + 1)
    let length = 0
    while (length < buffer.length) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    if (length > found.size) throw new Fault(`${path} grew while it was read.`)
    return { bytes: buffer.subarray(0, length), mode: found.mode & 0o777, links: found.nlink, identity: `${found.dev}:${found.ino}` }
  } finally {
    await handle.close()
  }
}

/** @throws Fault when a name exists that differs only in spelling: on other file systems the two would be one file. */
async function requireNoOther(folder: Folder, name: string, path: string): Promise<void> {
  const other = await sameName(folder, name)
  if (other !== undefined && other !== name) throw spelledOtherwise(path, other)
}

/** @throws Fault when anything with this name exists. */
export async function requireAbsent(folder: Folder, name: string, path: string): Promise<void> {
  const found = await lstat(folder.at(name)).catch(() => undefined)
  if (found) throw new Fault(`${path} is there already.`)
}

const count = (bytes: number): string => bytes.toLocaleString('en')
