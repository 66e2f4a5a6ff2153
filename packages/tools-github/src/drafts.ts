import { ToolError } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { z } from 'zod'
import { before } from './before.ts'
import { IssueNumber } from './fields.ts'
import { doneWhen } from './found.ts'
import { CONVERT_TO_DRAFT, MARK_READY, type Mutation } from './graphql.ts'
import { lookAtPull, pullHeading } from './pull-look.ts'
import { repositoryOf } from './repository.ts'
import { changed, numbered, same } from './shown.ts'
import { type GithubContext, writeTool } from './tool.ts'
import { pullResult, reviewersOf } from './views.ts'

/** Tools that mark a draft as ready for review, and convert a pull request to a draft. */
export const draftChanges = (github: GithubContext): ToolDraft[] => [
  turn(github, {
    name: 'markReadyForReview',
    description: 'Turns a draft into a pull request that is ready for review. GitHub tells those who are asked to review it.',
    isDraft: false,
    mutation: MARK_READY,
    wordsOf: (what) => `Mark ${what} as ready for review`,
  }),
  turn(github, {
    name: 'convertToDraft',
    description: 'Turns a pull request into a draft again, which nobody can merge.',
    isDraft: true,
    mutation: CONVERT_TO_DRAFT,
    wordsOf: (what) => `Turn ${what} into a draft again`,
  }),
]

interface Turn {
  name: string
  description: string
  /** The state after the change. */
  isDraft: boolean
  mutation: Mutation
  wordsOf(what: string): string
}

const nameOf = (isDraft: boolean): string => (isDraft ? 'draft' : 'ready for review')

const turn = (github: GithubContext, { name, description, isDraft, mutation, wordsOf }: Turn): ToolDraft =>
  writeTool(github, z.object({ repository: github.repository, number: IssueNumber }), {
    name,
    description,
    describe: ({ repository, number }) => wordsOf(`pull request #${number} of ${repository}`),
    async look(args, signal) {
      const pull = await lookAtPull(github.client, args, signal)
      const { title, state, draft = false, head } = pull
      if (state !== 'open') throw new ToolError('refused', `#${args.number} is ${pull.merged ? 'merged' : 'closed'}.`)
      if (draft === isDraft) throw new ToolError('refused', `#${args.number} is ${isDraft ? 'a draft' : 'ready for review'} already.`)
      return {
        headline: wordsOf(`${numbered(pull)} of ${args.repository}`),
        fields: [
          pullHeading(pull),
          changed('state', nameOf(draft), nameOf(isDraft)),
          same('from', `${head.ref} at ${head.sha}`),
          same('into', pull.base.ref),
          same('reviewers', reviewersOf(pull)),
        ],
        precondition: { title, state, draft, head: head.sha, base: pull.base.ref, reviewers: reviewersOf(pull) },
        version: head.sha,
      }
    },
    async execute(args, { signal, version }) {
      const pull = await before(lookAtPull(github.client, args, signal))
      if (version !== undefined && pull.head.sha !== version) {
        throw new ToolError('stale', `#${args.number} has other commits than those that were shown. It was left as it is.`)
      }
      await github.client.mutate(signal, repositoryOf(args.repository), mutation, { pullRequestId: pull.node_id })
      return { ...pullResult(pull), draft: isDraft }
    },
    async verify(args, { signal }) {
      const pull = await lookAtPull(github.client, args, signal)
      return doneWhen((pull.draft ?? false) === isDraft, pullResult(pull))
    },
  })
