import type { JsonValue } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { z } from 'zod'
import { IssueNumber, Page } from './fields.ts'
import { repositoryOf } from './repository.ts'
import { type GithubContext, readTool } from './tool.ts'
import { cutText, hasMore, textOf } from './views.ts'

/** The maximum length of a comment. A hundred of these stay below the limit of a result. */
const MAX_TEXT = 3_000
const MAX_HUNK = 1_000

/** Tools that read the reviews of a pull request and the comments on its lines. */
export const reviewReads = (github: GithubContext): ToolDraft[] => [listReviews(github), listReviewComments(github)]

const listReviews = (github: GithubContext): ToolDraft =>
  readTool(github, z.object({ repository: github.repository, number: IssueNumber, page: Page }), {
    name: 'listReviews',
    description: 'Lists the reviews of a pull request, oldest first, 100 at a time.',
    describe: ({ repository, number }) => `List the reviews of #${number} of ${repository}`,
    async execute({ repository, number, page }, { signal }): Promise<JsonValue> {
      const { data, headers } = await github.client.read(signal, repositoryOf(repository), (rest, at) =>
        rest.pulls.listReviews({ ...at, pull_number: number, per_page: 100, page }),
      )
      const reviews = data.map(({ id, user, state, body, commit_id, submitted_at = null, html_url }) => ({
        ...{ id, by: user?.login ?? null, state, commit: commit_id, submittedAt: submitted_at },
        ...{ body: textOf(body, MAX_TEXT), url: html_url },
      }))
      return { reviews, more: hasMore(headers) }
    },
  })

const listReviewComments = (github: GithubContext): ToolDraft =>
  readTool(github, z.object({ repository: github.repository, number: IssueNumber, page: Page }), {
    name: 'listReviewComments',
    description:
      'Lists the comments at lines of a pull request, oldest first, 100 at a time. One without a line is at a line that is gone.',
    describe: ({ repository, number }) => `List the review comments on #${number} of ${repository}`,
    async execute({ repository, number, page }, { signal }): Promise<JsonValue> {
      const { data, headers } = await github.client.read(signal, repositoryOf(repository), (rest, at) =>
        rest.pulls.listReviewComments({ ...at, pull_number: number, per_page: 100, page }),
      )
      const comments = data.map((comment) => ({
        ...{ id: comment.id, inReplyTo: comment.in_reply_to_id ?? null, reviewId: comment.pull_request_review_id },
        ...{
          by: loginOf(comment),
          path: comment.path,
          line: comment.line ?? null,
          startLine: comment.start_line ?? null,
        },
        ...{ side: comment.side ?? null, commit: comment.commit_id, createdAt: comment.created_at },
        ...{ diff: cutText(comment.diff_hunk, MAX_HUNK), body: textOf(comment.body, MAX_TEXT), url: comment.html_url },
      }))
      return { comments, more: hasMore(headers) }
    },
  })

/** The user is null when the account was deleted, although the types of the library do not allow it. */
const loginOf = ({ user }: { user: { login: string } | null }): string | null => user?.login ?? null
