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

/** A comment at lines of a pull request. */
export interface ReviewComment {
  id: number
  issue: number
  review: number
  path: string
  line: number
  startLine: number | null
  side: 'LEFT' | 'RIGHT'
  hunk: string
  body: string
  user: string
  commit: string
  /** The comment that begins the conversation, of a reply. */
  inReplyTo: number | null
  createdAt: string
}

export interface Job {
  id: number
  name: string
  conclusion: 'success' | 'failure' | 'skipped' | 'cancelled' | null
  log: string
}

/** A run of GitHub Actions. */
export interface Run {
  id: number
  number: number
  attempt: number
  workflow: string
  title: string
  event: string
  branch: string
  sha: string
  actor: string
  status: 'queued' | 'in_progress' | 'completed'
  conclusion: 'success' | 'failure' | 'cancelled' | null
  jobs: Job[]
  createdAt: string
}

export interface Release {
  id: number
  tag: string
  target: string
  name: string | null
  body: string | null
  draft: boolean
  prerelease: boolean
  author: string
  createdAt: string
  publishedAt: string | null
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
  /** How it merges by itself as soon as it may. */
  autoMerge?: 'merge' | 'squash' | 'rebase'
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
  reviewComments: ReviewComment[]
  runs: Run[]
  releases: Release[]
  /** Conclusions of the checks of every commit. */
  checks: { name: string; conclusion: 'success' | 'failure' | null }[]
  assignable: string[]
  git: Git
}

/** All that the stand-in knows. */
export interface State {
  /** The owner of the token. */
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
    reviewComments: [],
    runs: [],
    releases: [],
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

export type NewRun = Pick<Run, 'branch' | 'conclusion'> & Partial<Pick<Run, 'title' | 'actor'>> & { jobs: Omit<Job, 'id'>[] }

/** Adds a run of the workflow `CI` for the commit that a branch is at: one that has ended, or that is under way without a conclusion. */
export function addRun(state: State, repo: Repo, { jobs, ...rest }: NewRun): Run {
  const run: Run = {
    ...{ id: state.nextId++, number: repo.runs.length + 1, attempt: 1, workflow: 'CI', title: 'Fix the price', event: 'push' },
    ...{ sha: repo.git.heads.get(rest.branch) ?? '', actor: 'ada', createdAt: timeOf(state) },
    ...{ status: rest.conclusion === null ? ('in_progress' as const) : ('completed' as const), ...rest },
    jobs: jobs.map((job) => ({ ...job, id: state.nextId++ })),
  }
  repo.runs.push(run)
  return run
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
