import type { TextWork } from '@countersign/toolkit/internal'
import { Fault, NotThere } from './fault.ts'
import { type ReadFile, readWhole } from './file.ts'
import { openFolder } from './folder.ts'
import { openIgnore, readPath } from './path.ts'
import { NO_PROTECTION, type Protection, type Use } from './protection.ts'

/** The dependencies that all tools of one workspace share. */
export interface Workspace {
  /** The real path of the root. */
  root: string
  ignore: readonly string[]
  isIgnored(text: string): boolean
  maxFileBytes: number
  /** Processes untrusted texts in worker threads. */
  work: TextWork
  /** Set before the first call. */
  protection: Protection
  /** Runs writes one after another, so that two edits of one file do not undo each other. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
}

export function createWorkspace(given: Pick<Workspace, 'root' | 'ignore' | 'maxFileBytes' | 'work'>): Workspace {
  let last: Promise<unknown> = Promise.resolve()
  return {
    ...given,
    isIgnored: openIgnore(given.ignore),
    protection: NO_PROTECTION,
    inTurn(work) {
      const turn = last.then(work, work)
      last = turn.catch(() => {})
      return turn
    },
  }
}

/** The location of a file: its parent folders, and its name. */
export interface Place {
  folders: readonly string[]
  name: string
  text: string
}

/** @throws Fault for a path that is invalid, is ignored by the workspace, belongs to the server, or is the root. */
export function placeOf({ isIgnored, protection }: Pick<Workspace, 'isIgnored' | 'protection'>, path: string, use: Use): Place {
  const read = readPath(path)
  if ('problem' in read) throw new Fault(read.problem)
  const name = read.segments.at(-1)
  if (name === undefined) throw new Fault('The path is that of the workspace itself.')
  if (isIgnored(read.text)) throw new Fault(`${read.text} is left out of this workspace.`)
  const why = protection.whyNot(read.text, use)
  if (why !== undefined) throw new Fault(why)
  return { folders: read.segments.slice(0, -1), name, text: read.text }
}

/** Reads the file at a path; returns undefined when it does not exist. @throws Fault */
export async function readAt(workspace: Workspace, { folders, name, text }: Place): Promise<ReadFile | undefined> {
  const { root, maxFileBytes, protection } = workspace
  try {
    await using folder = await openFolder(root, folders)
    const file = await readWhole(folder, name, text, maxFileBytes)
    if (file && file.links > 1 && (await protection.isSecretFile(file.identity)))
      throw new Fault(`${text} is another name for a secret file of this server. No tool reads or changes it, whatever the policy allows.`)
    return file
  } catch (error) {
    // A file in a missing folder does not exist.
    if (error instanceof NotThere) return undefined
    throw error
  }
}

/** Returns true while the folder of a file exists. @throws Fault */
export async function isFolderThere({ root }: Pick<Workspace, 'root'>, { folders }: Pick<Place, 'folders'>): Promise<boolean> {
  try {
    await using _folder = await openFolder(root, folders)
    return true
  } catch (error) {
    if (error instanceof NotThere) return false
    throw error
  }
}

/** @throws Fault also when the file does not exist. */
export async function requireAt(workspace: Workspace, place: Place): Promise<ReadFile> {
  const found = await readAt(workspace, place)
  if (!found) throw new NotThere(place.text)
  return found
}
