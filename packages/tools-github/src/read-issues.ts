import type { JsonValue } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { z } from 'zod'
import { IssueNumber, Label, Limit, Login, Page } from './fields.ts'
import { nameOf, repositoryOf } from './repository.ts'
import { type GithubContext, readTool } from './tool.ts'
import { assigneesOf, commentView, hasMore, issueInList, issueView, labelsOf } from './views.ts'

/** Tools that read issues: one with its comments, lists, and the workload per person. */
export const issueReads = (github: GithubContext): ToolDraft[] => [getIssue(github), listIssues(github), getWorkload(github)]

const getIssue = (github: GithubContext): ToolDraft =>
  readTool(github, z.object({ repository: github.repository, number: IssueNumber }), {
    name: 'getIssue',
    description: 'Reads one issue (or the conversation of a pull request) with its first 100 comments.',
    describe: ({ repository, number }) => `Read issue #${number} of ${repository}`,
    async execute({ repository, number }, { signal }) {
      const { client } = github
      const place = repositoryOf(repository)
      const [issue, comments] = await Promise.all([
        client.read(signal, place, (rest, at) => rest.issues.get({ ...at, issue_number: number })),
        client.read(signal, place, (rest, at) => rest.issues.listComments({ ...at, issue_number: number, per_page: 100 })),
      ])
      return { ...issueView(issue.data), commentList: comments.data.map(commentView), moreComments: hasMore(comments.headers) }
    },
  })

const listIssues = (github: GithubContext): ToolDraft =>
  readTool(
    github,
    z.object({
      repository: github.repository,
      state: z.enum(['open', 'closed', 'all']).default('open'),
      labels: z.array(Label).max(20).optional().describe('Only those that have all of these'),
      assignee: z
        .union([Login, z.enum(['none', '*'])])
        .optional()
        .describe('A login, none, or * for any'),
      creator: Login.optional(),
      sort: z.enum(['created', 'updated', 'comments']).default('created'),
      limit: Limit,
      page: Page,
    }),
    {
      name: 'listIssues',
      description: 'Lists issues, newest first. Pull requests are left out.',
      describe: ({ repository, state }) => `List the ${state === 'all' ? '' : `${state} `}issues of ${repository}`,
      async execute({ repository, labels, assignee, creator, limit, ...rest }, { signal }) {
        const { data, headers } = await github.client.read(signal, repositoryOf(repository), (api, at) =>
          api.issues.listForRepo({
            ...at,
            ...rest,
            per_page: limit,
            ...(labels && { labels: labels.join(',') }),
            ...(assignee !== undefined && { assignee }),
            ...(creator !== undefined && { creator }),
          }),
        )
        return { issues: data.filter((issue) => !issue.pull_request).map(issueInList), more: hasMore(headers) }
      },
    },
  )

/** The maximum number of pages of open issues to count. The answer says when the count is incomplete. */
const MAX_PAGES = 10

const getWorkload = (github: GithubContext): ToolDraft =>
  readTool(github, z.object({ repository: github.repository }), {
    name: 'getWorkload',
    description:
      'Counts the open issues and pull requests that each person is assigned to, with the labels of what they have. Tells who has much to do.',
    describe: ({ repository }) => `Count the open work of each person in ${repository}`,
    async execute({ repository }, { signal }): Promise<JsonValue> {
      const place = repositoryOf(repository)
      const people = new Map<string, Load>()
      let isWhole = false
      for (let page = 1; page <= MAX_PAGES && !isWhole; page++) {
        const { data, headers } = await github.client.read(signal, place, (rest, at) =>
          rest.issues.listForRepo({ ...at, state: 'open', per_page: 100, page }),
        )
        for (const issue of data) {
          const assigned = assigneesOf(issue)
          for (const login of assigned.length === 0 ? [NOBODY] : assigned)
            add(people, login, issue.pull_request !== undefined, labelsOf(issue))
        }
        isWhole = !hasMore(headers)
      }
      const unassigned = people.get(NOBODY) ?? EMPTY
      people.delete(NOBODY)
      const loads = [...people].map(([login, load]) => ({ login, ...loadView(load) }))
      loads.sort((a, b) => b.issues + b.pullRequests - (a.issues + a.pullRequests) || (a.login < b.login ? -1 : 1))
      return { repository: nameOf(place), people: loads, unassigned: loadView(unassigned), complete: isWhole }
    },
  })

type Load = { issues: number; pullRequests: number; labels: Map<string, number> }

const NOBODY = ''
const EMPTY: Load = { issues: 0, pullRequests: 0, labels: new Map() }

/** Without a label that is named `__proto__`: such a key is in no JSON here, and the whole answer would be left out. */
const loadView = ({ labels, ...counts }: Load) => ({
  ...counts,
  labels: Object.fromEntries([...labels].filter(([name]) => name !== '__proto__')),
})

function add(people: Map<string, Load>, login: string, isPull: boolean, labels: readonly string[]): void {
  const load = people.get(login) ?? structuredClone(EMPTY)
  load[isPull ? 'pullRequests' : 'issues']++
  for (const label of labels) load.labels.set(label, (load.labels.get(label) ?? 0) + 1)
  people.set(login, load)
}
