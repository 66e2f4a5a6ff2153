import { ToolError } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { asTitle } from '@countersign/toolkit/internal'
import { z } from 'zod'
import { before } from './before.ts'
import type { GithubClient } from './client.ts'
import { Body, GithubId, Ref, Tag, Title } from './fields.ts'
import { doneWhen, findMade } from './found.ts'
import { statusOf } from './github-error.ts'
import { MARKER_SHOWN, withMarker, withoutMarker } from './marker.ts'
import { type GithubRelease, releaseResult } from './read-releases.ts'
import { repositoryOf } from './repository.ts'
import { added, changed, same, short } from './shown.ts'
import { type GithubContext, writeTool } from './tool.ts'

export const releaseWrites = (github: GithubContext): ToolDraft[] => [createRelease(github), publishRelease(github)]

interface Tagged {
  sha: string
  /** The first line of the commit message. */
  line: string
  /** False when the release will create the tag. */
  isThere: boolean
}

/** Returns the commit at a reference; undefined when the reference does not exist. */
async function commitAt(client: GithubClient, repository: string, ref: string, signal: AbortSignal) {
  try {
    const { sha, commit } = await client.look(signal, repositoryOf(repository), (rest, at) =>
      rest.repos.getCommit({ ...at, ref, per_page: 1 }),
    )
    return { sha, line: commit.message.split('\n')[0] ?? '' }
  } catch (error) {
    // GitHub answers 422 for an unknown name.
    if (statusOf(error) === 404 || statusOf(error) === 422) return undefined
    throw error
  }
}

/** A tag, and the branch or commit where it would be created. */
interface TagPlace {
  repository: string
  tag: string
  target: string
}

/** Returns the commit that a tag names, or would name when a release creates it. */
async function tagged(client: GithubClient, { repository, tag, target }: TagPlace, signal: AbortSignal): Promise<Tagged> {
  const there = await commitAt(client, repository, `tags/${tag}`, signal)
  if (there) return { ...there, isThere: true }
  const found = await commitAt(client, repository, target, signal)
  if (found === undefined) throw new ToolError('refused', `There is no ${target} in ${repository} that the tag ${tag} could be made at.`)
  return { ...found, isThere: false }
}

/** Returns the published release of a tag. */
async function releaseOf(client: GithubClient, repository: string, tag: string, signal: AbortSignal): Promise<GithubRelease | undefined> {
  try {
    return await client.look(signal, repositoryOf(repository), (rest, at) => rest.repos.getReleaseByTag({ ...at, tag }))
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw error
  }
}

const kindOf = ({ draft, prerelease }: { draft: boolean; prerelease: boolean }): string =>
  `${prerelease ? 'pre-release' : 'release'}${draft ? ', as a draft' : ', published at once'}`

const createRelease = (github: GithubContext): ToolDraft =>
  writeTool(
    github,
    z.object({
      repository: github.repository,
      tag: Tag.describe('A tag that is there, or that is made with the release'),
      target: Ref.optional().describe('Where a new tag is made: a branch or the SHA of a commit; the default branch where none is named'),
      name: Title.optional().describe('The tag where none is given'),
      body: Body.default('').describe('Markdown'),
      draft: z.boolean().default(false).describe('Only those who may write see a draft, and its tag is not made yet'),
      prerelease: z.boolean().default(false),
    }),
    {
      name: 'createRelease',
      description: 'Makes a release of a tag, published at once or as a draft. A tag that is not there is made with it.',
      describe: ({ repository, tag, draft }) => `${draft ? 'Draft' : 'Publish'} the release ${tag} of ${repository}`,
      async look({ repository, tag, target = 'HEAD', name, body, draft, prerelease }, signal) {
        const { client } = github
        const [repo, known, at] = await Promise.all([
          client.look(signal, repositoryOf(repository), (rest, place) => rest.repos.get(place)),
          releaseOf(client, repository, tag, signal),
          tagged(client, { repository, tag, target }, signal),
        ])
        if (repo.archived) throw new ToolError('refused', `${repository} is archived: nothing can be changed there.`)
        if (known) throw new ToolError('refused', `${tag} has a release already: ${known.html_url}`)
        if (at.isThere && target !== 'HEAD') {
          const wanted = await commitAt(client, repository, target, signal)
          if (wanted?.sha !== at.sha) throw new ToolError('refused', `The tag ${tag} is there already, at ${at.sha} and not at ${target}.`)
        }
        const visibility = repo.private ? 'private' : 'public'
        return {
          headline: `${draft ? 'Draft' : 'Publish'} the release ${asTitle(name ?? tag)} of ${repository} at ${short(at.sha)}`,
          fields: [
            same('repository', `${repo.full_name} (${visibility})`),
            at.isThere ? same('tag', tag) : added('new tag', tag),
            same('at', `${at.sha} ${at.line}`),
            added('kind', kindOf({ draft, prerelease })),
            added('name', name ?? tag),
            added('body', body),
            added('added to the body', MARKER_SHOWN),
          ],
          precondition: { repository: repo.full_name, visibility, sha: at.sha, isThere: at.isThere },
          version: at.sha,
        }
      },
      async execute({ repository, tag, target = 'HEAD', name = tag, body, draft, prerelease }, { idempotencyKey, signal, version }) {
        const { client } = github
        const at = await before(tagged(client, { repository, tag, target: version ?? target }, signal))
        // GitHub uses an existing tag, whatever commit is sent.
        if (version !== undefined && at.sha !== version) {
          throw new ToolError('stale', `The tag ${tag} is at ${at.sha} now and not where it was shown. Nothing was released.`)
        }
        const made = await client.write(signal, repositoryOf(repository), (rest, place) =>
          rest.repos.createRelease({
            ...{ ...place, tag_name: tag, target_commitish: at.sha, name, draft, prerelease },
            body: withMarker(body, idempotencyKey),
          }),
        )
        return releaseResult(made)
      },
      verify: ({ repository }, context) =>
        findMade<GithubRelease>(
          {
            client: github.client,
            repository,
            // GitHub sorts them by the date of their commits, not by their creation.
            order: 'oldest',
            output: releaseResult,
            list: (rest, at) => rest.repos.listReleases(at),
          },
          context,
        ),
    },
  )

const publishRelease = (github: GithubContext): ToolDraft => {
  const lookAt = (repository: string, releaseId: number, signal: AbortSignal): Promise<GithubRelease> =>
    github.client.look(signal, repositoryOf(repository), (rest, at) => rest.repos.getRelease({ ...at, release_id: releaseId }))

  return writeTool(github, z.object({ repository: github.repository, releaseId: GithubId.describe('As listReleases names it') }), {
    name: 'publishRelease',
    description: 'Publishes a release that is a draft.',
    describe: ({ repository, releaseId }) => `Publish the release ${releaseId} of ${repository}`,
    async look({ repository, releaseId }, signal) {
      const release = await lookAt(repository, releaseId, signal)
      const { tag_name: tag, name, body, draft, prerelease, target_commitish } = release
      if (!draft) throw new ToolError('refused', `The release ${tag} is published already.`)
      const at = await tagged(github.client, { repository, tag, target: target_commitish }, signal)
      const text = withoutMarker(body ?? '')
      const assets = release.assets.map((asset) => `${asset.name}, ${asset.size} bytes`).sort()
      return {
        headline: `Publish the release ${asTitle(name ?? tag)} of ${repository} at ${short(at.sha)}`,
        fields: [
          changed('state', 'draft', prerelease ? 'published as a pre-release' : 'published'),
          at.isThere ? same('tag', tag) : added('new tag', tag),
          same('at', `${at.sha} ${at.line}`),
          same('name', name ?? tag),
          same('body', text),
          same('files', assets),
        ],
        precondition: { tag, name, text, prerelease, sha: at.sha, isThere: at.isThere, assets },
        version: at.sha,
      }
    },
    async execute({ repository, releaseId }, { signal, version }) {
      const { client } = github
      const { tag_name: tag, target_commitish } = await before(lookAt(repository, releaseId, signal))
      const { sha } = await before(tagged(client, { repository, tag, target: target_commitish }, signal))
      if (version !== undefined && sha !== version) {
        throw new ToolError('stale', `The tag ${tag} would be at ${sha} now and not where it was shown. Nothing was published.`)
      }
      return releaseResult(
        await client.write(signal, repositoryOf(repository), (rest, at) =>
          rest.repos.updateRelease({ ...at, release_id: releaseId, draft: false, tag_name: tag, target_commitish: sha }),
        ),
      )
    },
    async verify({ repository, releaseId }, { signal }) {
      const release = await lookAt(repository, releaseId, signal)
      return doneWhen(!release.draft, releaseResult(release))
    },
  })
}
