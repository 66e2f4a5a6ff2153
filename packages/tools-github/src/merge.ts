import { ToolError } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { z } from 'zod'
import { before } from './before.ts'
import { IssueNumber, Title } from './fields.ts'
import { statusOf } from './github-error.ts'
import { MOST_READ } from './pages.ts'
import { lookAtPull, pullHeading, readReviews } from './pull-look.ts'
import { readChecks } from './read-pulls.ts'
import { repositoryOf } from './repository.ts'
import { added, changed, numbered, same, short } from './shown.ts'
import { type GithubContext, writeTool } from './tool.ts'
import { pullResult } from './views.ts'

const VERBS = { merge: 'Merge', squash: 'Squash and merge', rebase: 'Rebase and merge' } as const

/** Merges a pull request, only at the commit that was shown. */
export const mergePullRequest = (github: GithubContext): ToolDraft =>
  writeTool(
    github,
    z.object({
      repository: github.repository,
      number: IssueNumber,
      method: z.enum(['merge', 'squash', 'rebase']).default('merge'),
      title: Title.optional().describe('The first line of the merge commit; GitHub has its own'),
    }),
    {
      name: 'mergePullRequest',
      description: 'Merges a pull request into its base.',
      describe: ({ repository, number, method }) => `${VERBS[method]} pull request #${number} of ${repository}`,
      async look(args, signal) {
        const { client } = github
        const pull = await lookAtPull(client, args, signal)
        if (pull.merged) throw new ToolError('refused', `#${args.number} is merged already.`)
        const { sha } = pull.head
        const [checks, reviews] = await Promise.all([readChecks(client, args.repository, sha, signal), readReviews(client, args, signal)])
        const said = reviews.items
          .filter(({ state }) => state !== 'COMMENTED')
          .map(({ user, state }) => `${user?.login ?? 'somebody'}: ${state}`)
        if (!reviews.isWhole) said.push(`There are more than ${MOST_READ} reviews. The latest were not read.`)
        const { title, state, draft = false, base } = pull
        return {
          headline: `${VERBS[args.method]} ${numbered(pull)} at ${short(sha)} into ${base.ref} of ${args.repository}`,
          fields: [
            pullHeading(pull),
            changed('state', draft ? 'draft' : state, 'merged'),
            same('from', `${pull.head.ref} at ${sha}`),
            same('into', base.ref),
            same('size', `${pull.commits} commits, ${pull.changed_files} files, +${pull.additions} −${pull.deletions}`),
            same('checks', checks),
            same('reviews', said),
            same('can be merged', pull.mergeable ?? 'not known yet'),
            ...(args.title === undefined ? [] : [added('commit title', args.title)]),
          ],
          precondition: { title, state, draft, head: sha, base: base.ref, checks, reviews: said },
          version: sha,
        }
      },
      async execute({ repository, number, method, title }, { signal, version }) {
        const { client } = github
        const sha = version ?? (await before(lookAtPull(client, { repository, number }, signal))).head.sha
        const merged = await client
          .write(signal, repositoryOf(repository), (rest, at) =>
            rest.pulls.merge({
              ...at,
              pull_number: number,
              merge_method: method,
              sha,
              ...(title !== undefined && { commit_title: title }),
            }),
          )
          .catch((error: unknown) => {
            // GitHub merges only if the head is still the given commit.
            if (statusOf(error) !== 409) throw error
            throw new ToolError('stale', `#${number} has other commits than those that were shown, and was not merged.`, { cause: error })
          })
        return { number, merged: merged.merged, sha: merged.sha, url: `${github.webOrigin}/${repository}/pull/${number}` }
      },
      async verify(args, { signal, version }) {
        const pull = await lookAtPull(github.client, args, signal)
        if (!pull.merged) return { done: false }
        return version === undefined || pull.head.sha === version ? { done: true, output: pullResult(pull) } : { done: 'unknown' }
      },
    },
  )
