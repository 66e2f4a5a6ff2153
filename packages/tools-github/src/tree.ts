import { ToolError } from '@countersign/core'
import { decodeText } from '@countersign/toolkit/internal'
import { eachOf } from './before.ts'
import type { GithubClient } from './client.ts'
import { repositoryOf } from './repository.ts'

const AT_ONCE = 6
/** The maximum size of a file whose diff a person reads. */
const MAX_FILE_BYTES = 500_000

/** A file at a commit. */
export interface OldFile {
  mode: '100644' | '100755'
  sha: string
}

/** A commit with its files, which are read on demand. */
export interface CommitFiles {
  sha: string
  tree: string
  /** Returns the file; undefined when it does not exist. @throws ToolError when the path is not a file. */
  file(path: string): Promise<OldFile | undefined>
  /** Returns the text of a file. @throws ToolError when it is not text or too large. */
  text(path: string, file: OldFile): Promise<string>
}

interface Entry {
  path: string
  mode: string
  type: string
  sha: string
}

/**
 * Opens a commit. Folders are read one by one along the requested paths, because the tree of a large repository does not fit in one answer.
 */
export async function readCommit(client: GithubClient, repository: string, sha: string, signal: AbortSignal): Promise<CommitFiles> {
  const place = repositoryOf(repository)
  const commit = await client.look(signal, place, (rest, at) => rest.git.getCommit({ ...at, commit_sha: sha }))
  const folders = new Map<string, Promise<Entry[]>>()

  const folder = (tree: string): Promise<Entry[]> => {
    const known =
      folders.get(tree) ??
      client.look(signal, place, (rest, at) => rest.git.getTree({ ...at, tree_sha: tree })).then(({ tree: entries }) => entries)
    folders.set(tree, known)
    return known
  }

  async function file(path: string): Promise<OldFile | undefined> {
    let entries = await folder(commit.tree.sha)
    const parts = path.split('/')
    for (const [depth, part] of parts.entries()) {
      const entry = entries.find((candidate) => candidate.path === part)
      const isLast = depth === parts.length - 1
      if (entry === undefined) return undefined
      if (isLast && (entry.mode === '100644' || entry.mode === '100755')) return { mode: entry.mode, sha: entry.sha }
      if (isLast || entry.type !== 'tree')
        throw new ToolError(
          'refused',
          `${path} cannot be written: ${parts.slice(0, depth + 1).join('/')} is ${KINDS[entry.mode] ?? 'no folder'}.`,
        )
      entries = await folder(entry.sha)
    }
    return undefined
  }

  async function text(path: string, { sha: blob }: OldFile): Promise<string> {
    const { content, size } = await client.look(signal, place, (rest, at) => rest.git.getBlob({ ...at, file_sha: blob }))
    if ((size ?? 0) > MAX_FILE_BYTES)
      throw new ToolError('refused', `${path} is larger than ${MAX_FILE_BYTES / 1_000} kB and cannot be changed here.`)
    const decoded = decodeText(Buffer.from(content, 'base64'))
    if (decoded === undefined) throw new ToolError('refused', `${path} is not text and cannot be changed here.`)
    return decoded
  }

  return { sha, tree: commit.tree.sha, file, text }
}

const KINDS: Readonly<Record<string, string>> = {
  '040000': 'a folder',
  '120000': 'a link',
  '160000': 'another repository',
  '100644': 'a file',
  '100755': 'a file',
}

/** A file change of a commit. Without content the file is deleted. */
export interface FileChange {
  path: string
  content: string | null
}

/** A change with the current file. */
export interface PlannedChange extends FileChange {
  old: OldFile | undefined
  oldText: string | undefined
}

/** Returns the changes with the current files. @throws ToolError for a change that cannot be made. */
export const planChanges = (commit: CommitFiles, changes: readonly FileChange[]): Promise<PlannedChange[]> =>
  eachOf(changes, AT_ONCE, async (change) => {
    const old = await existing(commit, change)
    return { ...change, old, oldText: old && (await commit.text(change.path, old)) }
  })

async function existing(commit: CommitFiles, { path, content }: FileChange): Promise<OldFile | undefined> {
  const old = await commit.file(path)
  if (content === null && old === undefined) throw new ToolError('refused', `${path} is not there and cannot be deleted.`)
  return old
}

/** Returns the entries of the new tree that replace existing ones. An executable file stays executable. */
export const treeEntries = (commit: CommitFiles, changes: readonly FileChange[]) =>
  eachOf(changes, AT_ONCE, async ({ path, content }) => {
    const mode = (await existing(commit, { path, content }))?.mode ?? ('100644' as const)
    return content === null ? { path, mode, type: 'blob' as const, sha: null } : { path, mode, type: 'blob' as const, content }
  })
