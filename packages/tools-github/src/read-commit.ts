import type { JsonValue } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { z } from 'zod'
import { Page, Ref } from './fields.ts'
import { repositoryOf } from './repository.ts'
import { type GithubContext, readTool } from './tool.ts'
import { cutText, hasMore, textOf } from './views.ts'

const MAX_PATCH_CHARACTERS = 3_000
const MAX_MESSAGE = 5_000

export const getCommit = (github: GithubContext): ToolDraft =>
  readTool(github, z.object({ repository: github.repository, ref: Ref, page: Page }), {
    name: 'getCommit',
    description: 'Reads one commit with its changed files and their diffs, 100 files at a time.',
    describe: ({ repository, ref }) => `Read the commit ${ref} of ${repository}`,
    async execute({ repository, ref, page }, { signal }): Promise<JsonValue> {
      const { data, headers } = await github.client.read(signal, repositoryOf(repository), (rest, at) =>
        rest.repos.getCommit({ ...at, ref, per_page: 100, page }),
      )
      const { sha, commit, author, parents, stats, files = [], html_url: url } = data
      return {
        ...{ sha, message: textOf(commit.message, MAX_MESSAGE), author: author?.login ?? commit.author?.name ?? null },
        ...{ date: commit.author?.date ?? null, parents: parents.map((parent) => parent.sha), url },
        ...{ additions: stats?.additions ?? null, deletions: stats?.deletions ?? null },
        files: files.map((file) => ({
          ...{ path: file.filename, status: file.status, additions: file.additions, deletions: file.deletions },
          patch: cutText(file.patch, MAX_PATCH_CHARACTERS),
        })),
        moreFiles: hasMore(headers),
      }
    },
  })
