import type { JsonObject, JsonValue } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { z } from 'zod'
import { Fault, orRefuse } from '../fault.ts'
import { FilePath } from '../inputs.ts'
import type { WorkspaceTool } from '../tool.ts'
import { placeOf, type Workspace } from '../workspace.ts'
import { branchOf, commitOf, Revision } from './names.ts'
import { type Git, GitFault } from './run.ts'

const MAX_ENTRIES = 500
const MAX_DIFF_CHARS = 100_000
/** The maximum size of the index. It fits about 500,000 files. */
const MAX_INDEX_BYTES = 64_000_000
const Path = FilePath.optional().describe('Only this file or folder')

/** Options that prevent the repository's configuration from running a program for a diff, and git from reading submodules. */
export const PLAIN_DIFF = ['--no-ext-diff', '--no-textconv', '--no-color', '--ignore-submodules=all', '--no-relative']

/** The tools that read the repository. */
export const gitReads = (workspace: Workspace, git: Git): WorkspaceTool[] =>
  [
    defineTool({
      name: 'gitStatus',
      description: 'Which branch is checked out, and which files differ from its last commit.',
      input: z.object({}),
      effect: 'read',
      describe: () => 'Read the status of the repository',
      execute: (_, { signal }) => orRefuse(() => status(workspace, git, signal)),
    }),
    defineTool({
      name: 'gitDiff',
      description: 'The changes since the last commit, or between two commits or branches, as a unified diff.',
      input: z.object({
        path: Path,
        from: Revision.default('HEAD'),
        to: Revision.optional().describe('Default: the files as they are now'),
      }),
      effect: 'read',
      describe: ({ from, to, path }) => `Read the changes ${to === undefined ? `since ${from}` : `from ${from} to ${to}`}${inPath(path)}`,
      execute: (args, { signal }) => orRefuse(() => diff(workspace, git, args, signal)),
    }),
    defineTool({
      name: 'gitLog',
      description: 'The last commits, newest first.',
      input: z.object({ path: Path, from: Revision.default('HEAD'), limit: z.int().min(1).max(100).default(20) }),
      effect: 'read',
      describe: ({ from, path }) => `Read the history of ${from}${inPath(path)}`,
      execute: (args, { signal }) => orRefuse(() => log(workspace, git, args, signal)),
    }),
    defineTool({
      name: 'gitBranches',
      description: 'The branches of the repository, with the commit each is at.',
      input: z.object({}),
      effect: 'read',
      describe: () => 'List the branches',
      execute: (_, { signal }) => orRefuse(() => branches(git, signal)),
    }),
  ].map(({ secrets: _, ...tool }) => tool)

const inPath = (path: string | undefined): string => (path === undefined ? '' : ` in ${path}`)

/** Returns the pathspec of a diff, for a path that the tools may see. */
function pathsOf(workspace: Workspace, path: string | undefined): string[] {
  return path === undefined ? [] : ['--', placeOf(workspace, path, 'read').text]
}

async function status(workspace: Workspace, git: Git, signal: AbortSignal): Promise<JsonValue> {
  const written = await git.text(['status', '--porcelain=v1', '-z', '--untracked-files=all', '--ignore-submodules=all', '--no-renames'], {
    signal,
  })
  const changes = written
    .split('\0')
    .filter((entry) => entry.length > 3)
    .map((entry): JsonObject => ({ path: entry.slice(3), status: wordsOf(entry.slice(0, 2)) }))
    .filter(({ path }) => !workspace.isIgnored(String(path)))
  const branch = await branchOf(git, signal)
  return {
    branch: branch ?? null,
    commit: (await commitOf(git, 'HEAD', signal)) ?? null,
    changes: changes.slice(0, MAX_ENTRIES),
    ...(changes.length > MAX_ENTRIES && { leftOut: changes.length - MAX_ENTRIES }),
  }
}

function wordsOf(code: string): string {
  if (code === '??') return 'not in git yet'
  if (/U|AA|DD/.test(code)) return 'in conflict'
  if (code.includes('D')) return 'deleted'
  return code.includes('A') ? 'added' : 'changed'
}

interface DiffArgs {
  path?: string | undefined
  from: string
  to?: string | undefined
}

async function diff(workspace: Workspace, git: Git, { path, from, to }: DiffArgs, signal: AbortSignal): Promise<JsonValue> {
  const ends = await Promise.all([from, ...(to === undefined ? [] : [to])].map((name) => requireCommit(git, name, signal)))
  const only = pathsOf(workspace, path)
  const names = (await git.text(['diff', ...PLAIN_DIFF, '--no-renames', '--name-only', '-z', ...ends, ...only], { signal }))
    .split('\0')
    .filter(Boolean)
  const shown = names.filter((name) => !workspace.isIgnored(name) && !workspace.protection.isSecret(name))
  const leftOut = names.length - shown.length
  const text = shown.length === 0 ? '' : await git.text(['diff', ...PLAIN_DIFF, '--no-renames', ...ends, '--', ...shown], { signal })
  return {
    diff: text.slice(0, MAX_DIFF_CHARS).toWellFormed(),
    ...(text.length > MAX_DIFF_CHARS && { note: 'The diff is longer and was cut: name a path.' }),
    ...(leftOut > 0 && { leftOut }),
  }
}

async function log(
  workspace: Workspace,
  git: Git,
  args: { path?: string | undefined; from: string; limit: number },
  signal: AbortSignal,
): Promise<JsonValue> {
  const from = await requireCommit(git, args.from, signal)
  const format = '--format=%H%x00%an%x00%aI%x00%B%x1e'
  const only = pathsOf(workspace, args.path)
  const written = await git.text(['log', '--no-show-signature', '--no-color', `--max-count=${args.limit}`, format, from, ...only], {
    signal,
  })
  const commits = written
    .split('\x1e')
    .map((entry) => entry.replace(/^\n/, '').split('\0'))
    .flatMap(([commit, author, at, message]) =>
      commit && message !== undefined ? [{ commit, author: author ?? '', at: at ?? '', message: message.trim() }] : [],
    )
  return { commits }
}

async function branches(git: Git, signal: AbortSignal): Promise<JsonValue> {
  const written = await git.text(
    ['for-each-ref', `--count=${MAX_ENTRIES}`, '--format=%(refname:short)%00%(objectname)%00%(contents:subject)', 'refs/heads'],
    {
      signal,
    },
  )
  const current = await branchOf(git, signal)
  const found = written.split('\n').flatMap((line) => {
    const [name, commit, subject] = line.split('\0')
    return name && commit ? [{ name, commit, subject: subject ?? '', ...(name === current && { current: true }) }] : []
  })
  return { branches: found }
}

/** @throws Fault */
export async function requireCommit(git: Git, name: string, signal?: AbortSignal): Promise<string> {
  const commit = await commitOf(git, name, signal)
  if (commit === undefined) throw new Fault(`There is no commit or branch ${name}.`)
  return commit
}

/** Returns the paths that git ignores. The index does not cover nested repositories, so inside them only the ignore files count. */
export async function gitIgnored(git: Git, paths: readonly string[], signal?: AbortSignal): Promise<ReadonlySet<string>> {
  const nested = await nestedRepositories(git, paths, signal)
  const isInside = (path: string) => foldersOn(path.replace(/\/$/, '')).some((folder) => nested.has(folder))
  const [own, inside] = [paths.filter((path) => !isInside(path)), paths.filter(isInside)]
  const found = await Promise.all([checkIgnored(git, [], own, signal), checkIgnored(git, ['--no-index'], inside, signal)])
  return new Set(found.flat())
}

/** Returns the parent folders of a path: `a` and `a/b` of `a/b/c`. */
const foldersOn = (path: string): string[] => [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index))

/**
 * Returns the folders among these paths that the index records as commits of other repositories. Git rejects queries about paths in them.
 */
async function nestedRepositories(git: Git, paths: readonly string[], signal?: AbortSignal): Promise<ReadonlySet<string>> {
  const folders = new Set(paths.flatMap((path) => [...foldersOn(path), ...(path.endsWith('/') ? [path.slice(0, -1)] : [])]))
  if (folders.size === 0) return new Set()
  const listed = await git.text(['ls-files', '--stage', '-z'], { signal, maxOutputBytes: MAX_INDEX_BYTES })
  const nested = listed.split('\0').flatMap((entry) => /^160000 [0-9a-f]+ \d\t(.+)$/s.exec(entry)?.[1] ?? [])
  return new Set(nested.filter((path) => folders.has(path)))
}

async function checkIgnored(git: Git, options: readonly string[], paths: readonly string[], signal?: AbortSignal): Promise<string[]> {
  if (paths.length === 0) return []
  try {
    // The command has no literal pathspecs, but the prefix `./` makes every path literal.
    const input = paths.map((path) => `./${path}\0`).join('')
    const found = await git.text(['check-ignore', ...options, '-z', '--stdin'], { input, signal, env: { GIT_LITERAL_PATHSPECS: '0' } })
    return found.split('\0').flatMap((path) => (path.startsWith('./') ? [path.slice(2)] : []))
  } catch (error) {
    // Exit code 1 means that no path is ignored.
    if (error instanceof GitFault && error.exitCode === 1) return []
    throw error
  }
}
