import type { CreateKeyBody } from '@countersign/core'
import { expect, test } from 'vitest'
import type { Right } from '../../packages/server/src/http/rights.ts'
import { signInWithKey } from '../testing/sign-in.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

// Who has each right, written a second time by hand. The tests walk all routes with callers of every kind.

const KEYS = {
  admin: { kind: 'person', roles: ['admin'] },
  approver: { kind: 'person', roles: ['approver'] },
  member: { kind: 'person', roles: ['member'] },
  viewer: { kind: 'person', roles: ['viewer'] },
  finance: { kind: 'person', roles: ['finance'] },
  roleless: { kind: 'person', roles: [] },
  reads: { kind: 'person', roles: ['admin'], scopes: [] },
  proposes: { kind: 'person', roles: ['admin'], scopes: ['propose'] },
  decides: { kind: 'person', roles: ['admin'], scopes: ['decide'] },
  manages: { kind: 'person', roles: ['admin'], scopes: ['manage'] },
  agent: { kind: 'agent', person: null },
  'agent reads': { kind: 'agent', person: null, scopes: [] },
  'agent proposes': { kind: 'agent', person: null, scopes: ['propose'] },
  'agent manages': { kind: 'agent', person: null, scopes: ['manage'] },
  service: { kind: 'service', person: null },
  monitor: { kind: 'service', person: null, roles: ['monitor'] },
  portal: { kind: 'service', person: null, scopes: ['embed'], embedRoles: ['approver'] },
} as const satisfies Record<string, Partial<CreateKeyBody> | Record<string, unknown>>

type Who = keyof typeof KEYS | 'console' | 'unaccepted' | 'token'

/** Persons who may do with their key what they may do at the console. */
const WHOLE: Who[] = ['admin', 'console', 'approver', 'member', 'viewer', 'finance', 'roleless']
const WITH_ROLE: Who[] = ['admin', 'console', 'approver', 'member', 'viewer', 'finance', 'reads', 'proposes', 'decides', 'manages']
const PERSONS: Who[] = [...WITH_ROLE, 'roleless', 'unaccepted', 'token']
const PROGRAMS: Who[] = ['agent', 'agent reads', 'agent proposes', 'agent manages', 'service', 'portal']
const SEE_ALL: Who[] = ['admin', 'console', 'viewer', 'reads', 'proposes', 'decides', 'manages', 'unaccepted']
const PROPOSERS: Who[] = ['admin', 'console', 'approver', 'member', 'proposes', 'agent', 'agent proposes', 'service']

const HOLDERS: Record<Right, readonly Who[]> = {
  anyone: [...PERSONS, ...PROGRAMS],
  'by-object': [...PERSONS, ...PROGRAMS],
  person: PERSONS,
  'person-with-role': [...WITH_ROLE, 'unaccepted', 'token'],
  'see-all': SEE_ALL,
  metrics: [...SEE_ALL, 'monitor'],
  propose: PROPOSERS,
  'propose-or-manage': [...PROPOSERS, 'manages'],
  decide: [...WHOLE, 'decides', 'token'],
  'decide-lasting': [...WHOLE, 'decides'],
  'list-people': [...WHOLE, 'decides', 'manages'],
  admin: ['admin', 'console', 'manages'],
  embed: ['portal'],
  agent: ['agent', 'agent reads', 'agent proposes', 'agent manages'],
}

interface Route {
  method: string
  path: string
  right: Right | undefined
}

async function routesOf(server: TestServer): Promise<Route[]> {
  const { paths } = await server.admin.get('/api/openapi.json')
  return Object.entries(paths as Record<string, Record<string, { 'x-right'?: Right }>>).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, right: operation['x-right'] })),
  )
}

type Headers = Record<string, string>

async function callersOf(server: TestServer): Promise<[Who, Headers][]> {
  const callers: [Who, Headers][] = []
  const byKey = (key: string) => ({ authorization: `Bearer ${key}` })
  for (const [who, body] of Object.entries(KEYS)) {
    callers.push([who as Who, byKey((await server.makeKey({ name: who, ...(body as Partial<CreateKeyBody>) })).key)])
  }
  const portal = server.with(callers.find(([who]) => who === 'portal')?.[1] ?? {})
  const { key } = await server.makeKey({ name: 'Ida', kind: 'person', roles: ['admin'] })
  const unaccepted = await server.admin.post('/api/keys', { name: 'Uma', kind: 'person', roles: ['admin'] })
  callers.push(
    ['console', { ...(await signInWithKey(server.url, key)), origin: server.url }],
    ['unaccepted', byKey(unaccepted.key)],
    ['token', byKey((await portal.post('/api/embed-tokens', { person: 'ana', roles: ['approver'] })).token)],
  )
  return callers
}

/** No route takes such a request, so none is executed: who has the right hears what is wrong with it. */
async function sendUnreadable({ url }: TestServer, headers: Headers, { method, path }: Route): Promise<number> {
  const body = method === 'GET' ? undefined : '{"a":'
  const answer = await fetch(`${url}${path.replaceAll(/\{\w+\}/g, 'none')}?nonsense=1`, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body }),
  })
  await answer.body?.cancel()
  return answer.status
}

test('on every route a caller without its right is refused before the request is read, and every other caller is not', async () => {
  await using server = await startTestServer({ config: {} })
  const routes = await routesOf(server)
  const callers = await callersOf(server)
  const before = await server.dump()
  const surprises: string[] = []
  const used = new Set<Right>()
  for (const route of routes) {
    const { method, path, right } = route
    if (right !== undefined) used.add(right)
    const without = await sendUnreadable(server, {}, route)
    if (without !== (right === undefined ? 400 : 401)) surprises.push(`nobody: ${method} ${path} answered ${without}`)
    const answers = await Promise.all(callers.map(async ([who, headers]) => [who, await sendUnreadable(server, headers, route)] as const))
    for (const [who, status] of answers) {
      const expected = right === undefined || HOLDERS[right].includes(who) ? 400 : 403
      if (status !== expected) surprises.push(`${who}: ${method} ${path} (${right}) answered ${status}, not ${expected}`)
    }
  }
  expect(surprises).toEqual([])
  expect(routes.length).toBeGreaterThan(120)
  // Gateways alone ask as agents, at an endpoint that stands in no document.
  expect([...used, 'agent'].sort()).toEqual(Object.keys(HOLDERS).sort())
  expect(server.errors).toEqual([])
  // When a sign-in was used last is written once a minute, which a slow machine takes for this.
  const kept = ({ api_key, audit, console_session, ...rest }: Record<string, unknown[]>) => ({
    ...rest,
    keys: api_key?.length,
    signedIn: console_session?.map((row) => ({ ...(row as object), seen_at: null })),
  })
  expect(kept(await server.dump())).toEqual(kept(before))
})
