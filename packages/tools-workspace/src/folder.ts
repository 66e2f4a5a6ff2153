import { constants, existsSync } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault, faultOf, NotThere } from './fault.ts'

/**
 * A folder of the workspace that is held open. On Linux everything in it is reached through the open folder itself, so that nothing that
 * happens to its path meanwhile (a link in place of a folder) can lead elsewhere. Elsewhere its path is looked at again before each use.
 */
export interface Folder {
  /** Where the file or folder of this name is reached. */
  at(name: string): string
  /** @throws Fault when the folder is not where it was opened any more. */
  stillThere(): Promise<void>
  /** Waits until its names are on the disk. */
  sync(): Promise<void>
  names(): Promise<string[]>
  [Symbol.asyncDispose](): Promise<void>
}

const THROUGH_HANDLES = existsSync('/proc/self/fd')

/**
 * Opens a folder, one segment after another, following no link.
 * @param root The real path of the workspace.
 * @param make Makes the folders that are not there.
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

/** The name in the folder that some file system would take for this one, or undefined. */
export async function sameName(folder: Folder, name: string): Promise<string | undefined> {
  const wanted = foldName(name)
  const names = await folder.names()
  return names.includes(name) ? name : names.find((other) => foldName(other) === wanted)
}

const foldName = (name: string): string => name.normalize('NFC').toLowerCase()

/** A name is only ever one spelling: where case does not count, a rule about `secrets/*` must not be passed by `Secrets`. @throws Fault */
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
