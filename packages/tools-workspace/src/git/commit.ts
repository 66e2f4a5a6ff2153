import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecuteContext, JsonValue, PreviewField } from '@countersign/core'
import { decodeText } from '@countersign/toolkit/internal'
import { z } from 'zod'
import { diffInTime, MAX_DIFF_CHARS, openPlanTime, type PlanTime, tooLong } from '../bounded.ts'
import { Changed, Fault } from '../fault.ts'
import { sha256 } from '../file.ts'
import { FilePath } from '../inputs.ts'
import { type WorkspaceTool, writeTool } from '../tool.ts'
import { type Place, placeOf, readAt, type Workspace } from '../workspace.ts'
import { branchOf, commitOf } from './names.ts'
import { gitIgnored } from './reads.ts'
import { type Git, GitFault } from './run.ts'

const MAX_PATHS = 100
const TRAILER = 'Countersign-Action'
/** A line that begins with it. The white space before it is that of its line: across lines, each would be read from every earlier one. */
const HAS_TRAILER = new RegExp(`^[^\\S\\n\\r\\u2028\\u2029]*${TRAILER}`, 'im')

const Input = z.object({
  paths: z.array(FilePath.min(1)).min(1).max(MAX_PATHS).describe('The files whose changes are committed, and no others'),
  message: z
    .string()
    .trim()
    .min(1)
    .max(10_000)
    .refine((text) => text.isWellFormed() && !/[^\P{Cc}\n\t]/u.test(text), 'has characters that cannot be shown')
    .refine((text) => !HAS_TRAILER.test(text), `must not have a line that begins with ${TRAILER}: it is added`),
})

/** The author of the commits. */
export interface Author {
  name: string
  email: string
}

interface Change {
  path: string
  /** Undefined when the file is deleted. */
  after: { bytes: Buffer; mode: string } | undefined
  before: { bytes: Buffer; mode: string } | undefined
}

interface ShownChange extends Change {
  /** Undefined for a file that is not text. */
  diff: string | undefined
}

interface CommitPlan {
  branch: string
  head: string | undefined
  changes: ShownChange[]
}

/** Commits the named files to the current branch, exactly as shown. Other staged changes are not committed. */
export const commitTool = (workspace: Workspace, git: Git, author: Author): WorkspaceTool =>
  writeTool(workspace, {
    name: 'commit',
    description: 'Commits the named files, as they are now, on the branch that is checked out. Runs no hooks.',
    input: Input,
    describe: ({ message, paths }) => `Commit ${paths.length === 1 ? paths[0] : `${paths.length} files`}: ${message.split('\n')[0]}`,
    plan: ({ paths }, signal) => planCommit(workspace, git, paths, signal),
    show(plan, { message }) {
      const precondition = footingOf(plan)
      return { fields: fieldsOf(plan, message), precondition, version: sha256(Buffer.from(JSON.stringify(precondition))) }
    },
    make: async ({ message }, { plan, actionId, signal }) => commit(git, author, await plan(), { message, actionId, signal }),
    async find(_, { actionId }) {
      const found = await findCommit(git, actionId)
      return found === undefined ? { done: false } : { done: true, output: found }
    },
    changed: () => new Changed('What is to be committed'),
  })

/** Returns the precondition of a commit: the branch, its last commit, and every byte of the files. */
const footingOf = ({ branch, head, changes }: CommitPlan) => ({
  branch,
  head: head ?? null,
  files: changes.map(({ path, after }) => ({ path, mode: after?.mode ?? null, sha256: after ? sha256(after.bytes) : null })),
})

async function planCommit(workspace: Workspace, git: Git, paths: readonly string[], signal: AbortSignal): Promise<CommitPlan> {
  const time = openPlanTime(signal)
  const branch = await branchOf(git)
  if (branch === undefined) throw new Fault('No branch is checked out: create one first.')
  const head = await commitOf(git, 'HEAD')
  const places = paths.map((path) => placeOf(workspace, path, 'read'))
  if (new Set(places.map(({ text }) => text)).size < places.length) throw new Fault('A file is named twice.')
  const trees = new Set<string>()
  const changes: ShownChange[] = []
  let chars = 0
  for (const place of places) {
    const [before, file] = [head === undefined ? undefined : await committed(git, head, place.text), await readAt(workspace, place)]
    if (!before && !file) throw new Fault(`${place.text} is not there, and was not in the last commit.`)
    if (!before && (await gitIgnored(git, [place.text])).size > 0) throw new Fault(`${place.text} is ignored by git.`)
    if (!before && head !== undefined) await requireNothingInTheWay(git, head, place, trees)
    const after = file && { bytes: file.bytes, mode: file.mode & 0o100 ? '100755' : '100644' }
    if (before && after && before.mode === after.mode && before.bytes.equals(after.bytes))
      throw new Fault(`${place.text} has not changed since the last commit.`)
    const change = { path: place.text, before, after }
    const diff = await diffOf(workspace, change, time)
    chars += diff?.length ?? 0
    if (chars > MAX_DIFF_CHARS) throw tooLong('this commit', time)
    changes.push({ ...change, diff })
  }
  return { branch, head, changes }
}

/** Returns a file at a commit. @throws Fault when the path is not a file there. */
async function committed(git: Git, commit: string, path: string): Promise<Change['before']> {
  const [entry = ''] = (await git.text(['ls-tree', '-z', '--full-tree', commit, '--', path])).split('\0')
  const [, mode, kind, object] = /^(\d+) (\w+) ([0-9a-f]+)\t/.exec(entry) ?? []
  if (mode === undefined || object === undefined) return undefined
  if (kind !== 'blob' || mode === '120000') throw new Fault(`${path} is no file in the last commit.`)
  return { bytes: await git.run(['cat-file', 'blob', object]), mode }
}

/**
 * A commit of `vendor/lib/a.c` removes what the last commit has at `vendor/lib`, and no card would show it.
 * @param trees The folders that are known to be folders there. New ones are added.
 * @throws Fault when a folder of the path is a file, a link or a submodule there.
 */
async function requireNothingInTheWay(git: Git, commit: string, { folders, text }: Place, trees: Set<string>): Promise<void> {
  for (const path of folders.map((_, at) => folders.slice(0, at + 1).join('/'))) {
    if (trees.has(path)) continue
    const entry = await git.text(['ls-tree', '-z', '--full-tree', commit, '--', path])
    const [, mode, kind] = /^(\d+) (\w+) /.exec(entry) ?? []
    if (kind === undefined) return
    const what = kind === 'commit' ? 'another repository' : mode === '120000' ? 'a link' : 'a file'
    if (kind !== 'tree') throw new Fault(`${text} cannot be committed here: ${path} is ${what} in the last commit.`)
    trees.add(path)
  }
}

function fieldsOf({ branch, changes }: CommitPlan, message: string): PreviewField[] {
  return [
    { field: 'branch', newValue: branch },
    { field: 'message', newValue: message },
    ...changes.map((change): PreviewField => {
      const { path, before, after, diff } = change
      if (diff !== undefined) return { field: path, diff }
      return { field: path, ...(before && { oldValue: inWords(before) }), ...(after && { newValue: inWords(after) }) }
    }),
  ]
}

/** Describes a file that is not text. The mode and the hash tell two of the same size apart. */
const inWords = ({ bytes, mode }: NonNullable<Change['before']>): string =>
  `${bytes.length.toLocaleString('en')} bytes that are no text, mode ${mode}, SHA-256 ${sha256(bytes).slice(0, 12)}…`

/** Undefined for a file that is not text. */
async function diffOf(workspace: Workspace, { path, before, after }: Change, time: PlanTime): Promise<string | undefined> {
  const [old, now] = [before && decodeText(before.bytes), after && decodeText(after.bytes)]
  if ((before && old === undefined) || (after && now === undefined)) return undefined
  const side = (text: string | undefined, mode: string | undefined) =>
    text === undefined ? undefined : { text, mode: Number.parseInt(mode ?? '0', 8) }
  const moded = before && after && before.mode !== after.mode ? `old mode ${before.mode}\nnew mode ${after.mode}\n` : ''
  const sides = { path, before: side(old, before?.mode), after: side(now, after?.mode) }
  return moded + (await diffInTime(workspace, sides, time))
}

async function commit(
  git: Git,
  author: Author,
  plan: CommitPlan,
  { message, actionId, signal }: Pick<ExecuteContext, 'actionId' | 'signal'> & { message: string },
): Promise<JsonValue> {
  const { branch, head, changes } = plan
  const update = await indexUpdate(git, changes)
  const folder = await mkdtemp(join(tmpdir(), 'countersign-index-'))
  try {
    const env = { GIT_INDEX_FILE: join(folder, 'index') }
    await git.run(head === undefined ? ['read-tree', '--empty'] : ['read-tree', head], { env })
    await git.run(update, { env })
    const tree = await git.text(['write-tree'], { env })
    const parents = head === undefined ? [] : ['-p', head]
    const commit = await git.text(['commit-tree', '--no-gpg-sign', tree, ...parents, '-F', '-'], {
      env: identityOf(author),
      input: `${message}\n\n${TRAILER}: ${actionId}\n`,
    })
    // The commit takes effect here, once, and only if the branch has not moved. An attempt that is aborted earlier has changed nothing.
    signal.throwIfAborted()
    const moved = await git
      .run(['update-ref', '--create-reflog', '-m', `commit: ${message.split('\n')[0]}`, `refs/heads/${branch}`, commit, head ?? ''])
      .then(
        () => true,
        (error: unknown) => {
          if (error instanceof GitFault) return false
          throw error
        },
      )
    if (!moved) throw new Changed('What is to be committed')
    // The index is updated so that the files do not look changed. They do until it is refreshed if another process holds the index, or if
    // something else is staged in the place of a folder.
    await git.run(update).catch(() => {})
    return { commit, branch, files: changes.map(({ path }) => path) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Returns the arguments that put the changes into an index. Git refuses those that would replace an entry of another path. */
async function indexUpdate(git: Git, changes: readonly Change[]): Promise<string[]> {
  const added: string[] = []
  for (const { path, after } of changes) {
    if (!after) continue
    const object = await git.text(['hash-object', '-w', '--no-filters', '--stdin'], { input: after.bytes })
    added.push('--add', '--cacheinfo', `${after.mode},${object},${path}`)
  }
  const removed = changes.filter(({ after }) => after === undefined).map(({ path }) => path)
  return ['update-index', ...added, '--force-remove', '--', ...removed]
}

const identityOf = ({ name, email }: Author): Record<string, string> => ({
  GIT_AUTHOR_NAME: name,
  GIT_AUTHOR_EMAIL: email,
  GIT_COMMITTER_NAME: name,
  GIT_COMMITTER_EMAIL: email,
})

/** Returns the commit of an action, if it exists. The commit message contains the id of the action. */
async function findCommit(git: Git, actionId: string): Promise<JsonValue | undefined> {
  if ((await commitOf(git, 'HEAD')) === undefined) return undefined
  const format = `--format=%H%x00%(trailers:key=${TRAILER},valueonly,separator=%x2C)`
  const log = await git.text(['log', '--branches', '--max-count=500', '--no-show-signature', '--no-color', format])
  const found = log.split('\n').find((line) => line.split('\0')[1]?.split(',').includes(actionId))
  return found === undefined ? undefined : { commit: found.split('\0')[0] ?? '' }
}
