import { ToolError } from '@countersign/core'
import type { Network } from '@countersign/toolkit'
import { NO_CACHE } from '@countersign/toolkit/internal'
import { Octokit } from '@octokit/core'
import { restEndpointMethods } from '@octokit/plugin-rest-endpoint-methods'
import { wholeFetch } from './fetch.ts'
import { readGithubError, statusOf } from './github-error.ts'
import type { Mutation } from './graphql.ts'
import { fetchLog, type JobLog } from './job-log.ts'
import { type AllowList, nameOf, type Repository } from './repository.ts'

const GithubOctokit = Octokit.plugin(restEndpointMethods)

/** GitHub's REST endpoints, by the names of the library. */
export type Rest = InstanceType<typeof GithubOctokit>['rest']

/** The options that every request gets besides its parameters. */
export type Sending = {
  request: { signal: AbortSignal; fetch: typeof globalThis.fetch }
  headers: { 'x-github-api-version': string; 'cache-control'?: string }
}

/** The repository of a request, with its options. */
export type At = Repository & Sending

export interface Answered<T> {
  data: T
  status: number
  headers: Readonly<Record<string, unknown>>
}

type Ask<T> = (rest: Rest, at: At) => Promise<Answered<T>>

/** The GitHub client. Every request is sent once, to one origin, about an allowed repository. */
export interface GithubClient {
  readonly origin: string
  /** Reads. The redirect of a renamed repository is followed once, if the new name is allowed. */
  read<T>(signal: AbortSignal, repository: Repository, ask: Ask<T>): Promise<Answered<T>>
  /** Reads for a write. The redirect of a renamed repository is reported, not followed. */
  look<T>(signal: AbortSignal, repository: Repository, ask: Ask<T>): Promise<T>
  /** Changes something. A redirect is reported, not followed, because the decision did not cover another address. */
  write<T>(signal: AbortSignal, repository: Repository, ask: Ask<T>): Promise<T>
  /** Reads something that belongs to no repository. */
  readAll<T>(signal: AbortSignal, ask: (rest: Rest, sending: Sending) => Promise<Answered<T>>): Promise<Answered<T>>
  /** Makes a change that only GitHub's GraphQL API offers. */
  mutate(signal: AbortSignal, repository: Repository, mutation: Mutation, variables: Readonly<Record<string, string>>): Promise<void>
  /** Reads a log. GitHub redirects to its storage; that redirect is followed once, without the token. */
  readLog(signal: AbortSignal, repository: Repository, ask: Ask<unknown>): Promise<JobLog>
  /** Returns the login of the token's user; undefined when the token has no user. */
  login(signal: AbortSignal): Promise<string | undefined>
}

export interface GithubClientOptions {
  network: Network
  token: string
  baseUrl: string
  allowed: AllowList
}

const API_VERSION = '2022-11-28'
const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

/** Opens the client for GitHub. It sends no request before the first call. */
export function openGithubClient({ network, token, baseUrl, allowed }: GithubClientOptions): GithubClient {
  const { origin } = new URL(baseUrl)
  const octokit = new GithubOctokit({ auth: token, baseUrl: baseUrl.replace(/\/$/, ''), userAgent: 'countersign', log: SILENT })
  let knownLogin: string | undefined

  async function ask<T>(signal: AbortSignal, isWrite: boolean, about: string, send: (sending: Sending) => Promise<Answered<T>>) {
    let isConnected = false
    const fetch = wholeFetch(network, origin, () => {
      isConnected = true
    })
    try {
      // What a write looks at decides: a cache in between must not answer with an old state.
      const headers = { 'x-github-api-version': API_VERSION, ...(!isWrite && NO_CACHE) }
      return await send({ request: { signal, fetch }, headers })
    } catch (error) {
      throw readGithubError(error, { origin, isWrite, isConnected, signal, about })
    }
  }

  /** @throws ToolError when the repository is not allowed; then nothing is sent. */
  function about<T>(signal: AbortSignal, isWrite: boolean, repository: Repository, send: Ask<T>): Promise<Answered<T>> {
    const name = nameOf(repository)
    if (!allowed.allows(name)) throw new ToolError('refused', `${name} ${allowed.refusal}. Nothing was sent.`)
    return ask(signal, isWrite, name, (sending) => send(octokit.rest, { ...repository, ...sending }))
  }

  /** Returns the repository that a redirect leads to. @throws ToolError when GitHub does not name it, or it is not allowed. */
  async function movedTo(signal: AbortSignal, repository: Repository, { headers, status }: Answered<unknown>): Promise<Repository> {
    const name = nameOf(repository)
    const location = String(headers.location ?? '')
    const url = URL.canParse(location, origin) ? new URL(location, origin) : undefined
    const id = url?.origin === origin ? /\/repositories\/(\d{1,15})(\/|$)/.exec(url.pathname)?.[1] : undefined
    if (id === undefined) {
      const to = url === undefined ? 'nowhere' : url.origin
      throw new ToolError('refused', `GitHub answered for ${name} with a redirect to ${to} (${status}). Redirects are not followed.`)
    }
    const found = await ask(signal, false, name, (sending) => octokit.request('GET /repositories/{id}', { id, ...sending }))
    const moved: unknown = found.data?.full_name
    if (typeof moved !== 'string' || !allowed.allows(moved) || found.status >= 300) {
      throw new ToolError('refused', `${name} has moved to where it may not be used from here.`)
    }
    return { owner: moved.slice(0, moved.indexOf('/')), repo: moved.slice(moved.indexOf('/') + 1) }
  }

  async function staying<T>(signal: AbortSignal, isWrite: boolean, repository: Repository, send: Ask<T>): Promise<T> {
    const answer = await about(signal, isWrite, repository, send)
    if (!isRedirect(answer)) return answer.data
    const now = await movedTo(signal, repository, answer)
    throw new ToolError('refused', `The repository ${nameOf(repository)} is now ${nameOf(now)}. Nothing was changed: name it so.`)
  }

  return {
    origin,
    async mutate(signal, repository, { text }, variables) {
      const send: Ask<unknown> = async (_, { request, headers }) => {
        await octokit.graphql(text, { ...variables, request, headers })
        return { data: undefined, status: 200, headers: {} }
      }
      await about(signal, true, repository, send)
    },
    async readLog(signal, repository, send) {
      let answer = await about(signal, false, repository, send)
      // A renamed repository also gives a redirect, to its numeric id.
      if (isRedirect(answer) && answer.status !== 302) answer = await about(signal, false, await movedTo(signal, repository, answer), send)
      if (answer.status !== 302) throw new ToolError('refused', `GitHub names no log in ${nameOf(repository)} (${answer.status}).`)
      try {
        return await fetchLog(network, origin, String(answer.headers.location ?? ''), signal)
      } catch (error) {
        throw readGithubError(error, {
          origin: 'The storage of the log',
          isWrite: false,
          isConnected: false,
          signal,
          about: nameOf(repository),
        })
      }
    },
    async read(signal, repository, send) {
      const answer = await about(signal, false, repository, send)
      if (!isRedirect(answer)) return answer
      const again = await about(signal, false, await movedTo(signal, repository, answer), send)
      if (isRedirect(again)) throw new ToolError('refused', `GitHub answered for ${nameOf(repository)} with one redirect after another.`)
      return again
    },
    look: (signal, repository, send) => staying(signal, false, repository, send),
    write: (signal, repository, send) => staying(signal, true, repository, send),
    readAll: (signal, send) => ask(signal, false, 'GitHub', (sending) => send(octokit.rest, sending)),
    async login(signal) {
      if (knownLogin !== undefined) return knownLogin
      try {
        const { data } = await ask(signal, false, 'GitHub', (sending) => octokit.rest.users.getAuthenticated({ ...sending }))
        knownLogin = data.login
        return knownLogin
      } catch (error) {
        // The token of an app's installation has no user.
        if (statusOf(error) === 403 || statusOf(error) === 404) return undefined
        throw error
      }
    },
  }
}

const isRedirect = ({ status }: Answered<unknown>): boolean => status >= 300
