import { type Call, invalid, listIn, missing, ok, paged, problem, type Reply, type Route, textIn } from './route.ts'
import { comment, issue, label, milestone, user } from './shapes.ts'
import { addIssue, ensureLabel, type Issue, timeOf } from './state.ts'

const REPO = '/repos/{owner}/{repo}'
const ISSUE = `${REPO}/issues/{issue_number}`

const on =
  (answer: (call: Call, issue: Issue) => Reply) =>
  (call: Call): Reply => {
    const found = call.repo.issues.get(Number(call.params.issue_number))
    if (!call.repo.hasIssues && !found?.pull) return problem(410, 'Issues has been disabled in this repository.')
    return found ? answer(call, found) : missing()
  }

const view =
  ({ at, repo }: Call) =>
  (given: Issue) =>
    issue(at, repo, given)

function touch({ state }: Call, given: Issue): void {
  given.updatedAt = timeOf(state)
}

/** Issues, their comments, labels and people. */
export const ISSUE_ROUTES: Route[] = [
  ['GET', `${REPO}/issues`, (call) => paged(call, listed(call), view(call))],
  ['POST', `${REPO}/issues`, create],
  ['GET', ISSUE, on((call, found) => ok(view(call)(found)))],
  ['PATCH', ISSUE, on(update)],
  [
    'GET',
    `${ISSUE}/comments`,
    on((call, { number }) => {
      const since = call.query.get('since') ?? ''
      const all = call.repo.comments.filter((one) => one.issue === number && one.updatedAt >= since.slice(0, 19))
      return paged(call, all, (one) => comment(call.at, call.repo, one))
    }),
  ],
  ['POST', `${ISSUE}/comments`, on(addComment)],
  ['GET', `${REPO}/issues/comments/{comment_id}`, (call) => onComment(call, () => {})],
  ['PATCH', `${REPO}/issues/comments/{comment_id}`, (call) => onComment(call, (one) => Object.assign(one, { body: call.body.body }))],
  [
    'POST',
    `${ISSUE}/labels`,
    on((call, found) => {
      for (const name of listIn(call.body, 'labels') ?? []) {
        const known = ensureLabel(call.state, call.repo, name).name
        if (!found.labels.includes(known)) found.labels.push(known)
      }
      touch(call, found)
      return labels(call, found)
    }),
  ],
  [
    'DELETE',
    `${ISSUE}/labels/{name}`,
    on((call, found) => {
      const at = found.labels.findIndex((name) => name.toLowerCase() === call.params.name?.toLowerCase())
      if (at < 0) return problem(404, 'Label does not exist')
      found.labels.splice(at, 1)
      touch(call, found)
      return labels(call, found)
    }),
  ],
  ['POST', `${ISSUE}/assignees`, on((call, found) => assign(call, found, (all, some) => [...new Set([...all, ...some])], 201))],
  ['DELETE', `${ISSUE}/assignees`, on((call, found) => assign(call, found, (all, some) => all.filter((one) => !some.includes(one)), 200))],
  ['GET', `${REPO}/labels`, (call) => paged(call, call.repo.labels, (one) => label(call.at, call.repo, one))],
  ['GET', `${REPO}/milestones`, (call) => paged(call, call.repo.milestones, (one) => milestone(call.at, call.repo, one))],
  [
    'GET',
    `${REPO}/milestones/{milestone_number}`,
    (call) => {
      const found = call.repo.milestones.find(({ number }) => number === Number(call.params.milestone_number))
      return found ? ok(milestone(call.at, call.repo, found)) : missing()
    },
  ],
  ['GET', `${REPO}/assignees`, (call) => paged(call, call.repo.assignable, (login) => user(call.at, login))],
  [
    'GET',
    `${REPO}/assignees/{assignee}`,
    ({ repo, params }) => (repo.assignable.includes(params.assignee ?? '') ? { status: 204 } : missing()),
  ],
]

const labels = (call: Call, found: Issue): Reply =>
  ok(found.labels.flatMap((name) => call.repo.labels.filter((one) => one.name === name).map((one) => label(call.at, call.repo, one))))

function listed({ query, repo }: Call): Issue[] {
  const [wanted, creator, assignee] = [query.get('state') ?? 'open', query.get('creator'), query.get('assignee')]
  const names = query.get('labels')?.split(',') ?? []
  const fits = (given: Issue) =>
    (wanted === 'all' || given.state === wanted) &&
    (creator === null || given.user === creator) &&
    (assignee === null ||
      (assignee === 'none'
        ? given.assignees.length === 0
        : assignee === '*'
          ? given.assignees.length > 0
          : given.assignees.includes(assignee))) &&
    names.every((name) => given.labels.includes(name))
  return [...repo.issues.values()].filter(fits).reverse()
}

function create(call: Call): Reply {
  const { repo, state, body } = call
  if (!repo.hasIssues) return problem(410, 'Issues has been disabled in this repository.')
  const title = textIn(body, 'title')
  if (title === undefined || title === '') return invalid({ resource: 'Issue', field: 'title', code: 'missing_field' })
  const assignees = listIn(body, 'assignees') ?? []
  if (assignees.some((login) => !repo.assignable.includes(login)))
    return invalid({ resource: 'Issue', field: 'assignees', code: 'invalid' })
  const planned = typeof body.milestone === 'number' ? body.milestone : null
  if (planned !== null && !repo.milestones.some(({ number }) => number === planned)) {
    return invalid({ resource: 'Issue', field: 'milestone', code: 'invalid' })
  }
  const made = addIssue(state, repo, {
    ...{ title, body: textIn(body, 'body') ?? null, labels: listIn(body, 'labels') ?? [], assignees, milestone: planned },
  })
  return ok(view(call)(made), 201)
}

function update(call: Call, found: Issue): Reply {
  const { body, state, repo } = call
  const wanted = listIn(body, 'assignees')
  if (wanted?.some((login) => !repo.assignable.includes(login))) return invalid({ resource: 'Issue', field: 'assignees', code: 'invalid' })
  found.title = textIn(body, 'title') ?? found.title
  found.body = textIn(body, 'body') ?? found.body
  found.assignees = wanted ?? found.assignees
  const names = listIn(body, 'labels')
  if (names) found.labels = names.map((name) => ensureLabel(state, repo, name).name)
  if (body.milestone === null || typeof body.milestone === 'number') found.milestone = body.milestone
  if (body.state === 'open' || body.state === 'closed') {
    found.state = body.state
    found.stateReason = textIn(body, 'state_reason') ?? (body.state === 'closed' ? 'completed' : null)
    found.closedAt = body.state === 'closed' ? timeOf(state) : null
  }
  touch(call, found)
  return ok(view(call)(found))
}

function addComment(call: Call, found: Issue): Reply {
  const { state, repo, at, body } = call
  if (found.locked) return problem(403, 'Unable to create comment because issue is locked.')
  const text = textIn(body, 'body')
  if (text === undefined || text === '') return invalid({ resource: 'IssueComment', field: 'body', code: 'missing_field' })
  const time = timeOf(state)
  const made = { id: state.nextId++, issue: found.number, body: text, user: state.login, createdAt: time, updatedAt: time }
  repo.comments.push(made)
  touch(call, found)
  return ok(comment(at, repo, made), 201)
}

function onComment({ repo, params, at }: Call, change: (comment: Call['repo']['comments'][number]) => void): Reply {
  const found = repo.comments.find(({ id }) => id === Number(params.comment_id))
  if (!found) return missing()
  change(found)
  return ok(comment(at, repo, found))
}

/** GitHub ignores people that it cannot assign and still reports success. */
function assign(call: Call, found: Issue, change: (all: string[], some: string[]) => string[], status: number): Reply {
  const known = (listIn(call.body, 'assignees') ?? []).filter((login) => call.repo.assignable.includes(login))
  found.assignees = change(found.assignees, known)
  touch(call, found)
  return ok(view(call)(found), status)
}
