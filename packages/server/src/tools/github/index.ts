import type { SourceKind } from '../source.ts'
import { openTextWork } from '../text-work/text-work.ts'
import type { ToolDraft } from '../tool-draft.ts'
import { branchWrites } from './branches.ts'
import { issueChanges } from './change-issue.ts'
import { checkGithub } from './check.ts'
import { commentWrites } from './comments.ts'
import { commitFiles } from './commit.ts'
import { createIssue } from './create-issue.ts'
import { createPullRequest } from './create-pull.ts'
import { openHub } from './hub.ts'
import { issueListChanges } from './issue-lists.ts'
import { mergePullRequest } from './merge.ts'
import { pullChanges } from './pulls.ts'
import { issueReads } from './read-issues.ts'
import { pullReads } from './read-pulls.ts'
import { repositoryReads } from './read-repository.ts'
import { type AllowList, openAllowList } from './repository.ts'
import { searches } from './search.ts'
import { GithubSection } from './section.ts'
import { type GithubGround, openGround } from './tool.ts'

export type { GithubInput } from './section.ts'

/** GitHub, through its own library. */
export const github: SourceKind<GithubSection> = {
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
        const hub = openHub({ network, token, baseUrl: baseUrl.href, allowed })
        return toolsOf(openGround({ ...options, hub }), allowed)
      },
      check: ({ network }, signal) => checkGithub(openHub({ network, token, baseUrl: baseUrl.href, allowed }), allowed, signal),
      close: async () => work[Symbol.asyncDispose](),
    }
  },
}

const toolsOf = (ground: GithubGround, allowed: AllowList): ToolDraft[] => [
  ...searches(ground, allowed),
  ...issueReads(ground),
  ...pullReads(ground),
  ...repositoryReads(ground),
  createIssue(ground),
  ...issueChanges(ground),
  ...issueListChanges(ground),
  ...commentWrites(ground),
  createPullRequest(ground),
  ...pullChanges(ground),
  mergePullRequest(ground),
  ...branchWrites(ground),
  commitFiles(ground),
]

function addressOf(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain =
    url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  return isPlain ? url : undefined
}

/** Where people look at what an API is for: `api.github.com` is for github.com, an Enterprise Server for itself. */
function webUrlOf(baseUrl: URL): URL {
  return new URL(baseUrl.origin.replace('//api.', '//'))
}
