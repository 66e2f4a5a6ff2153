import type { JsonObject, JsonValue } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { z } from 'zod'
import { Limit, Page, Tag } from './fields.ts'
import { repositoryOf } from './repository.ts'
import { type GithubContext, readTool } from './tool.ts'
import { hasMore, textOf } from './views.ts'

const MAX_LISTED_TEXT = 1_000

export const releaseReads = (github: GithubContext): ToolDraft[] => [listReleases(github), getRelease(github)]

export interface GithubRelease {
  id: number
  tag_name: string
  target_commitish: string
  name: string | null
  body?: string | null
  draft: boolean
  prerelease: boolean
  published_at: string | null
  html_url: string
  author: { login: string }
  assets: { name: string; size: number }[]
}

/** Returns the part of a release that tools return. */
export const releaseResult = (release: GithubRelease): JsonObject => ({
  ...{ id: release.id, tag: release.tag_name, name: release.name ?? null, draft: release.draft, prerelease: release.prerelease },
  url: release.html_url,
})

const releaseView = (release: GithubRelease, most?: number): JsonObject => ({
  ...releaseResult(release),
  ...{ target: release.target_commitish, author: release.author.login, publishedAt: release.published_at },
  ...{ assets: release.assets.slice(0, 100).map(({ name, size }) => ({ name, size })), body: textOf(release.body, most) },
})

const listReleases = (github: GithubContext): ToolDraft =>
  readTool(github, z.object({ repository: github.repository, limit: Limit, page: Page }), {
    name: 'listReleases',
    description: 'Lists releases, newest first; drafts too where the token may change them.',
    describe: ({ repository }) => `List the releases of ${repository}`,
    async execute({ repository, limit, page }, { signal }): Promise<JsonValue> {
      const { data, headers } = await github.client.read(signal, repositoryOf(repository), (rest, at) =>
        rest.repos.listReleases({ ...at, per_page: limit, page }),
      )
      return { releases: data.map((release) => releaseView(release, MAX_LISTED_TEXT)), more: hasMore(headers) }
    },
  })

const getRelease = (github: GithubContext): ToolDraft =>
  readTool(github, z.object({ repository: github.repository, tag: Tag.optional() }), {
    name: 'getRelease',
    description: 'Reads the release of a tag; the latest one where none is named.',
    describe: ({ repository, tag }) => `Read ${tag === undefined ? 'the latest release' : `the release ${tag}`} of ${repository}`,
    async execute({ repository, tag }, { signal }): Promise<JsonValue> {
      const { data } = await github.client.read(signal, repositoryOf(repository), (rest, at) =>
        tag === undefined ? rest.repos.getLatestRelease(at) : rest.repos.getReleaseByTag({ ...at, tag }),
      )
      return releaseView(data)
    },
  })
