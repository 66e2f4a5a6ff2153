import { ToolError } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { z } from 'zod'
import { before } from './before.ts'
import { IssueNumber } from './fields.ts'
import { statusOf } from './github-error.ts'
import { lookAtPull, pullHeading } from './pull-look.ts'
import { repositoryOf } from './repository.ts'
import { changed, numbered, same, short } from './shown.ts'
import { type GithubContext, writeTool } from './tool.ts'
import { commitLine } from './views.ts'

const MAX_SHOWN = 50

/** Merges the base of a pull request into its branch. */
export const updatePullBranch = (github: GithubContext): ToolDraft =>
  writeTool(github, z.object({ repository: github.repository, number: IssueNumber }), {
    name: 'updatePullBranch',
    description: 'Brings the branch of a pull request up to date: merges its base into it.',
    describe: ({ repository, number }) => `Update the branch of pull request #${number} of ${repository} with its base`,
    async look(args, signal) {
      const { client } = github
      const place = repositoryOf(args.repository)
      const pull = await lookAtPull(client, args, signal)
      const { title, state, head, base } = pull
      if (state !== 'open') throw new ToolError('refused', `#${args.number} is ${pull.merged ? 'merged' : 'closed'}.`)
      const { ahead_by: missing, commits } = await client.look(signal, place, (rest, at) =>
        rest.repos.compareCommitsWithBasehead({ ...at, basehead: `${head.sha}...${base.ref}`, per_page: 100 }),
      )
      if (missing === 0) throw new ToolError('refused', `${head.ref} has all of ${base.ref} already.`)
      if (pull.mergeable === false)
        throw new ToolError('refused', `${head.ref} is in conflict with ${base.ref}: that has to be solved first.`)
      const lines = commits.slice(0, MAX_SHOWN).map(({ sha, commit }) => commitLine({ sha, message: commit.message }))
      return {
        headline: `Update ${head.ref} of ${numbered(pull)} in ${args.repository} at ${short(head.sha)} with ${base.ref}`,
        fields: [
          pullHeading(pull),
          changed(`commits of ${base.ref} that it does not have`, missing, 0),
          same('the oldest of them', lines),
          same('branch', `${head.ref} at ${head.sha}`),
        ],
        precondition: { title, state, head: head.sha, base: base.ref, missing, lines },
        version: head.sha,
      }
    },
    async execute({ repository, number }, { signal, version }) {
      const { client } = github
      const sha = version ?? (await before(lookAtPull(client, { repository, number }, signal))).head.sha
      await client
        .write(signal, repositoryOf(repository), (rest, at) =>
          rest.pulls.updateBranch({ ...at, pull_number: number, expected_head_sha: sha }),
        )
        .catch((error: unknown) => {
          // GitHub updates the branch only if its head is still the given commit.
          if (statusOf(error) !== 422 || !/head sha/i.test(String(error))) throw error
          throw new ToolError('stale', `#${number} has other commits than those that were shown, and was not updated.`, { cause: error })
        })
      // GitHub only accepts the request here and makes the merge shortly after.
      return { number, updatedFrom: sha, url: `${github.webOrigin}/${repository}/pull/${number}` }
    },
    async verify({ repository, number }, { signal, version }) {
      const { client } = github
      const [pull, login] = await Promise.all([lookAtPull(client, { repository, number }, signal), client.login(signal)])
      const { sha } = pull.head
      if (sha === version) return { done: false }
      const { parents, author } = await client.look(signal, repositoryOf(repository), (rest, at) =>
        rest.repos.getCommit({ ...at, ref: sha, per_page: 1 }),
      )
      // A merge commit by the token's user on top of the shown commit is ours. Any other head may be ours with later commits, or somebody
      // else's.
      const isOurs = parents.length === 2 && parents[0]?.sha === version && login !== undefined && author?.login === login
      const url = `${github.webOrigin}/${repository}/pull/${number}`
      return isOurs ? { done: true, output: { number, updatedFrom: version ?? null, url } } : { done: 'unknown' }
    },
  })
