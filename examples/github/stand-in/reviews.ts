import { onPull, type PullIssue } from './pulls.ts'
import { type Call, missing, ok, paged, problem, type Reply, type Route, textIn } from './route.ts'
import { type Addresses, nodeId, pullDiff, review, urlOf, user } from './shapes.ts'
import { type Repo, type Review, type ReviewComment, timeOf } from './state.ts'

const REPO = '/repos/{owner}/{repo}'
const PULL = `${REPO}/pulls/{pull_number}`

/** Reviews that are given, and the comments at lines. */
export const REVIEW_ROUTES: Route[] = [
  ['POST', `${PULL}/reviews`, onPull(create)],
  [
    'GET',
    `${PULL}/comments`,
    onPull((call, { number }) => {
      const since = call.query.get('since') ?? ''
      const all = call.repo.reviewComments.filter((one) => one.issue === number && one.createdAt >= since.slice(0, 19))
      return paged(call, all, (one) => view(call.at, call.repo, one))
    }),
  ],
  ['POST', `${PULL}/comments/{comment_id}/replies`, onPull(reply)],
  [
    'GET',
    `${REPO}/pulls/comments/{comment_id}`,
    ({ at, repo, params }) => {
      const found = repo.reviewComments.find(({ id }) => id === Number(params.comment_id))
      return found ? ok(view(at, repo, found)) : missing()
    },
  ],
]

const STATES = { APPROVE: 'APPROVED', REQUEST_CHANGES: 'CHANGES_REQUESTED', COMMENT: 'COMMENTED' } as const

const refused = (message: string): Reply => problem(422, `Unprocessable Entity: ${message}`)

function create(call: Call, found: PullIssue): Reply {
  const { repo, state, body, at } = call
  const event = textIn(body, 'event')
  if (event !== 'APPROVE' && event !== 'REQUEST_CHANGES' && event !== 'COMMENT') return refused('a pending review')
  if (found.user === state.login && event !== 'COMMENT') return refused('Can not approve or refuse your own pull request')
  const text = textIn(body, 'body') ?? ''
  if (text === '' && event !== 'APPROVE') return refused('a body is missing')
  const commit = textIn(body, 'commit_id') ?? found.pull.headSha
  if (!repo.git.commits.has(commit)) return refused('no such commit')
  const made: Review = { id: state.nextId++, user: state.login, state: STATES[event], body: text, commit }
  const comments: ReviewComment[] = []
  for (const given of Array.isArray(body.comments) ? body.comments : []) {
    const { path, line, side = 'RIGHT', start_line = null, body: words } = given
    const hunk = hunkAt(pullDiff(repo, found.pull.baseSha, commit).find((one) => one.path === path)?.patch ?? '', side, line)
    if (hunk === undefined) return refused('pull_request_review_thread.line must be part of the diff')
    comments.push({
      ...{ id: state.nextId++, issue: found.number, review: made.id, path, line, side, startLine: start_line, hunk, body: words },
      ...{ user: state.login, commit, inReplyTo: null, createdAt: timeOf(state) },
    })
  }
  found.pull.reviews.push(made)
  repo.reviewComments.push(...comments)
  return ok(review(at, repo, found.number, made))
}

/** The diff down to a line; undefined where it does not have that line. */
function hunkAt(patch: string, side: 'LEFT' | 'RIGHT', line: number): string | undefined {
  const lines = patch.split('\n')
  let [left, right] = [0, 0]
  for (const [at, text] of lines.entries()) {
    const header = /^@@ -(\d+),\d+ \+(\d+)/.exec(text)
    if (header) {
      ;[left, right] = [Number(header[1]), Number(header[2])]
      continue
    }
    if (text.startsWith('\\')) continue
    const isThere = side === 'LEFT' ? !text.startsWith('+') && left === line : !text.startsWith('-') && right === line
    if (isThere) return lines.slice(0, at + 1).join('\n')
    if (!text.startsWith('+')) left++
    if (!text.startsWith('-')) right++
  }
  return undefined
}

function reply({ repo, state, body, at, params }: Call, { number }: PullIssue): Reply {
  const first = repo.reviewComments.find(({ id, issue }) => id === Number(params.comment_id) && issue === number)
  if (!first || first.inReplyTo !== null) return missing()
  const made: ReviewComment = {
    ...{ ...first, id: state.nextId++, inReplyTo: first.id, user: state.login, body: textIn(body, 'body') ?? '' },
    createdAt: timeOf(state),
  }
  repo.reviewComments.push(made)
  return ok(view(at, repo, made), 201)
}

function view(at: Addresses, repo: Repo, given: ReviewComment) {
  const { url, page } = urlOf(at, repo)
  const [self, pull] = [`${url}/pulls/comments/${given.id}`, `${url}/pulls/${given.issue}`]
  const html = `${page}/pull/${given.issue}#discussion_r${given.id}`
  return {
    ...{ id: given.id, node_id: nodeId(given.id), url: self, html_url: html, pull_request_url: pull, body: given.body },
    ...{ pull_request_review_id: given.review, diff_hunk: given.hunk, path: given.path, commit_id: given.commit },
    ...{ original_commit_id: given.commit, user: user(at, given.user), author_association: 'MEMBER' },
    ...{ created_at: given.createdAt, updated_at: given.createdAt, line: given.line, original_line: given.line, side: given.side },
    ...{ start_line: given.startLine, original_start_line: given.startLine, start_side: given.startLine === null ? null : given.side },
    ...{ subject_type: 'line', ...(given.inReplyTo !== null && { in_reply_to_id: given.inReplyTo }) },
    _links: { self: { href: self }, html: { href: html }, pull_request: { href: pull } },
  }
}
