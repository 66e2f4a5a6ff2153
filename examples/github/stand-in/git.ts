import { createHash } from 'node:crypto'
import { type StructuredPatchHunk, structuredPatch } from 'diff'

/** One entry of a tree. */
export interface TreeEntry {
  path: string
  mode: string
  sha: string
}

export interface Commit {
  sha: string
  tree: string
  parents: string[]
  message: string
  author: string
  date: string
}

export interface FileDiff {
  path: string
  status: 'added' | 'removed' | 'modified'
  additions: number
  deletions: number
  patch: string
  sha: string | null
}

export const TREE = '040000'
export const FILE = '100644'

/** Git's objects and branches in memory, with git's own hashes. */
export function openGit() {
  const blobs = new Map<string, Buffer>()
  const trees = new Map<string, TreeEntry[]>()
  const commits = new Map<string, Commit>()
  /** Branches by name. */
  const heads = new Map<string, string>()
  /** Tags by name. */
  const tags = new Map<string, string>()

  const hash = (type: string, content: Buffer): string =>
    createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex')

  function writeBlob(content: Buffer): string {
    const sha = hash('blob', content)
    blobs.set(sha, content)
    return sha
  }

  function writeTree(entries: readonly TreeEntry[]): string {
    const sorted = [...entries].sort((a, b) => (a.path < b.path ? -1 : 1))
    const lines = sorted.map(({ mode, path, sha }) => Buffer.concat([Buffer.from(`${mode} ${path}\0`), Buffer.from(sha, 'hex')]))
    const sha = hash('tree', Buffer.concat(lines))
    trees.set(sha, sorted)
    return sha
  }

  function writeCommit({ tree, parents, message, author, date }: Omit<Commit, 'sha'>): Commit {
    const lines = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`), `author ${author} ${date}`, '', message]
    const commit = { sha: hash('commit', Buffer.from(lines.join('\n'))), tree, parents, message, author, date }
    commits.set(commit.sha, commit)
    return commit
  }

  /** Every file of a tree by its whole path. */
  function filesOf(tree: string, prefix = ''): Map<string, TreeEntry> {
    const files = new Map<string, TreeEntry>()
    for (const entry of trees.get(tree) ?? []) {
      const path = prefix + entry.path
      if (entry.mode === TREE) for (const [name, file] of filesOf(entry.sha, `${path}/`)) files.set(name, file)
      else files.set(path, { ...entry, path })
    }
    return files
  }

  /** The tree of these files, with its folders. */
  function treeOf(files: ReadonlyMap<string, TreeEntry>): string {
    const here: TreeEntry[] = []
    const folders = new Map<string, Map<string, TreeEntry>>()
    for (const [path, file] of files) {
      const slash = path.indexOf('/')
      if (slash < 0) here.push({ ...file, path })
      else {
        const inside = folders.get(path.slice(0, slash)) ?? new Map<string, TreeEntry>()
        inside.set(path.slice(slash + 1), file)
        folders.set(path.slice(0, slash), inside)
      }
    }
    for (const [path, inside] of folders) here.push({ path, mode: TREE, sha: treeOf(inside) })
    return writeTree(here)
  }

  /** The commit itself and all it stands on, newest first. */
  function history(sha: string): Commit[] {
    const seen = new Map<string, Commit>()
    const open = [sha]
    for (let next = open.shift(); next !== undefined; next = open.shift()) {
      const commit = commits.get(next)
      if (!commit || seen.has(next)) continue
      seen.set(next, commit)
      open.push(...commit.parents)
    }
    return [...seen.values()]
  }

  function diff(from: string, to: string): FileDiff[] {
    const [old, now] = [filesOf(from), filesOf(to)]
    const paths = [...new Set([...old.keys(), ...now.keys()])].sort().filter((path) => old.get(path)?.sha !== now.get(path)?.sha)
    const text = (entry: TreeEntry | undefined) => (entry ? (blobs.get(entry.sha)?.toString() ?? '') : '')
    return paths.map((path) => {
      const [a, b] = [old.get(path), now.get(path)]
      const { hunks } = structuredPatch(path, path, text(a), text(b), undefined, undefined, { context: 3 })
      const lines = hunks.flatMap((hunk) => hunk.lines)
      return {
        path,
        status: a === undefined ? 'added' : b === undefined ? 'removed' : 'modified',
        additions: lines.filter((line) => line.startsWith('+')).length,
        deletions: lines.filter((line) => line.startsWith('-')).length,
        patch: hunks.map((hunk) => [headerOf(hunk), ...hunk.lines].join('\n')).join('\n'),
        sha: b?.sha ?? null,
      }
    })
  }

  /** Returns the output of `git rev-parse` for a branch, a commit or a tree. */
  const resolve = (ref: string, defaultBranch: string): string | undefined => {
    if (ref === 'HEAD') return heads.get(defaultBranch)
    if (/^(refs\/)?tags\//.test(ref)) return tags.get(ref.replace(/^(refs\/)?tags\//, ''))
    const plain = ref.replace(/^(refs\/)?heads\//, '')
    return heads.get(plain) ?? tags.get(plain) ?? (commits.has(ref) || trees.has(ref) ? ref : undefined)
  }

  return { blobs, trees, commits, heads, tags, writeBlob, writeTree, writeCommit, filesOf, treeOf, history, diff, resolve }
}

const headerOf = ({ oldStart, oldLines, newStart, newLines }: StructuredPatchHunk): string =>
  `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`

export type Git = ReturnType<typeof openGit>
