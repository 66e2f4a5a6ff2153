import { type PreviewField, ToolError } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { diffWithin, openDiffBudget, type PatchInput, type TextWork } from '@countersign/toolkit/internal'
import { z } from 'zod'
import { before } from './before.ts'
import { headOf } from './branches.ts'
import type { GithubClient } from './client.ts'
import { Branch, Path } from './fields.ts'
import { statusOf } from './github-error.ts'
import { hasTrailer, TRAILER_SHOWN, withTrailer } from './marker.ts'
import { repositoryOf } from './repository.ts'
import { added, changed, same } from './shown.ts'
import { type GithubContext, writeTool } from './tool.ts'
import { type PlannedChange, planChanges, readCommit, treeEntries } from './tree.ts'

const MAX_CHANGES = 50

/** Commits several files to a branch, only on top of the commit that was shown. */
export const commitFiles = (github: GithubContext): ToolDraft =>
  writeTool(
    github,
    z.object({
      repository: github.repository,
      branch: Branch.describe('An existing branch'),
      message: z.string().trim().min(1).max(10_000).describe('The first line says what changes'),
      files: z
        .array(
          z
            .object({ path: Path, content: z.union([z.string().max(500_000), z.null()]).describe('The whole file; null deletes it') })
            .strict(),
        )
        .min(1)
        .max(MAX_CHANGES)
        .refine((files) => new Set(files.map(({ path }) => path)).size === files.length, 'names a path twice'),
    }),
    {
      name: 'commitFiles',
      description: 'Commits text files to a branch, several in one commit. Read a file before changing it: the content is the whole file.',
      describe: ({ repository, branch, files, message }) =>
        `Commit ${files.length === 1 ? (files[0]?.path ?? '') : `${files.length} files`} to ${branch} of ${repository}: ${message.split('\n')[0]}`,
      async look({ repository, branch, message, files }, signal) {
        const head = await existingHead(github.client, repository, branch, signal)
        const plan = await planChanges(await readCommit(github.client, repository, head, signal), files)
        if (plan.every(({ content, oldText }) => content !== null && content === oldText)) {
          throw new ToolError('refused', `The files are as they are in ${branch} already.`)
        }
        return {
          fields: [
            same('branch', branch),
            same('on top of', head),
            added('message', message),
            added('added to the message', TRAILER_SHOWN),
            ...(await fileFields(plan, github.work, signal)),
          ],
          precondition: { head },
          version: head,
        }
      },
      async execute({ repository, branch, message, files }, { idempotencyKey, signal, version }) {
        const { client } = github
        const place = repositoryOf(repository)
        const head = await before(existingHead(client, repository, branch, signal))
        if (version !== undefined && head !== version) throw moved(branch, head)
        const commit = await before(makeCommit(client, { repository, head, files, message: withTrailer(message, idempotencyKey) }, signal))
        await client
          .write(signal, place, (rest, at) => rest.git.updateRef({ ...at, ref: `heads/${branch}`, sha: commit.sha, force: false }))
          .catch((error: unknown) => {
            if (statusOf(error) === 422 && /fast.?forward/i.test(String(error))) throw moved(branch, undefined)
            throw error
          })
        return { sha: commit.sha, branch, files: files.map(({ path }) => path), url: commit.html_url }
      },
      async verify({ repository, branch, files }, { idempotencyKey, signal, version }) {
        const { client } = github
        const { data: commits } = await client.read(signal, repositoryOf(repository), (rest, at) =>
          rest.repos.listCommits({ ...at, sha: branch, per_page: 100 }),
        )
        const made = commits.find(({ commit }) => hasTrailer(commit.message, idempotencyKey))
        if (made) return { done: true, output: { sha: made.sha, branch, files: files.map(({ path }) => path), url: made.html_url } }
        // The log back to the expected parent holds no commit of this attempt. If the branch had been reset, the parent would be missing
        // too.
        return commits.some(({ sha }) => sha === version) ? { done: false } : { done: 'unknown' }
      },
    },
  )

const moved = (branch: string, head: string | undefined): ToolError =>
  new ToolError(
    'stale',
    `${branch} has other commits${head === undefined ? '' : ` (${head})`} than those that were shown. Nothing was committed.`,
  )

async function existingHead(client: GithubClient, repository: string, branch: string, signal: AbortSignal): Promise<string> {
  const head = await headOf(client, repository, branch, signal)
  if (head === undefined) throw new ToolError('refused', `${repository} has no branch ${branch}. Make it first.`)
  return head
}

interface NewCommit {
  repository: string
  head: string
  files: { path: string; content: string | null }[]
  message: string
}

/** Creates the objects of a commit. No branch refers to them yet, so nobody sees them. */
async function makeCommit(client: GithubClient, { repository, head, files, message }: NewCommit, signal: AbortSignal) {
  const place = repositoryOf(repository)
  const old = await readCommit(client, repository, head, signal)
  const entries = await treeEntries(old, files)
  const tree = await client.write(signal, place, (rest, at) => rest.git.createTree({ ...at, base_tree: old.tree, tree: entries }))
  return client.write(signal, place, (rest, at) => rest.git.createCommit({ ...at, message, tree: tree.sha, parents: [head] }))
}

/**
 * Returns a preview field for each file. The files are compared in a worker thread: their texts are untrusted, and the time a comparison
 * takes is not known in advance. When it is used up, the remaining files are shown in full.
 */
async function fileFields(plan: readonly PlannedChange[], work: TextWork, signal: AbortSignal): Promise<PreviewField[]> {
  const budget = openDiffBudget()
  const fields: PreviewField[] = []
  for (const change of plan) {
    fields.push(await fileField(change, (input) => diffWithin(work, input, { budget, signal })))
  }
  return fields
}

type Diff = (input: Omit<PatchInput, 'maxEdits'>) => Promise<string | undefined>

/** Returns the preview field of one file: a unified diff, or both texts if they have too little in common. */
async function fileField({ path, content, old, oldText = '' }: PlannedChange, diff: Diff): Promise<PreviewField> {
  const field = old === undefined ? `new file ${path}` : content === null ? `deleted file ${path}` : `file ${path}`
  if (old !== undefined && content === oldText) return same(field, 'unchanged')
  const [from, to] = [old === undefined ? '/dev/null' : `a/${path}`, content === null ? '/dev/null' : `b/${path}`]
  const found = await diff({ from, to, before: oldText, after: content ?? '' })
  return found === undefined ? changed(field, oldText, content ?? '') : { field, diff: found }
}
