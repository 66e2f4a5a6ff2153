import { Fault, NotThere } from './fault.ts'
import { type ReadFile, readWhole } from './file.ts'
import { openFolder } from './folder.ts'
import { openIgnore, readPath } from './path.ts'

/** What all tools of one workspace share. */
export interface Ground {
  /** The real path of its root. */
  root: string
  ignore: readonly string[]
  isIgnored(text: string): boolean
  maxFileBytes: number
  /** Lets one write after another through, so that two edits of one file do not undo each other. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
}

export function createGround(given: Pick<Ground, 'root' | 'ignore' | 'maxFileBytes'>): Ground {
  let last: Promise<unknown> = Promise.resolve()
  return {
    ...given,
    isIgnored: openIgnore(given.ignore),
    inTurn(work) {
      const turn = last.then(work, work)
      last = turn.catch(() => {})
      return turn
    },
  }
}

/** Where a file is: the folders on the way, and its name. */
export interface Place {
  folders: readonly string[]
  name: string
  text: string
}

/** @throws Fault for what is no path, is left out of the workspace, or is its root. */
export function placeOf({ isIgnored }: Pick<Ground, 'isIgnored'>, path: string): Place {
  const read = readPath(path)
  if ('problem' in read) throw new Fault(read.problem)
  const name = read.segments.at(-1)
  if (name === undefined) throw new Fault('The path is that of the workspace itself.')
  if (isIgnored(read.text)) throw new Fault(`${read.text} is left out of this workspace.`)
  return { folders: read.segments.slice(0, -1), name, text: read.text }
}

/** The file at a path; undefined where there is none. @throws Fault */
export async function readAt({ root, maxFileBytes }: Ground, { folders, name, text }: Place): Promise<ReadFile | undefined> {
  try {
    await using folder = await openFolder(root, folders)
    return await readWhole(folder, name, text, maxFileBytes)
  } catch (error) {
    // Without its folder there is no file either.
    if (error instanceof NotThere) return undefined
    throw error
  }
}

/** @throws Fault also when nothing is there. */
export async function requireAt(ground: Ground, place: Place): Promise<ReadFile> {
  const found = await readAt(ground, place)
  if (!found) throw new NotThere(place.text)
  return found
}
