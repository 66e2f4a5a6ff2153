import { type JsonValue, ToolError } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { decodeText } from '@countersign/toolkit/internal'
import { z } from 'zod'
import { Limit, Page, Path, Ref } from './fields.ts'
import { repositoryOf } from './repository.ts'
import { type GithubContext, readTool } from './tool.ts'
import { commitLine, cutText, hasMore } from './views.ts'

/** Tools that read the repository: its files, branches, commits, labels, milestones and people. */
export const repositoryReads = (github: GithubContext): ToolDraft[] => [
  getRepository(github),
  getFile(github),
  listFiles(github),
  listBranches(github),
  listCommits(github),
  listLabels(github),
  listMilestones(github),
  listAssignees(github),
]

const getRepository = (github: GithubContext): ToolDraft =>
  readTool(github, z.object({ repository: github.repository }), {
    name: 'getRepository',
    description: 'Reads what a repository is: description, default branch, visibility, open issues.',
    describe: ({ repository }) => `Read the repository ${repository}`,
    async execute({ repository }, { signal }): Promise<JsonValue> {
      const { data } = await github.client.read(signal, repositoryOf(repository), (rest, at) => rest.repos.get(at))
      return {
        name: data.full_name,
        description: data.description,
        defaultBranch: data.default_branch,
        private: data.private,
        archived: data.archived,
        hasIssues: data.has_issues,
        openIssues: data.open_issues_count,
        url: data.html_url,
      }
    },
  })

const MAX_FILE_CHARACTERS = 200_000

const getFile = (github: GithubContext): ToolDraft =>
  readTool(github, z.object({ repository: github.repository, path: Path, ref: Ref.optional() }), {
    name: 'getFile',
    description: 'Reads one text file of at most 1 MB, by default from the default branch.',
    describe: ({ repository, path, ref }) => `Read ${path} of ${repository}${ref === undefined ? '' : ` at ${ref}`}`,
    async execute({ repository, path, ref }, { signal }): Promise<JsonValue> {
      const { data } = await github.client.read(signal, repositoryOf(repository), (rest, at) =>
        rest.repos.getContent({ ...at, path, ...(ref !== undefined && { ref }) }),
      )
      if (Array.isArray(data)) throw new ToolError('refused', `${path} is a folder: list its files instead.`)
      const { type, sha, size, html_url: url } = data
      if (type !== 'file' || !('content' in data)) return { path, type, sha, size, url }
      if (data.encoding !== 'base64') return { path, type, sha, size, url, note: 'The file is larger than GitHub answers in one piece.' }
      const text = decodeText(Buffer.from(data.content, 'base64'))
      if (text === undefined) return { path, type, sha, size, url, note: 'The file is not text.' }
      const isCut = text.length > MAX_FILE_CHARACTERS
      return {
        path,
        sha,
        size,
        url,
        content: isCut ? text.slice(0, MAX_FILE_CHARACTERS).toWellFormed() : text,
        ...(isCut && { cut: true }),
      }
    },
  })

const MAX_FILES = 2_000

const listFiles = (github: GithubContext): ToolDraft =>
  readTool(github, z.object({ repository: github.repository, folder: Path.optional(), ref: Ref.optional() }), {
    name: 'listFiles',
    description: 'Lists the paths of all files below a folder, by default of the whole default branch.',
    describe: ({ repository, folder }) => `List the files of ${repository}${folder === undefined ? '' : ` in ${folder}`}`,
    async execute({ repository, folder, ref = 'HEAD' }, { signal }): Promise<JsonValue> {
      const { data } = await github.client.read(signal, repositoryOf(repository), (rest, at) =>
        rest.git.getTree({ ...at, tree_sha: ref, recursive: '1' }),
      )
      const files = data.tree.filter(({ type, path }) => type === 'blob' && (folder === undefined || path.startsWith(`${folder}/`)))
      return {
        files: files.slice(0, MAX_FILES).map(({ path, size }) => ({ path, size: size ?? null })),
        complete: !data.truncated && files.length <= MAX_FILES,
      }
    },
  })

const listBranches = (github: GithubContext): ToolDraft =>
  readTool(github, z.object({ repository: github.repository, limit: Limit, page: Page }), {
    name: 'listBranches',
    description: 'Lists branches with their heads.',
    describe: ({ repository }) => `List the branches of ${repository}`,
    async execute({ repository, limit, page }, { signal }): Promise<JsonValue> {
      const { data, headers } = await github.client.read(signal, repositoryOf(repository), (rest, at) =>
        rest.repos.listBranches({ ...at, per_page: limit, page }),
      )
      const branches = data.map(({ name, commit, protected: isProtected }) => ({ name, sha: commit.sha, protected: isProtected }))
      return { branches, more: hasMore(headers) }
    },
  })

const listCommits = (github: GithubContext): ToolDraft =>
  readTool(github, z.object({ repository: github.repository, ref: Ref.optional(), path: Path.optional(), limit: Limit, page: Page }), {
    name: 'listCommits',
    description: 'Lists commits, newest first; with a path only those that changed it.',
    describe: ({ repository, ref }) => `List the commits of ${repository}${ref === undefined ? '' : ` at ${ref}`}`,
    async execute({ repository, ref, path, limit, page }, { signal }): Promise<JsonValue> {
      const { data, headers } = await github.client.read(signal, repositoryOf(repository), (rest, at) =>
        rest.repos.listCommits({
          ...at,
          per_page: limit,
          page,
          ...(ref !== undefined && { sha: ref }),
          ...(path !== undefined && { path }),
        }),
      )
      const commits = data.map(({ sha, commit, author, html_url: url }) => ({
        sha,
        line: commitLine({ sha, message: commit.message }),
        author: author?.login ?? commit.author?.name ?? null,
        date: commit.author?.date ?? null,
        url,
      }))
      return { commits, more: hasMore(headers) }
    },
  })

const listLabels = (github: GithubContext): ToolDraft =>
  readTool(github, z.object({ repository: github.repository, page: Page }), {
    name: 'listLabels',
    description: 'Lists the labels that the repository has, 100 at a time.',
    describe: ({ repository }) => `List the labels of ${repository}`,
    async execute({ repository, page }, { signal }): Promise<JsonValue> {
      const { data, headers } = await github.client.read(signal, repositoryOf(repository), (rest, at) =>
        rest.issues.listLabelsForRepo({ ...at, per_page: 100, page }),
      )
      return { labels: data.map(({ name, description }) => ({ name, description })), more: hasMore(headers) }
    },
  })

const listMilestones = (github: GithubContext): ToolDraft =>
  readTool(github, z.object({ repository: github.repository }), {
    name: 'listMilestones',
    description: 'Lists the open milestones with their numbers.',
    describe: ({ repository }) => `List the milestones of ${repository}`,
    async execute({ repository }, { signal }): Promise<JsonValue> {
      const { data, headers } = await github.client.read(signal, repositoryOf(repository), (rest, at) =>
        rest.issues.listMilestones({ ...at, per_page: 100 }),
      )
      const milestones = data.map(({ number, title, description, due_on, open_issues, closed_issues }) => ({
        ...{ number, title, description: cutText(description, 500), dueOn: due_on },
        ...{ openIssues: open_issues, closedIssues: closed_issues },
      }))
      return { milestones, more: hasMore(headers) }
    },
  })

const listAssignees = (github: GithubContext): ToolDraft =>
  readTool(github, z.object({ repository: github.repository, page: Page }), {
    name: 'listAssignees',
    description: 'Lists who can be assigned to issues and pull requests, 100 at a time.',
    describe: ({ repository }) => `List who can be assigned in ${repository}`,
    async execute({ repository, page }, { signal }): Promise<JsonValue> {
      const { data, headers } = await github.client.read(signal, repositoryOf(repository), (rest, at) =>
        rest.issues.listAssignees({ ...at, per_page: 100, page }),
      )
      return { assignees: data.map(({ login, type }) => ({ login, type })), more: hasMore(headers) }
    },
  })
