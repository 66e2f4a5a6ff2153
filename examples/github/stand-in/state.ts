import { FILE, type Git, openGit } from './git.ts'

export interface Label {
  id: number
  name: string
  description: string | null
}

export interface Comment {
  id: number
  issue: number
  body: string
  user: string
  createdAt: string
  updatedAt: string
}

export interface Review {
  id: number
  user: string
  state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED'
  body: string
  commit: string
}

export interface Pull {
  head: string
  /** Where the head was when the branch was last there. */
  headSha: string
  base: string
  baseSha: string
  draft: boolean
  mergedAt: string | null
  mergedSha: string | null
  reviewers: string[]
  teams: string[]
  reviews: Review[]
}

export interface Issue {
  number: number
  title: string
  body: string | null
  state: 'open' | 'closed'
  stateReason: string | null
  locked: boolean
  labels: string[]
  assignees: string[]
  milestone: number | null
  user: string
  createdAt: string
  updatedAt: string
  closedAt: string | null
  pull: Pull | undefined
}

export interface Milestone {
  number: number
  title: string
}

export interface Repo {
  id: number
  owner: string
  name: string
  /** Names that it had: GitHub redirects from them. */
  formerly: string[]
  private: boolean
  archived: boolean
  hasIssues: boolean
  defaultBranch: string
  labels: Label[]
  milestones: Milestone[]
  issues: Map<number, Issue>
  comments: Comment[]
  /** Conclusions of the checks of every commit. */
  checks: { name: string; conclusion: 'success' | 'failure' | null }[]
  assignable: string[]
  git: Git
}

/** All that the stand-in knows. */
export interface State {
  /** Whose the token is. */
  login: string
  repos: Repo[]
  nextId: number
  now(): Date
}

export const openState = (login: string, now: () => Date = () => new Date()): State => ({ login, repos: [], nextId: 1_000, now })

/** A time as GitHub writes it: whole seconds. */
export const timeOf = (state: State): string => `${state.now().toISOString().slice(0, 19)}Z`

export interface NewRepo {
  files: Record<string, string>
  labels?: string[]
  people?: string[]
  milestones?: string[]
}

/** Makes a repository with one commit on `main`. */
export function addRepo(state: State, fullName: string, { files, labels = [], people = [], milestones = [] }: NewRepo): Repo {
  const [owner = '', name = ''] = fullName.split('/')
  const git = openGit()
  const entries = Object.entries(files).map(([path, text]) => [path, { path, mode: FILE, sha: git.writeBlob(Buffer.from(text)) }] as const)
  const tree = git.treeOf(new Map(entries))
  const first = git.writeCommit({ tree, parents: [], message: 'Begin', author: owner, date: timeOf(state) })
  git.heads.set('main', first.sha)
  const repo: Repo = {
    id: state.nextId++,
    owner,
    name,
    formerly: [],
    private: true,
    archived: false,
    hasIssues: true,
    defaultBranch: 'main',
    labels: labels.map((label) => ({ id: state.nextId++, name: label, description: null })),
    milestones: milestones.map((title, index) => ({ number: index + 1, title })),
    issues: new Map(),
    comments: [],
    checks: [{ name: 'build', conclusion: 'success' }],
    assignable: [state.login, ...people],
    git,
  }
  state.repos.push(repo)
  return repo
}

export type NewIssue = Pick<Issue, 'title'> & Partial<Pick<Issue, 'body' | 'labels' | 'assignees' | 'milestone' | 'user' | 'pull'>>

export function addIssue(state: State, repo: Repo, { title, ...rest }: NewIssue): Issue {
  const at = timeOf(state)
  const issue: Issue = {
    number: repo.issues.size + 1,
    title,
    body: null,
    state: 'open',
    stateReason: null,
    locked: false,
    labels: [],
    assignees: [],
    milestone: null,
    user: state.login,
    createdAt: at,
    updatedAt: at,
    closedAt: null,
    pull: undefined,
    ...rest,
  }
  for (const label of issue.labels) ensureLabel(state, repo, label)
  repo.issues.set(issue.number, issue)
  return issue
}

/** GitHub makes a label that it is told of and does not have. */
export function ensureLabel(state: State, repo: Repo, name: string): Label {
  const known = repo.labels.find((label) => label.name.toLowerCase() === name.toLowerCase())
  if (known) return known
  const label = { id: state.nextId++, name, description: null }
  repo.labels.push(label)
  return label
}

/** Puts a commit on a branch, as somebody's push would. */
export function push(state: State, repo: Repo, branch: string, files: Record<string, string>, message = 'Change'): string {
  const { git } = repo
  const head = git.heads.get(branch) ?? git.heads.get(repo.defaultBranch) ?? ''
  const all = git.filesOf(git.commits.get(head)?.tree ?? '')
  for (const [path, text] of Object.entries(files)) all.set(path, { path, mode: FILE, sha: git.writeBlob(Buffer.from(text)) })
  const commit = git.writeCommit({ tree: git.treeOf(all), parents: [head], message, author: 'ada', date: timeOf(state) })
  git.heads.set(branch, commit.sha)
  return commit.sha
}
