import { lstat, opendir } from 'node:fs/promises'
import { NotThere } from './fault.ts'
import { type Folder, openFolder } from './folder.ts'
import { isGitName } from './path.ts'
import type { Workspace } from './workspace.ts'
import { isLeftOver } from './write-file.ts'

/** The maximum depth of nested folders. */
const MAX_DEPTH = 64
/** The maximum number of names in one walk. A larger workspace is listed in part. */
const MAX_NAMES = 200_000

export type EntryKind = 'file' | 'folder' | 'link' | 'other'

export interface Entry {
  path: string
  kind: EntryKind
}

/** Yields all visible entries below a folder, sorted by name, with folders before their content. Links are not followed. */
export async function* walk(workspace: Workspace, segments: readonly string[], signal: AbortSignal): AsyncGenerator<Entry> {
  yield* walkInto(workspace, segments, signal, { left: MAX_NAMES })
}

async function* walkInto(
  workspace: Workspace,
  segments: readonly string[],
  signal: AbortSignal,
  names: { left: number },
): AsyncGenerator<Entry> {
  for (const { name, kind } of await entriesOf(workspace, segments)) {
    signal.throwIfAborted()
    if (names.left-- <= 0) return
    const here = [...segments, name]
    const path = here.join('/')
    if (isGitName(name) || isLeftOver(name) || workspace.isIgnored(path) || workspace.protection.isSecret(path)) continue
    yield { path, kind }
    if (kind === 'folder' && here.length < MAX_DEPTH) yield* walkInto(workspace, here, signal, names)
  }
}

async function entriesOf({ root }: Workspace, segments: readonly string[]): Promise<{ name: string; kind: EntryKind }[]> {
  try {
    await using folder = await openFolder(root, segments)
    const found: { name: string; kind: EntryKind }[] = []
    for await (const entry of await opendir(folder.at('.'))) {
      const known = entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : entry.isSymbolicLink() ? 'link' : 'other'
      found.push({ name: entry.name, kind: known === 'other' ? await kindOf(folder, entry.name) : known })
    }
    return found.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    // The folder may be removed during the walk.
    if (error instanceof NotThere && segments.length > 0) return []
    throw error
  }
}

/** Reads the kind of an entry, because some file systems do not list it with the name. */
async function kindOf(folder: Folder, name: string): Promise<EntryKind> {
  const found = await lstat(folder.at(name)).catch(() => undefined)
  return found?.isFile() ? 'file' : found?.isDirectory() ? 'folder' : found?.isSymbolicLink() ? 'link' : 'other'
}
