import { constants, existsSync } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault, faultOf, NotThere } from './fault.ts'

/**
 * A workspace folder that is held open. On Linux everything in it is accessed through the open folder, so a change of its path (a link in
 * place of a folder) cannot lead elsewhere. On other systems its path is checked again before each use.
 */
export interface Folder {
  /** Returns the path to access the file or folder of this name. */
  at(name: string): string
  /** @throws Fault when the folder is no longer where it was opened. */
  stillThere(): Promise<void>
  /** Flushes its names to the disk. */
  sync(): Promise<void>
  names(): Promise<string[]>
  [Symbol.asyncDispose](): Promise<void>
}

const THROUGH_HANDLES = existsSync('/proc/self/fd')

/**
 * Opens a folder, segment by segment, without following links.
 * @param root The real path of the workspace.
 * @param make True: creates missing folders.
 * @throws Fault
 */
export async function openFolder(root: string, segments: readonly string[], make = false): Promise<Folder> {
  let folder = await hold(root, root, '.')
  let path = ''
  for (const segment of segments) {
    const parent = folder
    path = path === '' ? segment : `${path}/${segment}`
    try {
      if (make) await makeFolder(parent, segment, path)
      await requireExact(parent, segment, path)
      folder = await hold(parent.at(segment), join(root, path), path)
    } finally {
      await parent[Symbol.asyncDispose]()
    }
  }
  return folder
}

async function makeFolder(parent: Folder, segment: string, path: string): Promise<void> {
  if ((await sameName(parent, segment)) !== undefined) return
  await mkdir(parent.at(segment)).catch((error: unknown) => {
    throw faultOf(error, path)
  })
  await parent.sync()
}

/** Returns the name in the folder that some file system would treat as equal to this one, or undefined. */
export async function sameName(folder: Folder, name: string): Promise<string | undefined> {
  const wanted = foldName(name)
  const names = await folder.names()
  return names.includes(name) ? name : names.find((other) => foldName(other) === wanted)
}

const foldName = (name: string): string => name.normalize('NFC').toLowerCase()

/**
 * Requires the exact spelling of a name: on a case-insensitive file system `Secrets` must not bypass a rule about `secrets/*`.
 * @throws Fault
 */
export async function requireExact(folder: Folder, name: string, path: string): Promise<void> {
  const other = await sameName(folder, name)
  if (other === undefined) throw new NotThere(path)
  if (other !== name) throw spelledOtherwise(path, other)
}

export const spelledOtherwise = (path: string, other: string): Fault =>
  new Fault(`${path} is not there; ${other} is, which differs only in how it is spelled.`)

async function hold(reached: string, real: string, path: string): Promise<Folder> {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants
  const handle = await open(reached, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(async (error: unknown) => {
    const isLink = await lstat(reached).then(
      (found) => found.isSymbolicLink(),
      () => false,
    )
    throw isLink ? new Fault(`${path} is a symbolic link. Links are not followed.`) : faultOf(error, path)
  })
  const place = THROUGH_HANDLES ? `/proc/self/fd/${handle.fd}` : real
  const folder = folderOf(handle, place, real, path)
  try {
    await folder.stillThere()
    return folder
  } catch (error) {
    await handle.close()
    throw error
  }
}

const folderOf = (handle: FileHandle, place: string, real: string, path: string): Folder => ({
  at: (name) => `${place}/${name}`,
  async stillThere() {
    const now = await realpath(place).catch(() => undefined)
    if (now !== real) throw new Fault(`${path} was moved or replaced meanwhile.`)
  },
  sync: () => handle.sync(),
  names: () => readdir(`${place}/`),
  [Symbol.asyncDispose]: () => handle.close(),
})
