import { createHash } from 'node:crypto'
import type { Commit, FileDiff } from './git.ts'
import type { Comment, Issue, Label, Milestone, Pull, Repo, Review, State } from './state.ts'

// The shapes of GitHub's answers, with every member that its description requires. `web` is where people look, `api` where programs ask.

export interface Addresses {
  api: string
  web: string
  /** Where logs are stored, which is another host at GitHub. */
  logs: string
}

export const idOf = (text: string): number => Number.parseInt(createHash('sha1').update(text).digest('hex').slice(0, 8), 16)
export const nodeId = (text: string | number): string => Buffer.from(`standin:${text}`).toString('base64url')

/** A path of files as an address has it. */
export const pathIn = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

const USER_LINKS = ['followers', 'organizations', 'repos', 'subscriptions', 'received_events']
const USER_TEMPLATES = ['events', 'following', 'gists', 'starred']

export const user = ({ api, web }: Addresses, login: string) => ({
  login,
  id: idOf(login),
  node_id: nodeId(login),
  avatar_url: `${web}/avatars/${login}`,
  gravatar_id: '',
  url: `${api}/users/${login}`,
  html_url: `${web}/${login}`,
  ...Object.fromEntries(USER_LINKS.map((name) => [`${name}_url`, `${api}/users/${login}/${name}`])),
  ...Object.fromEntries(USER_TEMPLATES.map((name) => [`${name}_url`, `${api}/users/${login}/${name}{/id}`])),
  type: login.endsWith('[bot]') ? 'Bot' : 'User',
  site_admin: false,
})

/** The user that the token is of. */
export const me = (at: Addresses, { login, repos }: State) => ({
  ...user(at, login),
  ...{ user_view_type: 'public', name: null, company: null, blog: null, location: null, email: null, hireable: null, bio: null },
  ...{ public_repos: repos.length, public_gists: 0, followers: 0, following: 0 },
  ...{ created_at: '2020-01-01T00:00:00Z', updated_at: '2020-01-01T00:00:00Z' },
})

const REPO_LINKS =
  'contributors deployments downloads events forks hooks languages merges stargazers subscribers subscription tags teams'.split(' ')
const REPO_TEMPLATES =
  'archive assignees blobs branches collaborators comments commits compare contents git_commits git_refs git_tags issue_comment issue_events issues keys labels milestones notifications pulls releases statuses trees'.split(
    ' ',
  )

export const repository = (at: Addresses, repo: Repo) => {
  const full = `${repo.owner}/${repo.name}`
  const url = `${at.api}/repos/${full}`
  const open = [...repo.issues.values()].filter(({ state }) => state === 'open').length
  return {
    ...{ id: repo.id, node_id: nodeId(repo.id), name: repo.name, full_name: full, owner: user(at, repo.owner), private: repo.private },
    ...{ html_url: `${at.web}/${full}`, description: null, fork: false, url },
    ...Object.fromEntries(REPO_LINKS.map((name) => [`${name}_url`, `${url}/${name}`])),
    ...Object.fromEntries(REPO_TEMPLATES.map((name) => [`${name}_url`, `${url}/${name}{/id}`])),
    ...{ git_url: `git:${full}.git`, ssh_url: `git@${full}.git`, clone_url: `${at.web}/${full}.git`, svn_url: `${at.web}/${full}` },
    ...{ mirror_url: null, homepage: null, language: null, license: null, visibility: repo.private ? 'private' : 'public' },
    ...{ forks: 0, forks_count: 0, stargazers_count: 0, watchers: 0, watchers_count: 0, size: 1, network_count: 0, subscribers_count: 0 },
    ...{ default_branch: repo.defaultBranch, open_issues: open, open_issues_count: open, archived: repo.archived, disabled: false },
    ...{ has_issues: repo.hasIssues, has_projects: false, has_wiki: false, has_pages: false, has_discussions: false, has_downloads: false },
    ...{ pushed_at: '2026-01-01T00:00:00Z', created_at: '2020-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' },
    permissions: { admin: false, maintain: false, push: true, triage: true, pull: true },
  }
}

export const urlOf = (at: Addresses, repo: Repo) => ({
  url: `${at.api}/repos/${repo.owner}/${repo.name}`,
  page: `${at.web}/${repo.owner}/${repo.name}`,
})

export const label = (at: Addresses, repo: Repo, { id, name, description }: Label) => ({
  ...{ id, node_id: nodeId(id), url: `${urlOf(at, repo).url}/labels/${encodeURIComponent(name)}`, name, description },
  ...{ color: 'ededed', default: false },
})

const labelsOf = (at: Addresses, repo: Repo, names: readonly string[]) =>
  names.flatMap((name) => repo.labels.filter((known) => known.name === name).map((known) => label(at, repo, known)))

export function milestone(at: Addresses, repo: Repo, { number, title }: Milestone) {
  const { url, page } = urlOf(at, repo)
  const issues = [...repo.issues.values()].filter((issue) => issue.milestone === number)
  const open = issues.filter(({ state }) => state === 'open').length
  return {
    ...{ id: repo.id * 100 + number, node_id: nodeId(`milestone${number}`), number, title, description: null, state: 'open' },
    ...{ url: `${url}/milestones/${number}`, html_url: `${page}/milestone/${number}`, labels_url: `${url}/milestones/${number}/labels` },
    ...{ creator: user(at, repo.owner), open_issues: open, closed_issues: issues.length - open, due_on: null, closed_at: null },
    ...{ created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' },
  }
}

const milestoneOf = (at: Addresses, repo: Repo, number: number | null) => {
  const known = repo.milestones.find((one) => one.number === number)
  return known ? milestone(at, repo, known) : null
}

export function issue(at: Addresses, repo: Repo, given: Issue) {
  const { url: base, page } = urlOf(at, repo)
  const url = `${base}/issues/${given.number}`
  const assignees = given.assignees.map((login) => user(at, login))
  return {
    ...{ id: repo.id * 10_000 + given.number, node_id: nodeId(`issue${given.number}`), number: given.number, url, repository_url: base },
    html_url: `${page}/${given.pull ? 'pull' : 'issues'}/${given.number}`,
    ...{ labels_url: `${url}/labels{/name}`, comments_url: `${url}/comments`, events_url: `${url}/events` },
    ...{ title: given.title, body: given.body, state: given.state, state_reason: given.stateReason, locked: given.locked },
    ...{ labels: labelsOf(at, repo, given.labels), assignees, assignee: assignees[0] ?? null },
    ...{ milestone: milestoneOf(at, repo, given.milestone), user: user(at, given.user), author_association: 'MEMBER' },
    comments: repo.comments.filter((comment) => comment.issue === given.number).length,
    ...{ created_at: given.createdAt, updated_at: given.updatedAt, closed_at: given.closedAt },
    ...(given.pull && {
      pull_request: pullLinks(at, repo, given.number),
    }),
  }
}

function pullLinks(at: Addresses, repo: Repo, number: number) {
  const { url, page } = urlOf(at, repo)
  const html = `${page}/pull/${number}`
  return { url: `${url}/pulls/${number}`, html_url: html, diff_url: `${html}.diff`, patch_url: `${html}.patch` }
}

export const comment = (at: Addresses, repo: Repo, given: Comment) => {
  const { url, page } = urlOf(at, repo)
  return {
    ...{ id: given.id, node_id: nodeId(given.id), body: given.body, user: user(at, given.user), author_association: 'MEMBER' },
    ...{ url: `${url}/issues/comments/${given.id}`, html_url: `${page}/issues/${given.issue}#issuecomment-${given.id}` },
    ...{ issue_url: `${url}/issues/${given.issue}`, created_at: given.createdAt, updated_at: given.updatedAt },
  }
}

/** A pull request as lists have it. */
export function pullInList(at: Addresses, repo: Repo, given: Issue) {
  const { pull } = given
  if (!pull) throw new Error(`#${given.number} is no pull request`)
  const { url } = urlOf(at, repo)
  const self = `${url}/pulls/${given.number}`
  const side = (ref: string, sha: string) => ({
    label: `${repo.owner}:${ref}`,
    ref,
    sha,
    user: user(at, repo.owner),
    repo: repository(at, repo),
  })
  const { labels, assignees, assignee, milestone: planned, ...rest } = issue(at, repo, given)
  const link = (href: string) => ({ href })
  const { html_url, diff_url, patch_url } = pullLinks(at, repo, given.number)
  return {
    ...{ ...rest, url: self, html_url, diff_url, patch_url, issue_url: `${url}/issues/${given.number}` },
    ...{ labels, assignees, assignee, milestone: planned, user: user(at, given.user) },
    ...{ commits_url: `${self}/commits`, review_comments_url: `${self}/comments`, review_comment_url: `${url}/pulls/comments{/number}` },
    statuses_url: `${url}/statuses/${pull.headSha}`,
    requested_reviewers: pull.reviewers.map((login) => user(at, login)),
    requested_teams: pull.teams.map((slug) => team(at, slug)),
    ...{ head: side(pull.head, pull.headSha), base: side(pull.base, pull.baseSha) },
    ...{ draft: pull.draft, merged_at: pull.mergedAt, merge_commit_sha: pull.mergedSha, auto_merge: autoMerge(at, repo, pull) },
    _links: {
      ...{ self: link(self), html: link(html_url), issue: link(`${url}/issues/${given.number}`), comments: link(rest.comments_url) },
      ...{ review_comments: link(`${self}/comments`), review_comment: link(`${url}/pulls/comments{/number}`) },
      ...{ commits: link(`${self}/commits`), statuses: link(`${url}/statuses/${pull.headSha}`) },
    },
  }
}

const autoMerge = (at: Addresses, repo: Repo, { autoMerge: method }: Pull) =>
  method === undefined ? null : { enabled_by: user(at, repo.owner), merge_method: method, commit_title: 'Merge', commit_message: '' }

const team = ({ api, web }: Addresses, slug: string) => ({
  ...{ id: idOf(slug), node_id: nodeId(slug), name: slug, slug, description: null, permission: 'push', type: 'organization' },
  ...{ organization_id: 1, url: `${api}/teams/${slug}`, html_url: `${web}/teams/${slug}` },
  ...{ members_url: `${api}/teams/${slug}/members{/member}`, repositories_url: `${api}/teams/${slug}/repos`, parent: null },
})

/** A pull request by itself. */
export function pull(at: Addresses, repo: Repo, given: Issue) {
  const files = given.pull ? pullDiff(repo, given.pull.baseSha, given.pull.headSha) : []
  const commits = given.pull ? commitsBetween(repo, given.pull.baseSha, given.pull.headSha) : []
  const merged = given.pull?.mergedAt != null
  return {
    ...pullInList(at, repo, given),
    ...{ merged, mergeable: merged ? null : true, mergeable_state: 'clean', merged_by: merged ? user(at, repo.owner) : null },
    ...{ comments: 0, review_comments: 0, maintainer_can_modify: false, commits: commits.length, changed_files: files.length },
    additions: files.reduce((sum, file) => sum + file.additions, 0),
    deletions: files.reduce((sum, file) => sum + file.deletions, 0),
  }
}

/** The commits that one has and the other has not, oldest first. */
export function commitsBetween({ git }: Repo, base: string, head: string): Commit[] {
  const known = new Set(git.history(base).map(({ sha }) => sha))
  return git
    .history(head)
    .filter(({ sha }) => !known.has(sha))
    .reverse()
}

/** The newest commit that both have. */
export function mergeBase({ git }: Repo, base: string, head: string): Commit {
  const known = new Set(git.history(base).map(({ sha }) => sha))
  const found = git.history(head).find(({ sha }) => known.has(sha))
  if (!found) throw new Error('the branches have nothing in common')
  return found
}

export const pullDiff = (repo: Repo, base: string, head: string): FileDiff[] =>
  repo.git.diff(mergeBase(repo, base, head).tree, repo.git.commits.get(head)?.tree ?? '')

export function file(at: Addresses, repo: Repo, { path, status, additions, deletions, patch, sha }: FileDiff) {
  const { url, page } = urlOf(at, repo)
  return {
    ...{ sha, filename: path, status, additions, deletions, changes: additions + deletions, patch },
    ...{
      blob_url: `${page}/blob/${pathIn(path)}`,
      raw_url: `${page}/raw/${pathIn(path)}`,
      contents_url: `${url}/contents/${pathIn(path)}`,
    },
  }
}

export function commit(at: Addresses, repo: Repo, { sha, tree, parents, message, author, date }: Commit) {
  const { url, page } = urlOf(at, repo)
  const who = { name: author, email: `${author}@example.com`, date }
  return {
    ...{
      sha,
      node_id: nodeId(sha),
      url: `${url}/commits/${sha}`,
      html_url: `${page}/commit/${sha}`,
      comments_url: `${url}/commits/${sha}/comments`,
    },
    ...{ author: user(at, author), committer: user(at, author) },
    commit: {
      ...{ url: `${url}/git/commits/${sha}`, author: who, committer: who, message, comment_count: 0 },
      tree: { sha: tree, url: `${url}/git/trees/${tree}` },
    },
    parents: parents.map((parent) => ({ sha: parent, url: `${url}/commits/${parent}`, html_url: `${page}/commit/${parent}` })),
  }
}

export function gitCommit(at: Addresses, repo: Repo, given: Commit) {
  const { sha, node_id, html_url, commit: inside, parents } = commit(at, repo, given)
  const { url, author, committer, message, tree } = inside
  const verification = { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null }
  return { sha, node_id, html_url, url, author, committer, message, tree, parents, verification }
}

export const ref = (at: Addresses, repo: Repo, branch: string, sha: string) => {
  const { url } = urlOf(at, repo)
  const name = `refs/heads/${branch}`
  return { ref: name, node_id: nodeId(name), url: `${url}/git/${name}`, object: { type: 'commit', sha, url: `${url}/git/commits/${sha}` } }
}

export const review = (at: Addresses, repo: Repo, number: number, given: Review) => {
  const { url, page } = urlOf(at, repo)
  const html = `${page}/pull/${number}#review-${given.id}`
  const pullUrl = `${url}/pulls/${number}`
  return {
    ...{
      id: given.id,
      node_id: nodeId(given.id),
      user: user(at, given.user),
      body: given.body,
      state: given.state,
      commit_id: given.commit,
    },
    ...{ html_url: html, pull_request_url: pullUrl, author_association: 'MEMBER', submitted_at: '2026-01-01T00:00:00Z' },
    _links: { html: { href: html }, pull_request: { href: pullUrl } },
  }
}

export const checkRun = (at: Addresses, repo: Repo, sha: string, { name, conclusion }: Repo['checks'][number]) => {
  const { url } = urlOf(at, repo)
  const id = idOf(`${sha}${name}`)
  return {
    ...{
      id,
      node_id: nodeId(id),
      head_sha: sha,
      name,
      url: `${url}/check-runs/${id}`,
      html_url: null,
      details_url: null,
      external_id: null,
    },
    ...{ status: conclusion === null ? 'in_progress' : 'completed', conclusion, started_at: null, completed_at: null, check_suite: null },
    output: { title: null, summary: null, text: null, annotations_count: 0, annotations_url: `${url}/check-runs/${id}/annotations` },
    ...{ app: null, pull_requests: [] },
  }
}
