import type { Principal } from '@countersign/core'
import { expect, test } from 'vitest'
import { openBeside, principals } from '../../packages/server/src/store/index.ts'
import {
  has,
  KEYS,
  noOne,
  PERSONS,
  type Place,
  PROGRAMS,
  ROUTES,
  WHAT,
  WHO,
  type What,
  type Who,
  WRITES,
} from '../testing/authority-table.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

/** Headers with which programs try to impersonate another principal. */
const TRICKS: Record<string, string>[] = [
  { 'x-forwarded-user': 'prn_local', 'x-remote-user': 'admin', 'x-roles': 'admin' },
  { 'x-http-method-override': 'GET', 'x-original-url': '/api/me', 'x-principal-id': 'prn_local' },
]

async function startDesk() {
  const target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  const script = (tool: string) => [
    { calls: [{ tool, arguments: { what: 'x' } }] },
    ...Array.from({ length: 40 }, () => ({ text: 'Fine.' })),
  ]
  const server = await startTestServer({
    config: {
      agents: {
        desk: { model: 'scripted/desk.json', tools: ['*'] },
        till: { model: 'scripted/till.json', tools: ['*'] },
        talk: { model: 'scripted/talk.json' },
      },
      tools: toolsOf(target),
      policy: {
        rules: [
          { name: 'reads run', match: { effect: 'read' }, verdict: 'allow' },
          { name: 'money', match: { tool: 'unkeyed' }, verdict: 'ask', requires: { roles: ['finance'] } },
        ],
      },
    },
    scripts: { desk: script('keyed'), till: script('unkeyed'), talk: Array.from({ length: 40 }, () => ({ text: 'Fine.' })) },
  })
  return {
    server,
    target,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await target[Symbol.asyncDispose]()
    },
  }
}

type Client = Pick<TestServer['admin'], 'get' | 'post'>

/** Creates a session with a waiting action, and an agent request that has not been executed. */
async function ask(server: TestServer, client: Client, agent: string): Promise<Place> {
  const { id: sessionId } = await client.post('/api/sessions', { agent })
  await client.post(`/api/sessions/${sessionId}/messages`, { content: 'go' })
  await server.settle()
  const session = () => client.get(`/api/sessions/${sessionId}`)
  // Once, on a busy machine, nothing waited here: then this says what became of the message.
  const became = JSON.stringify([await session(), await client.get(`/api/sessions/${sessionId}/messages`), server.errors])
  await expect.poll(async () => (await session()).pendingApprovals.length, { message: became }).toBe(1)
  const { pendingApprovals } = await session()
  return { sessionId, actionId: pendingApprovals[0].id, requestId: await requestIn(client, sessionId) }
}

const requestIn = async (client: Client, sessionId: string): Promise<string> =>
  (await client.post('/api/agent-requests', { sessionId, message: 'later' })).requestId

async function askNobody(client: Client): Promise<Place> {
  const { id: sessionId } = await client.post('/api/sessions', { agent: 'talk' })
  const action = await client.post('/api/actions', { tool: 'look', arguments: { what: 'x' } })
  return { sessionId, actionId: action.id, requestId: await requestIn(client, sessionId) }
}

test('who may do what on every route: the server answers every cell as the table says', async () => {
  await using desk = await startDesk()
  const { server } = desk
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
  const headers = { nobody: {} } as Record<Who, Record<string, string>>
  const persons = {} as Record<Who, Principal>
  for (const who of WHO) {
    if (who === 'nobody') continue
    const { key, id, principal } = await server.makeKey({ name: who, person: undefined, ...KEYS[who] })
    headers[who] = bearer(key)
    persons[who] = principal
    if (who === 'revoked') await server.admin.send('DELETE', `/api/keys/${id}`)
  }
  const store = await openBeside(server.database)
  for (const who of ['agent+', 'service+'] as const) {
    const roles = ['admin', 'approver', 'viewer', 'finance']
    await store.transact(() => principals.savePrincipal({ ...persons[who], roles }, Date.now()))
  }
  await store.close()

  const bot = await server.as({ name: 'bot', kind: 'agent' })
  const shared = { routed: await ask(server, bot, 'desk'), money: await ask(server, bot, 'till'), quiet: await askNobody(bot) }
  const unknown: Place = { actionId: `act_${'0'.repeat(25)}`, sessionId: `ses_${'0'.repeat(25)}`, requestId: `run_${'0'.repeat(25)}` }
  const places = {} as Record<Who, Partial<Record<What, Place>>>
  for (const who of WHO) {
    places[who] = { ...shared, unknown }
    if (has(WRITES, who)) places[who].own = await ask(server, server.with(headers[who]), 'desk')
    if (!has(PERSONS, who)) continue
    const agent = await server.as({ name: `agent of ${who}`, kind: 'agent', person: persons[who].id })
    places[who].ofAgent = await ask(server, agent, 'desk')
  }

  const { paths } = await server.admin.get('/api/openapi.json')
  const served = Object.entries(paths as Record<string, object>).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(Object.keys(ROUTES).sort()).toEqual(served.sort())

  const surprises: string[] = []
  let cells = 0
  async function send(route: string, who: Who, place: Place, more: Record<string, string>): Promise<{ status: number; text: string }> {
    const [method = '', path = ''] = route.split(' ')
    const { about, body } = ROUTES[route] ?? {}
    const url =
      server.url +
      path
        .replace('{id}', about ? place[about] : 'xxx_none')
        .replace('{version}', '1')
        .replace('{host}', 'claude')
        .replace('{agent}', 'talk')
    const hangUp = new AbortController()
    const sent = body === undefined ? {} : { body: JSON.stringify(body(place)) }
    const response = await fetch(url, {
      method,
      signal: hangUp.signal,
      headers: { ...headers[who], ...(body && { 'content-type': 'application/json' }), ...more },
      ...sent,
    })
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
    const text = isStream ? '' : await response.text()
    if (isStream) hangUp.abort()
    return { status: response.status, text }
  }

  async function check(route: string, who: Who, what: What, more: Record<string, string>): Promise<void> {
    const { about, rule, open, probe, ends } = ROUTES[route] ?? { rule: noOne }
    const place = places[who][what]
    if (!place) return
    const wanted = (who === 'revoked' && !probe) || (who === 'nobody' && !open) ? 'unauthenticated' : rule(who, what)
    if (wanted === undefined) return
    const { status, text } = await send(route, who, place, more)
    cells++
    const got =
      status === 401 ? 'unauthenticated' : status === 403 ? 'out' : status === 404 && about ? 'hidden' : status >= 500 ? 'broken' : 'in'
    if (got !== wanted) surprises.push(`${who}: ${route} about ${what} is ${got} (${status} ${text.slice(0, 200)}), not ${wanted}`)
    if (ends && got === 'in' && what === 'own') places[who].own = await ask(server, server.with(headers[who]), 'desk')
    if (got !== 'hidden' || what === 'unknown' || !about) return
    // An object that is hidden and one that does not exist get the same bytes.
    const missing = await send(route, who, unknown, more)
    const asUnknown = about ? text.replaceAll(place[about], unknown[about]) : text
    if (missing.text !== asUnknown) surprises.push(`${who}: ${route} about ${what} tells ${text} from ${missing.text}`)
  }

  for (const route of Object.keys(ROUTES)) {
    const about = ROUTES[route]?.about
    for (const what of about ? (Object.keys(WHAT) as What[]) : (['unknown'] as const)) {
      // Callers without permission go first, so that they fail for lack of permission and not because the state has changed.
      for (const who of [...WHO].reverse()) {
        await check(route, who, what, {})
        if (has(PROGRAMS, who)) for (const trick of TRICKS) await check(route, who, what, trick)
      }
    }
  }
  expect(surprises).toEqual([])
  expect(cells).toBeGreaterThan(2_000)
  // Only the three callers who may decide have voted.
  const decided = (await server.dump()).vote as { principal_id: string }[]
  expect(new Set(decided.map(({ principal_id }) => principal_id))).toEqual(
    new Set([persons.admin.id, persons.approver.id, persons.finance.id]),
  )
})
