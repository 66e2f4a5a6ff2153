import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ACTION_ROUTES, logAt } from './actions.ts'
import { CODE_ROUTES } from './code.ts'
import { OTHER_ROUTES } from './everywhere.ts'
import { answerGraphql } from './graphql.ts'
import { ISSUE_ROUTES } from './issues.ts'
import { pageAt } from './pages.ts'
import { PULL_ROUTES } from './pulls.ts'
import { RELEASE_ROUTES } from './releases.ts'
import { REVIEW_ROUTES } from './reviews.ts'
import { missing, problem, type Reply, type Route } from './route.ts'
import type { Addresses } from './shapes.ts'
import { openState, type Repo, type State } from './state.ts'

export { addIssue, addRepo, addRun, push, type Repo, type Run, type State } from './state.ts'

export interface StandInRequest {
  method: string
  /** Below the API's address, without the query; `/graphql` for GraphQL. */
  path: string
  query: URLSearchParams
  /** Parsed JSON; undefined where there was none. */
  body: unknown
  headers: IncomingMessage['headers']
}

/** A request with its answer. */
export interface Exchange extends StandInRequest {
  status: number
  answer: unknown
}

/** `before`: the connection breaks and nothing has happened; `after`: it breaks when all has. */
export type Fault = 'before' | 'after' | Reply

export interface StandInOptions {
  /** Default: one that the system chooses. */
  port?: number
  /** The owner of the token. */
  login?: string
  token?: string
  now?: () => Date
  /** Where logs are stored. Default: the stand-in itself. */
  logsAt?: string
  /** Asked of each request. */
  fault?: (request: StandInRequest) => Fault | undefined
}

/** A GitHub that runs. */
export interface StandIn extends AsyncDisposable {
  /** For `baseUrl`. */
  readonly api: string
  /** Where its pages are. */
  readonly web: string
  readonly state: State
  /** All that was asked and answered. */
  readonly exchanges: Exchange[]
}

const API = '/api/v3'
const GRAPHQL = '/api/graphql'

const ROUTES = [
  ...OTHER_ROUTES,
  ...ISSUE_ROUTES,
  ...PULL_ROUTES,
  ...REVIEW_ROUTES,
  ...ACTION_ROUTES,
  ...RELEASE_ROUTES,
  ...CODE_ROUTES,
].map(([method, path, answer]: Route) => ({
  method,
  pattern: patternOf(path),
  answer,
}))

/** Parameters fit one part of a path; those that GitHub lets span several come encoded. */
function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
}

/** Starts a stand-in for GitHub on the loopback: it keeps what it is told and answers in the shapes of GitHub's own description. */
export async function startStandIn({
  port = 0,
  login = 'countersign-bot',
  token = 'standin-token',
  now,
  logsAt,
  fault,
}: StandInOptions = {}): Promise<StandIn> {
  const state = openState(login, now)
  const exchanges: Exchange[] = []
  const server = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy())
  })
  // A process that only reads the configuration must not be kept alive by this server.
  server.unref()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const web = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const at: Addresses = { web, api: web + API, logs: logsAt ?? `${web}/_logs` }

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', web)
    if (url.pathname.startsWith('/_logs/')) {
      const log = logAt(state, url.pathname)
      response.writeHead(log === undefined ? 404 : 200, { 'content-type': 'text/plain' }).end(log ?? 'Not found')
      return
    }
    const isGraphql = url.pathname === GRAPHQL
    if (!isGraphql && !url.pathname.startsWith(API)) {
      const html = pageAt(state, decodeURIComponent(url.pathname))
      response.writeHead(html === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' }).end(html ?? 'Not found')
      return
    }
    let text = ''
    for await (const chunk of incoming.setEncoding('utf8')) text += chunk
    const request: StandInRequest = {
      ...{
        method: incoming.method ?? '',
        path: isGraphql ? '/graphql' : url.pathname.slice(API.length),
        query: url.searchParams,
        headers: incoming.headers,
      },
      body: text === '' ? undefined : JSON.parse(text),
    }
    const wrong = fault?.(request)
    if (wrong === 'before') {
      incoming.socket.resetAndDestroy()
      return
    }
    const reply = typeof wrong === 'object' ? wrong : answerTo(request, state, at, token)
    exchanges.push({ ...request, status: reply.status, answer: reply.body })
    if (wrong === 'after') {
      incoming.socket.resetAndDestroy()
      return
    }
    response.writeHead(reply.status, {
      ...{ 'content-type': 'application/json; charset=utf-8', 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '4990' },
      ...{ 'x-ratelimit-reset': '1800000000', ...reply.headers },
    })
    response.end(reply.body === undefined ? undefined : JSON.stringify(reply.body))
  }

  return {
    ...{ api: at.api, web, state, exchanges },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function answerTo({ method, path, query, body, headers }: StandInRequest, state: State, at: Addresses, token: string): Reply {
  const given = headers.authorization?.replace(/^(bearer|token) /i, '')
  if (given !== token) return problem(401, 'Bad credentials')
  if (path === '/graphql') return answerGraphql(state, body)
  for (const route of ROUTES) {
    const found = route.method === method ? route.pattern.exec(path) : null
    if (!found) continue
    const params = Object.fromEntries(Object.entries(found.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]))
    const object = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
    const repo = repoAt(state, params)
    if (repo === undefined && 'owner' in params) return moved(state, params, at, path) ?? missing()
    return route.answer({ state, at, params, query, body: object, repo: repo ?? NO_REPO })
  }
  return missing()
}

const NO_REPO = {} as Repo

const repoAt = ({ repos }: State, { owner = '', repo = '' }: Record<string, string>): Repo | undefined =>
  repos.find((one) => `${one.owner}/${one.name}`.toLowerCase() === `${owner}/${repo}`.toLowerCase())

/** GitHub answers for a name that a repository had with the address of its number. */
function moved({ repos }: State, { owner, repo }: Record<string, string>, { api }: Addresses, path: string): Reply | undefined {
  const found = repos.find(({ formerly }) => formerly.includes(`${owner}/${repo}`))
  if (!found) return undefined
  const location = `${api}/repositories/${found.id}${path.replace(/^\/repos\/[^/]+\/[^/]+/, '')}`
  return { ...problem(path.includes('/git/') ? 307 : 301, 'Moved Permanently', { location }) }
}
