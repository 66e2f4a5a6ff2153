import { ToolError } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { z } from 'zod'
import { before } from './before.ts'
import type { GithubClient } from './client.ts'
import { Branch, Ref } from './fields.ts'
import { statusOf } from './github-error.ts'
import { repositoryOf } from './repository.ts'
import { added, andMore, same, short } from './shown.ts'
import { type GithubContext, writeTool } from './tool.ts'
import { commitLine } from './views.ts'

/** Tools that create and delete branches. */
export const branchWrites = (github: GithubContext): ToolDraft[] => [createBranch(github), deleteBranch(github)]

/** Returns the head commit of a branch; undefined when the branch does not exist. */
export async function headOf(client: GithubClient, repository: string, branch: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const { object } = await client.look(signal, repositoryOf(repository), (rest, at) => rest.git.getRef({ ...at, ref: `heads/${branch}` }))
    return object.sha
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw error
  }
}

const commitAt = (client: GithubClient, repository: string, ref: string, signal: AbortSignal) =>
  client.look(signal, repositoryOf(repository), (rest, at) => rest.repos.getCommit({ ...at, ref, per_page: 1 }))

const branchUrl = ({ webOrigin }: GithubContext, repository: string, branch: string): string =>
  `${webOrigin}/${repository}/tree/${branch.split('/').map(encodeURIComponent).join('/')}`

const createBranch = (github: GithubContext): ToolDraft =>
  writeTool(
    github,
    z.object({
      repository: github.repository,
      branch: Branch,
      from: Ref.optional().describe('A branch, a tag or the SHA of a commit; the default branch where none is named'),
    }),
    {
      name: 'createBranch',
      description: 'Makes a branch at a commit.',
      describe: ({ repository, branch, from }) => `Make the branch ${branch} in ${repository} from ${from ?? 'the default branch'}`,
      async look({ repository, branch, from = 'HEAD' }, signal) {
        const [commit, head] = await Promise.all([
          commitAt(github.client, repository, from, signal),
          headOf(github.client, repository, branch, signal),
        ])
        if (head !== undefined) throw new ToolError('refused', `${repository} has a branch ${branch} already, at ${head}.`)
        const { sha } = commit
        return {
          headline: `Make the branch ${branch} in ${repository} from ${from === 'HEAD' ? 'the default branch' : from} at ${short(sha)}`,
          fields: [added('branch', branch), added('at', `${sha} ${commit.commit.message.split('\n')[0]}`)],
          precondition: { sha },
          version: sha,
        }
      },
      async execute({ repository, branch, from = 'HEAD' }, { signal, version }) {
        const { client } = github
        const sha = version ?? (await before(commitAt(client, repository, from, signal))).sha
        const made = await client.write(signal, repositoryOf(repository), (rest, at) =>
          rest.git.createRef({ ...at, ref: `refs/heads/${branch}`, sha }),
        )
        return { branch, sha: made.object.sha, url: branchUrl(github, repository, branch) }
      },
      async verify({ repository, branch }, { signal, version }) {
        const sha = await headOf(github.client, repository, branch, signal)
        if (sha === undefined) return { done: false }
        // The branch did not exist before the attempt. At another commit it may be the attempt's own with later commits, or somebody
        // else's.
        return sha === version ? { done: true, output: { branch, sha, url: branchUrl(github, repository, branch) } } : { done: 'unknown' }
      },
    },
  )

const deleteBranch = (github: GithubContext): ToolDraft =>
  writeTool(github, z.object({ repository: github.repository, branch: Branch }), {
    name: 'deleteBranch',
    description: 'Deletes a branch. Commits that are on no other branch are lost with it.',
    describe: ({ repository, branch }) => `Delete the branch ${branch} of ${repository}`,
    async look({ repository, branch }, signal) {
      const { client } = github
      const place = repositoryOf(repository)
      const [found, repo] = await Promise.all([
        client.look(signal, place, (rest, at) => rest.repos.getBranch({ ...at, branch })),
        client.look(signal, place, (rest, at) => rest.repos.get(at)),
      ])
      if (repo.default_branch === branch) throw new ToolError('refused', `${branch} is the default branch of ${repository}.`)
      if (found.protected) throw new ToolError('refused', `${branch} is protected in ${repository}.`)
      const { sha, commit } = found.commit
      const { ahead_by, commits } = await client.look(signal, place, (rest, at) =>
        rest.repos.compareCommitsWithBasehead({ ...at, basehead: `${repo.default_branch}...${branch}`, per_page: 50 }),
      )
      const lines = commits.map((one) => commitLine({ sha: one.sha, message: one.commit.message }))
      const lost = [...lines, ...andMore(ahead_by - lines.length, 'commit')]
      return {
        headline: `Delete the branch ${branch} of ${repository}, which is at ${short(sha)}`,
        fields: [
          { field: 'branch', oldValue: branch },
          { field: 'at', oldValue: `${sha} ${commit.message.split('\n')[0]}` },
          same(`commits that ${repo.default_branch} does not have`, ahead_by === 0 ? 'none' : lost),
        ],
        precondition: { sha },
        version: sha,
      }
    },
    async execute({ repository, branch }, { signal, version }) {
      const { client } = github
      const head = await before(headOf(client, repository, branch, signal))
      // GitHub deletes a branch at any commit, so its head is read once more.
      if (version !== undefined && head !== undefined && head !== version) {
        throw new ToolError('stale', `${branch} is at ${head} now and not where it was shown. It was not deleted.`)
      }
      await client.write(signal, repositoryOf(repository), (rest, at) => rest.git.deleteRef({ ...at, ref: `heads/${branch}` }))
      return { branch, deleted: true, sha: head ?? null, url: `${github.webOrigin}/${repository}/branches` }
    },
    async verify({ repository, branch }, { signal }) {
      // A proxy answers 404, too, and GitHub itself where the token no longer sees the repository. A list without the branch is proof.
      const refs = await github.client.look(signal, repositoryOf(repository), (rest, at) =>
        rest.git.listMatchingRefs({ ...at, ref: `heads/${branch}` }),
      )
      const isThere = refs.some(({ ref }) => ref === `refs/heads/${branch}`)
      return isThere ? { done: false } : { done: true, output: { branch, deleted: true } }
    },
  })
