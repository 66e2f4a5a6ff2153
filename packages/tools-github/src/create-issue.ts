import { type JsonObject, ToolError } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { asTitle } from '@countersign/toolkit/internal'
import { z } from 'zod'
import { Body, IssueNumber, Label, Login, Title } from './fields.ts'
import { findMade } from './found.ts'
import { MARKER_SHOWN, withMarker } from './marker.ts'
import { repositoryOf } from './repository.ts'
import { added, same } from './shown.ts'
import { type GithubContext, writeTool } from './tool.ts'
import { type GithubIssue, issueResult } from './views.ts'

export const createIssue = (github: GithubContext): ToolDraft =>
  writeTool(
    github,
    z.object({
      repository: github.repository,
      title: Title,
      body: Body.default('').describe('Markdown'),
      labels: z.array(Label).max(50).default([]),
      assignees: z.array(Login).max(10).default([]),
      milestone: IssueNumber.optional().describe('The number of a milestone'),
    }),
    {
      name: 'createIssue',
      description: 'Opens an issue. Search first whether there is one already.',
      describe: ({ repository, title }) => `Open the issue ${asTitle(title)} in ${repository}`,
      async look({ repository, title, body, labels, assignees, milestone }, signal) {
        const { client } = github
        const place = repositoryOf(repository)
        const repo = await client.look(signal, place, (rest, at) => rest.repos.get(at))
        if (repo.archived) throw new ToolError('refused', `${repository} is archived: nothing can be changed there.`)
        if (!repo.has_issues) throw new ToolError('refused', `Issues are switched off in ${repository}.`)
        const planned =
          milestone === undefined
            ? undefined
            : await client.look(signal, place, (rest, at) => rest.issues.getMilestone({ ...at, milestone_number: milestone }))
        const visibility = repo.private ? 'private' : 'public'
        return {
          fields: [
            same('repository', `${repo.full_name} (${visibility})`),
            added('title', title),
            added('body', body),
            ...(labels.length > 0 ? [added('labels', labels)] : []),
            ...(assignees.length > 0 ? [added('assignees', assignees)] : []),
            ...(planned ? [added('milestone', planned.title)] : []),
            added('added to the body', MARKER_SHOWN),
          ],
          precondition: { repository: repo.full_name, visibility, milestone: planned?.title ?? null },
        }
      },
      async execute({ repository, title, body, labels, assignees, milestone }, { idempotencyKey, signal }) {
        const issue = await github.client.write(signal, repositoryOf(repository), (rest, at) =>
          rest.issues.create({
            ...at,
            title,
            body: withMarker(body, idempotencyKey),
            ...(labels.length > 0 && { labels }),
            ...(assignees.length > 0 && { assignees }),
            ...(milestone !== undefined && { milestone }),
          }),
        )
        return issueResult(issue)
      },
      verify: ({ repository }, context) =>
        findMade<GithubIssue>(
          {
            client: github.client,
            repository,
            order: 'newest',
            output: (issue): JsonObject => issueResult(issue),
            list: (rest, at, { login }) =>
              rest.issues.listForRepo({
                ...at,
                state: 'all',
                sort: 'created',
                direction: 'desc',
                ...(login !== undefined && { creator: login }),
              }),
          },
          context,
        ),
    },
  )
