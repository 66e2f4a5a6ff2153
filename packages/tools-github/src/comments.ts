import { type JsonObject, ToolError } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { z } from 'zod'
import { Body, IssueNumber } from './fields.ts'
import { doneWhen, findMade } from './found.ts'
import { lookAt as lookAtIssue } from './issue-look.ts'
import { MARKER_SHOWN, withMarker } from './marker.ts'
import { repositoryOf } from './repository.ts'
import { added, changed, numbered, same } from './shown.ts'
import { type GithubContext, writeTool } from './tool.ts'
import type { GithubComment } from './views.ts'

/** Tools for comments on issues and pull requests. */
export const commentWrites = (github: GithubContext): ToolDraft[] => [commentOnIssue(github), editComment(github)]

const Text = Body.refine((text) => text.trim() !== '', 'must hold a text').describe('Markdown')

const resultOf = ({ id, html_url: url }: GithubComment): JsonObject => ({ id, url })

const commentOnIssue = (github: GithubContext): ToolDraft =>
  writeTool(github, z.object({ repository: github.repository, number: IssueNumber, body: Text }), {
    name: 'commentOnIssue',
    description: 'Comments on an issue or a pull request.',
    describe: ({ repository, number }) => `Comment on #${number} of ${repository}`,
    async look({ repository, number, body }, signal) {
      const issue = await github.client.look(signal, repositoryOf(repository), (rest, at) =>
        rest.issues.get({ ...at, issue_number: number }),
      )
      const { title, state, locked } = issue
      const kind = issue.pull_request ? 'pull request' : 'issue'
      return {
        headline: `Comment on ${numbered(issue)} of ${repository}`,
        fields: [
          same(kind, `#${number} ${title}`),
          same('state', locked ? `${state}, locked` : state),
          added('comment', body),
          added('added to the comment', MARKER_SHOWN),
        ],
        precondition: { title, state, locked },
      }
    },
    execute: async ({ repository, number, body }, { idempotencyKey, signal }) =>
      resultOf(
        await github.client.write(signal, repositoryOf(repository), (rest, at) =>
          rest.issues.createComment({ ...at, issue_number: number, body: withMarker(body, idempotencyKey) }),
        ),
      ),
    verify: ({ repository, number }, context) =>
      findMade(
        {
          client: github.client,
          repository,
          order: 'oldest',
          output: resultOf,
          list: (rest, at, { since }) => rest.issues.listComments({ ...at, issue_number: number, since }),
        },
        context,
      ),
  })

/** Returns the number of the issue or pull request that a comment is on. Its id would tell people nothing. */
function numberOf({ html_url: url }: GithubComment): number | undefined {
  const [, number] = /\/(?:issues|pull)\/(\d+)#/.exec(url) ?? []
  return number === undefined ? undefined : Number(number)
}

const editComment = (github: GithubContext): ToolDraft => {
  const lookAt = (repository: string, commentId: number, signal: AbortSignal): Promise<GithubComment> =>
    github.client.look(signal, repositoryOf(repository), (rest, at) => rest.issues.getComment({ ...at, comment_id: commentId }))

  /** @throws ToolError for a comment that somebody else wrote. */
  async function lookAtOwn(repository: string, commentId: number, signal: AbortSignal): Promise<GithubComment> {
    const [comment, login] = await Promise.all([lookAt(repository, commentId, signal), github.client.login(signal)])
    if (login !== undefined && comment.user?.login === login) return comment
    const author = comment.user?.login ?? 'somebody'
    throw new ToolError('refused', `The comment is by ${author}, and only one's own can be edited here. Nothing was changed.`)
  }

  return writeTool(
    github,
    z.object({ repository: github.repository, commentId: z.int().min(1), body: Text.describe('Takes the place of the whole comment') }),
    {
      name: 'editComment',
      description: 'Changes the text of a comment that this token wrote itself.',
      describe: ({ repository, commentId }) => `Change the comment ${commentId} in ${repository}`,
      async look({ repository, commentId, body }, signal) {
        const comment = await lookAtOwn(repository, commentId, signal)
        const old = comment.body ?? ''
        const number = numberOf(comment)
        const on = number === undefined ? undefined : await lookAtIssue(github.client, { repository, number }, signal)
        return {
          fields: [same('comment', comment.html_url), changed('text', old, body)],
          ...(on && { headline: `Change the comment on ${numbered(on)} of ${repository}` }),
          precondition: { text: old, author: comment.user?.login ?? null },
        }
      },
      async execute({ repository, commentId, body }, { signal }) {
        await lookAtOwn(repository, commentId, signal)
        return resultOf(
          await github.client.write(signal, repositoryOf(repository), (rest, at) =>
            rest.issues.updateComment({ ...at, comment_id: commentId, body }),
          ),
        )
      },
      async verify({ repository, commentId, body }, { signal }) {
        const comment = await lookAt(repository, commentId, signal)
        return doneWhen(comment.body === body, resultOf(comment))
      },
    },
  )
}
