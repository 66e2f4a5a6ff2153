import { type JsonObject, ToolError } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { asTitle } from '@countersign/toolkit/internal'
import { z } from 'zod'
import { endOf } from './diff-lines.ts'
import { Body, IssueNumber } from './fields.ts'
import { findMade } from './found.ts'
import { MARKER_SHOWN, withMarker } from './marker.ts'
import { lookAtPull, pullHeading } from './pull-look.ts'
import { repositoryOf } from './repository.ts'
import { added, numbered, same } from './shown.ts'
import { type GithubContext, writeTool } from './tool.ts'
import { textOf } from './views.ts'

/** Replies to a comment on a line of a pull request. */
export const replyToReviewComment = (github: GithubContext): ToolDraft =>
  writeTool(
    github,
    z.object({
      repository: github.repository,
      number: IssueNumber,
      commentId: z.int().min(1).describe('As listReviewComments names it'),
      body: Body.refine((text) => text.trim() !== '', 'must hold a text').describe('Markdown'),
    }),
    {
      name: 'replyToReviewComment',
      description: 'Replies to a comment at a line of a pull request.',
      describe: ({ repository, number, commentId }) => `Reply to the review comment ${commentId} on #${number} of ${repository}`,
      async look({ repository, number, commentId, body }, signal) {
        const { client } = github
        const [pull, comment] = await Promise.all([
          lookAtPull(client, { repository, number }, signal),
          client.look(signal, repositoryOf(repository), (rest, at) => rest.pulls.getReviewComment({ ...at, comment_id: commentId })),
        ])
        if (!comment.pull_request_url.endsWith(`/pulls/${number}`)) {
          throw new ToolError('refused', `The comment ${commentId} is not on #${number}.`)
        }
        if (comment.in_reply_to_id !== undefined) {
          throw new ToolError(
            'refused',
            `The comment is a reply itself: reply to ${comment.in_reply_to_id}, which begins the conversation.`,
          )
        }
        // The library's types always have a user; according to GitHub's description, a deleted user is null.
        const { user }: { user: { login: string } | null } = comment
        const author = user?.login ?? 'somebody'
        const text = textOf(comment.body)
        return {
          headline: `Reply to ${author} at ${asTitle(comment.path)} in ${numbered(pull)} of ${repository}`,
          fields: [
            pullHeading(pull),
            same('state', pull.locked ? `${pull.state}, locked` : pull.state),
            same(`at ${comment.path}`, endOf(comment.diff_hunk)),
            same(`comment of ${author}`, text),
            added('reply', body),
            added('added to the reply', MARKER_SHOWN),
          ],
          precondition: { title: pull.title, state: pull.state, locked: pull.locked, author, text },
        }
      },
      execute: async ({ repository, number, commentId, body }, { idempotencyKey, signal }) =>
        resultOf(
          await github.client.write(signal, repositoryOf(repository), (rest, at) =>
            rest.pulls.createReplyForReviewComment({
              ...{ ...at, pull_number: number, comment_id: commentId, body: withMarker(body, idempotencyKey) },
            }),
          ),
        ),
      verify: ({ repository, number }, context) =>
        findMade<GithubReviewComment>(
          {
            client: github.client,
            repository,
            order: 'oldest',
            output: resultOf,
            list: (rest, at, { since }) => rest.pulls.listReviewComments({ ...at, pull_number: number, since }),
          },
          context,
        ),
    },
  )

interface GithubReviewComment {
  id: number
  html_url: string
  body: string
  user: { login: string }
}

const resultOf = ({ id, html_url: url }: Pick<GithubReviewComment, 'id' | 'html_url'>): JsonObject => ({ id, url })
