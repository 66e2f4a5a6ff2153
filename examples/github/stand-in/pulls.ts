import { type Call, invalid, listIn, missing, ok, paged, problem, type Reply, type Route, textIn } from './route.ts'
import { checkRun, commitsBetween, file, mergeBase, pull, pullDiff, pullInList, repository, review } from './shapes.ts'
import { addIssue, type Issue, type Pull, timeOf } from './state.ts'

const REPO = '/repos/{owner}/{repo}'
const PULL = `${REPO}/pulls/{pull_number}`

export type PullIssue = Issue & { pull: Pull }

const isPull = (given: Issue | undefined): given is PullIssue => given?.pull !== undefined

/** The head of an open one is where its branch is. */
function refresh({ repo }: Call, given: PullIssue): void {
  if (given.state !== 'open') return
  given.pull.headSha = repo.git.heads.get(given.pull.head) ?? given.pull.headSha
  given.pull.baseSha = repo.git.heads.get(given.pull.base) ?? given.pull.baseSha
}

export const onPull =
  (answer: (call: Call, given: PullIssue) => Reply) =>
  (call: Call): Reply => {
    const found = call.repo.issues.get(Number(call.params.pull_number))
    if (!isPull(found)) return missing()
    refresh(call, found)
    return answer(call, found)
  }

/** Pull requests, their files, reviews and checks. */
export const PULL_ROUTES: Route[] = [
  [
    'GET',
    `${REPO}/pulls`,
    (call) => {
      const [wanted, head, base] = [call.query.get('state') ?? 'open', call.query.get('head'), call.query.get('base')]
      const fits = (given: PullIssue) =>
        (wanted === 'all' || given.state === wanted) &&
        (head === null || head === `${call.repo.owner}:${given.pull.head}`) &&
        (base === null || base === given.pull.base)
      const all = [...call.repo.issues.values()].filter(isPull)
      for (const one of all) refresh(call, one)
      return paged(call, all.filter(fits).reverse(), (one) => pullInList(call.at, call.repo, one))
    },
  ],
  ['POST', `${REPO}/pulls`, create],
  ['GET', PULL, onPull((call, found) => ok(pull(call.at, call.repo, found)))],
  ['PATCH', PULL, onPull(update)],
  [
    'GET',
    `${PULL}/files`,
    onPull((call, found) =>
      paged(call, pullDiff(call.repo, found.pull.baseSha, found.pull.headSha), (one) => file(call.at, call.repo, one)),
    ),
  ],
  [
    'GET',
    `${PULL}/reviews`,
    onPull((call, found) => paged(call, found.pull.reviews, (one) => review(call.at, call.repo, found.number, one))),
  ],
  ['POST', `${PULL}/requested_reviewers`, onPull(requestReview)],
  ['PUT', `${PULL}/merge`, onPull(merge)],
  ['PUT', `${PULL}/update-branch`, onPull(updateBranch)],
  [
    'GET',
    `${REPO}/commits/{ref}/check-runs`,
    (call) => paged(call, call.repo.checks, (one) => checkRun(call.at, call.repo, call.params.ref ?? '', one), 'check_runs'),
  ],
  [
    'GET',
    `${REPO}/commits/{ref}/status`,
    ({ at, repo, params }) => {
      const home = repository(at, repo)
      const url = `${home.url}/commits/${params.ref}`
      return ok({
        state: 'pending',
        statuses: [],
        sha: params.ref,
        total_count: 0,
        repository: home,
        commit_url: url,
        url: `${url}/status`,
      })
    },
  ],
]

function create(call: Call): Reply {
  const { repo, state, body, at } = call
  const [title, head, base] = ['title', 'head', 'base'].map((name) => textIn(body, name))
  if (title === undefined || head === undefined || base === undefined) {
    return invalid({ resource: 'PullRequest', field: 'title', code: 'missing_field' })
  }
  const [headSha, baseSha] = [repo.git.heads.get(head), repo.git.heads.get(base)]
  if (headSha === undefined) return invalid({ resource: 'PullRequest', field: 'head', code: 'invalid' })
  if (baseSha === undefined) return invalid({ resource: 'PullRequest', field: 'base', code: 'invalid' })
  const open = [...repo.issues.values()]
    .filter(isPull)
    .find((one) => one.state === 'open' && one.pull.head === head && one.pull.base === base)
  if (open) {
    return invalid({ resource: 'PullRequest', code: 'custom', message: `A pull request already exists for ${repo.owner}:${head}.` })
  }
  if (commitsBetween(repo, baseSha, headSha).length === 0) {
    return invalid({ resource: 'PullRequest', code: 'custom', message: `No commits between ${base} and ${head}` })
  }
  const made = addIssue(state, repo, {
    title,
    body: textIn(body, 'body') ?? null,
    pull: {
      ...{ head, headSha, base, baseSha, draft: body.draft === true, mergedAt: null, mergedSha: null },
      ...{ reviewers: [], teams: [], reviews: [] },
    },
  })
  return ok(pull(at, repo, made), 201)
}

function update({ body, at, repo, state }: Call, found: PullIssue): Reply {
  const base = textIn(body, 'base')
  if (base !== undefined && !repo.git.heads.has(base)) return invalid({ resource: 'PullRequest', field: 'base', code: 'invalid' })
  found.title = textIn(body, 'title') ?? found.title
  found.body = textIn(body, 'body') ?? found.body
  found.pull.base = base ?? found.pull.base
  if (body.state === 'open' || body.state === 'closed') found.state = body.state
  found.updatedAt = timeOf(state)
  return ok(pull(at, repo, found))
}

/** Merges the base into the branch, at the commit that is told. */
function updateBranch({ body, repo, state, at }: Call, found: PullIssue): Reply {
  const { pull: given } = found
  if (typeof body.expected_head_sha === 'string' && body.expected_head_sha !== given.headSha) {
    return problem(422, "expected head sha didn't match current head ref.")
  }
  if (commitsBetween(repo, given.headSha, given.baseSha).length === 0) {
    return problem(422, 'There are no new commits on the base branch.')
  }
  const { git } = repo
  const files = git.filesOf(git.commits.get(given.headSha)?.tree ?? '')
  for (const one of pullDiff(repo, given.headSha, given.baseSha)) {
    const entry = git.filesOf(git.commits.get(given.baseSha)?.tree ?? '').get(one.path)
    if (entry) files.set(one.path, entry)
    else files.delete(one.path)
  }
  const made = git.writeCommit({
    ...{ tree: git.treeOf(files), parents: [given.headSha, given.baseSha], author: state.login, date: timeOf(state) },
    message: `Merge branch '${given.base}' into ${given.head}`,
  })
  git.heads.set(given.head, made.sha)
  return ok({ message: 'Updating pull request branch.', url: `${at.web}/${repo.owner}/${repo.name}/pull/${found.number}` }, 202)
}

function requestReview({ body, at, repo }: Call, found: PullIssue): Reply {
  const wanted = listIn(body, 'reviewers') ?? []
  if (wanted.includes(found.user)) return problem(422, 'Review cannot be requested from pull request author.')
  if (wanted.some((login) => !repo.assignable.includes(login))) {
    return problem(422, 'Reviews may only be requested from collaborators. One or more of the users is not a collaborator.')
  }
  found.pull.reviewers = [...new Set([...found.pull.reviewers, ...wanted])]
  found.pull.teams = [...new Set([...found.pull.teams, ...(listIn(body, 'team_reviewers') ?? [])])]
  return ok(pullInList(at, repo, found), 201)
}

function merge({ body, repo, state }: Call, found: PullIssue): Reply {
  const { pull: given } = found
  if (found.state !== 'open' || given.draft) return problem(405, 'Pull Request is not mergeable')
  if (typeof body.sha === 'string' && body.sha !== given.headSha) {
    return problem(409, 'Head branch was modified. Review and try the merge again.')
  }
  const { git } = repo
  const files = git.filesOf(git.commits.get(given.baseSha)?.tree ?? '')
  const [from, to] = [
    git.filesOf(mergeBase(repo, given.baseSha, given.headSha).tree),
    git.filesOf(git.commits.get(given.headSha)?.tree ?? ''),
  ]
  for (const path of from.keys()) if (!to.has(path)) files.delete(path)
  for (const [path, entry] of to) if (from.get(path)?.sha !== entry.sha) files.set(path, entry)
  const made = git.writeCommit({
    ...{ tree: git.treeOf(files), parents: [given.baseSha, given.headSha], author: state.login, date: timeOf(state) },
    message: textIn(body, 'commit_title') ?? `Merge pull request #${found.number}`,
  })
  git.heads.set(given.base, made.sha)
  Object.assign(given, { mergedAt: timeOf(state), mergedSha: made.sha })
  Object.assign(found, { state: 'closed', closedAt: timeOf(state), updatedAt: timeOf(state) })
  return ok({ sha: made.sha, merged: true, message: 'Pull Request successfully merged' })
}
