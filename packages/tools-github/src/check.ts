import { ToolError } from '@countersign/core'
import type { SourceFinding } from '@countersign/toolkit'
import type { GithubClient } from './client.ts'
import { statusOf } from './github-error.ts'
import { type AllowList, repositoryOf } from './repository.ts'

/** Checks what the token can be used for: its user, its remaining rate limit, and the repositories that it can read. */
export async function checkGithub(client: GithubClient, allowed: AllowList, signal: AbortSignal): Promise<SourceFinding[]> {
  const findings: SourceFinding[] = []
  try {
    const { data, headers } = await client.readAll(signal, (rest, sending) => rest.users.getAuthenticated({ ...sending }))
    findings.push({ level: 'ok', message: `Signed in to ${client.origin} as ${data.login}.` })
    const scopes = headers['x-oauth-scopes']
    if (typeof scopes === 'string') findings.push(scopeFinding(scopes))
  } catch (error) {
    // The token of an app's installation has no user, but it is valid.
    if (statusOf(error) !== 403) return [{ level: 'problem', message: wordsOf(error) }]
    findings.push({ level: 'ok', message: `${client.origin} takes the token. It is not a user's.` })
  }
  findings.push(await limitFinding(client, signal))
  return [...findings, ...(await repositoryFindings(client, allowed, signal))]
}

const wordsOf = (error: unknown): string => (error instanceof ToolError ? error.message : 'GitHub could not be asked.')

const scopeFinding = (scopes: string): SourceFinding =>
  scopes.split(/,\s*/).includes('repo')
    ? {
        level: 'note',
        message: `The token is a classic one with the scopes ${scopes}: it may do much. A fine-grained token can do with less.`,
      }
    : {
        level: 'note',
        message: `The token has the scopes ${scopes === '' ? 'none' : scopes}: without repo it changes public repositories at most.`,
      }

async function limitFinding(client: GithubClient, signal: AbortSignal): Promise<SourceFinding> {
  try {
    const { data } = await client.readAll(signal, (rest, sending) => rest.rateLimit.get({ ...sending }))
    const { remaining, limit, reset } = data.rate
    const level = remaining > 0 ? 'ok' : 'problem'
    return { level, message: `${remaining} of ${limit} requests are left until ${new Date(reset * 1_000).toISOString()}.` }
  } catch (error) {
    // A GitHub Enterprise Server may have no rate limits. It then answers 404.
    return { level: 'note', message: `The limit of requests is not told: ${wordsOf(error)}` }
  }
}

const MAX_CHECKED = 20

async function repositoryFindings(client: GithubClient, { written }: AllowList, signal: AbortSignal): Promise<SourceFinding[]> {
  const names = (written ?? []).filter((text) => !text.endsWith('/*')).slice(0, MAX_CHECKED)
  if (names.length === 0) return [await reachable(client, signal)]
  return Promise.all(
    names.map(async (name): Promise<SourceFinding> => {
      try {
        const { data } = await client.read(signal, repositoryOf(name), (rest, at) => rest.repos.get(at))
        if (data.archived) return { level: 'note', message: `${name} is archived: it can only be read.` }
        const mayWrite = data.permissions?.push === true
        return { level: 'ok', message: `${name} can be reached${mayWrite ? '' : ', for reading and issues'}.` }
      } catch (error) {
        return { level: 'problem', message: `${name}: ${wordsOf(error)}` }
      }
    }),
  )
}

async function reachable(client: GithubClient, signal: AbortSignal): Promise<SourceFinding> {
  try {
    const { data } = await client.readAll(signal, (rest, sending) => rest.repos.listForAuthenticatedUser({ ...sending, per_page: 100 }))
    return { level: 'ok', message: `${data.length}${data.length === 100 ? ' or more' : ''} repositories can be reached.` }
  } catch (error) {
    return { level: 'note', message: `Which repositories can be reached is not told: ${wordsOf(error)}` }
  }
}
