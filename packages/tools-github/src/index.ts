import type { SourceKind, ToolDraft } from '@countersign/toolkit'
import { openTextWork } from '@countersign/toolkit/internal'
import { branchWrites } from './branches.ts'
import { issueChanges } from './change-issue.ts'
import { checkGithub } from './check.ts'
import { openGithubClient } from './client.ts'
import { commentWrites } from './comments.ts'
import { commitFiles } from './commit.ts'
import { createIssue } from './create-issue.ts'
import { createPullRequest } from './create-pull.ts'
import { draftChanges } from './drafts.ts'
import { issueListChanges } from './issue-lists.ts'
import { mergePullRequest } from './merge.ts'
import { pullChanges } from './pulls.ts'
import { getCommit } from './read-commit.ts'
import { issueReads } from './read-issues.ts'
import { pullReads } from './read-pulls.ts'
import { releaseReads } from './read-releases.ts'
import { repositoryReads } from './read-repository.ts'
import { reviewReads } from './read-reviews.ts'
import { runReads } from './read-runs.ts'
import { releaseWrites } from './releases.ts'
import { type AllowList, openAllowList } from './repository.ts'
import { replyToReviewComment } from './review-replies.ts'
import { createReview } from './reviews.ts'
import { runWrites } from './runs.ts'
import { searches } from './search.ts'
import { placeSearches } from './search-places.ts'
import { GithubSection } from './section.ts'
import { githubStarter } from './starter.ts'
import { type GithubContext, openRuntime } from './tool.ts'
import { updatePullBranch } from './update-branch.ts'

export type { GithubInput } from './section.ts'
export { githubStarter } from './starter.ts'

/** GitHub as a source of tools, through its own library. */
export const github: SourceKind<GithubSection> = {
  starter: githubStarter,
  schema: GithubSection,
  open(section, { report, fillSecret, fillAddress, refuseVariables }) {
    const { repositories, defaultRepository } = section
    refuseVariables({ repositories, defaultRepository }, [])
    const { value: token, secrets } = fillSecret(section.token, ['token'])
    const baseUrl = addressOf(fillAddress(section.baseUrl, ['baseUrl']))
    const webUrl = section.webUrl === undefined ? baseUrl && webUrlOf(baseUrl) : addressOf(fillAddress(section.webUrl, ['webUrl']))
    const allowed = openAllowList(repositories)
    if (baseUrl === undefined)
      report({ path: ['baseUrl'], message: 'must be an http:// or https:// address without a name, a query or a password' })
    if (section.webUrl !== undefined && webUrl === undefined)
      report({ path: ['webUrl'], message: 'must be an http:// or https:// address' })
    if (defaultRepository !== undefined && !allowed.allows(defaultRepository)) {
      report({ path: ['defaultRepository'], message: allowed.refusal })
    }
    if (baseUrl === undefined || webUrl === undefined) return undefined
    const work = openTextWork()
    const options = { work, token, baseUrl: baseUrl.href, webOrigin: webUrl.origin, allowed, defaultRepository }
    return {
      kind: 'github',
      secrets: [...secrets, token],
      drafts({ network }) {
        const client = openGithubClient({ network, token, baseUrl: baseUrl.href, allowed })
        return toolsOf(openRuntime({ ...options, client }), allowed)
      },
      check: ({ network }, signal) => checkGithub(openGithubClient({ network, token, baseUrl: baseUrl.href, allowed }), allowed, signal),
      close: async () => work[Symbol.asyncDispose](),
    }
  },
}

const toolsOf = (github: GithubContext, allowed: AllowList): ToolDraft[] => [
  ...searches(github, allowed),
  ...placeSearches(github, allowed),
  ...issueReads(github),
  ...pullReads(github),
  ...reviewReads(github),
  ...runReads(github),
  ...repositoryReads(github),
  getCommit(github),
  ...releaseReads(github),
  createIssue(github),
  ...issueChanges(github),
  ...issueListChanges(github),
  ...commentWrites(github),
  createPullRequest(github),
  ...pullChanges(github),
  ...draftChanges(github),
  updatePullBranch(github),
  createReview(github),
  replyToReviewComment(github),
  mergePullRequest(github),
  ...branchWrites(github),
  commitFiles(github),
  ...runWrites(github),
  ...releaseWrites(github),
]

function addressOf(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain =
    url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  return isPlain ? url : undefined
}

/** Returns the web address for an API address: github.com for `api.github.com`, and the same origin for an Enterprise Server. */
function webUrlOf(baseUrl: URL): URL {
  return new URL(baseUrl.origin.replace('//api.', '//'))
}
