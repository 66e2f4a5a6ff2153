import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from '@playwright/test'

/** A development server on another port of this machine. */
export interface Neighbour extends AsyncDisposable {
  readonly port: number
  /** The requests that reached it. */
  readonly seen: readonly IncomingMessage[]
}

/** Starts one that answers every request with a page. */
export async function startNeighbour(): Promise<Neighbour> {
  const seen: IncomingMessage[] = []
  const server = createServer((request, response) => {
    seen.push(request)
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>A dev server</h1>')
  }).listen(0, 'localhost')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The options of a request: a part of those that `fetch` takes. */
interface PageRequest {
  path: string
  init: { method?: string; mode?: 'no-cors'; headers?: Record<string, string>; body?: string }
}

/** The requests that a page of another origin may send to the console's server; the body is JSON where the browser lets it be. */
export const fromAnotherPort = (actionId: string): readonly PageRequest[] => {
  const json = { 'content-type': 'application/json' }
  return [
    { path: '/api/me', init: {} },
    { path: '/api/sign-in', init: { method: 'POST', headers: json, body: '{}' } },
    { path: '/api/sign-in', init: { method: 'POST', mode: 'no-cors' } },
    { path: '/api/policy', init: { mode: 'no-cors' } },
    { path: `/api/actions/${actionId}/decision`, init: { method: 'POST', headers: json, body: '{"verdict":"approve"}' } },
    { path: `/api/actions/${actionId}/decision`, init: { method: 'POST', mode: 'no-cors', body: '{"verdict":"approve"}' } },
    { path: '/api/keys', init: { method: 'POST', mode: 'no-cors', body: '{"name":"mine","kind":"person"}' } },
  ]
}

/** Sends them from an open page with all that the browser adds; answers what the page may read of each: its status, or `unreadable`. */
export const sendFrom = (page: Page, origin: string, requests: readonly PageRequest[]): Promise<(number | 'unreadable')[]> =>
  page.evaluate(
    async ([address, list]) => {
      const answers: (number | 'unreadable')[] = []
      for (const { path, init } of list) {
        const answer = await fetch(address + path, { credentials: 'include', ...init }).catch(() => undefined)
        answers.push(answer && answer.type !== 'opaque' ? answer.status : 'unreadable')
      }
      return answers
    },
    [origin, requests] as const,
  )
