import type { KeyScope, Principal } from '@countersign/core'
import { expect, test } from 'vitest'
import type { ApiClient } from '../testing/api-client.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

// The permissions of limited keys, written a second time by hand: the test calls every route that changes state with every set of scopes
// that an admin's or an approver's key can have.

/**
 * The objects that the requests are about. The key's person may see and change all of them, so only the key can be the reason for a
 * refusal.
 */
interface Place {
  sessionId: string
  /** A session with an executing action. */
  busyId: string
  actionId: string
  /** An action that the key's person has claimed to execute it themselves. */
  heldId: string
  requestId: string
  grantId: string
  delegationId: string
  keyId: string
  webhookId: string
  /** A key for the same person that another person made and that is not accepted. */
  unacceptedId: string
  personId: string
  /** Another person. */
  otherId: string
  /** A session of another person, with an executing action. */
  othersSessionId: string
  /** A further person, and a delegation that they gave. */
  lenderId: string
  lentId: string
}

interface Route {
  /** One of these scopes is enough. An empty list means that reading is enough, or that the server answers each part by itself. */
  takes: readonly KeyScope[]
  /** This scope is needed besides. */
  also?: KeyScope
  id?: keyof Place
  body?: (place: Place) => object
}

const POLICY = { rules: [{ name: 'all', match: {}, verdict: 'ask' }] }
const empty = () => ({})
const EVALUATION = { subject: { type: 'user', id: 'x' }, action: { name: 'call' }, resource: { type: 'tool', id: 'keyed' } }

/** Every route that changes state, in an order in which each leaves something for the next. */
const ROUTES: Record<string, Route> = {
  'POST /api/sessions': { takes: ['propose'], body: empty },
  'PATCH /api/sessions/{id}': { takes: ['propose'], id: 'sessionId', body: () => ({ title: 'Another title' }) },
  // The session has an executing action, so the server refuses the deletion and the session stays for the next key.
  'DELETE /api/sessions/{id}': { takes: ['propose'], id: 'busyId' },
  'POST /api/sessions/{id}/messages': { takes: ['propose'], id: 'sessionId', body: () => ({ content: 'hello' }) },
  'POST /api/sessions/{id}/participants': { takes: ['propose'], id: 'sessionId', body: () => ({ person: 'prn_local' }) },
  'DELETE /api/sessions/{id}/participants/{person}': { takes: ['propose'], id: 'sessionId' },
  'POST /api/chat': { takes: ['propose'], body: ({ sessionId }) => ({ sessionId, message: 'hello' }) },
  'POST /api/ai-sdk/chat': {
    takes: ['propose'],
    body: () => ({ id: 'mine', messages: [{ role: 'user', parts: [{ type: 'text', text: 'hello' }] }] }),
  },
  'POST /api/ag-ui/{agent}': {
    takes: ['propose'],
    body: () => ({ threadId: 'mine', runId: 'r', messages: [{ id: 'u', role: 'user', content: 'hello' }] }),
  },
  'POST /api/agent-requests': { takes: ['propose'], body: ({ sessionId }) => ({ sessionId, message: 'hello' }) },
  'POST /api/agent-requests/{id}/execute': { takes: ['propose'], id: 'requestId', body: empty },
  'POST /api/tools': { takes: ['propose'], body: () => ({ name: 'own', input: { type: 'object' }, effect: 'write' }) },
  // An admin removes the tools of others.
  'DELETE /api/tools/{name}': { takes: ['propose', 'manage'] },
  'POST /api/tools/{name}/accept': { takes: ['manage'], body: () => ({ hash: 'x' }) },
  'POST /api/actions': { takes: ['propose'], body: () => ({ tool: 'keyed', arguments: { what: 'x' } }) },

  'POST /api/actions/{id}/preview': { takes: ['decide'], id: 'actionId', body: empty },
  'POST /api/grants': {
    takes: ['decide'],
    body: ({ actionId }) => ({ actionId, scope: 'agent', expiresIn: 'PT1S', exact: true }),
  },
  'POST /api/actions/{id}/decision': { takes: ['decide'], id: 'actionId', body: () => ({ verdict: 'decline' }) },
  'POST /api/chat/approve': { takes: ['decide'], body: ({ actionId }) => ({ approvalId: actionId, approved: false }) },
  'POST /api/approve-tool/{id}': { takes: ['decide'], id: 'actionId', body: () => ({ approved: false }) },
  'POST /api/sessions/{id}/approve': { takes: ['decide'], id: 'sessionId', body: ({ actionId }) => ({ verdict: 'reject', actionId }) },
  'POST /api/actions/{id}/retry': { takes: ['decide'], id: 'actionId', body: empty },
  'POST /api/actions/{id}/extend': { takes: ['decide'], id: 'actionId', body: empty },
  'POST /api/actions/{id}/undo': { takes: ['decide'], id: 'actionId', body: empty },
  'POST /api/actions/{id}/resolve': { takes: ['decide'], id: 'actionId', body: () => ({ outcome: 'failed', note: 'I looked' }) },
  'POST /api/actions/{id}/verify': { takes: ['decide'], id: 'actionId', body: empty },
  'POST /api/actions/{id}/release': { takes: ['decide'], id: 'actionId', body: empty },
  'POST /api/actions/{id}/void': { takes: ['decide'], id: 'actionId', body: () => ({ note: 'done already' }) },
  'POST /api/hold/accept': { takes: ['manage'] },
  'POST /api/audit/accept': { takes: ['manage'], body: () => ({ reason: 'checked' }) },
  'POST /api/actions/{id}/claim': { takes: ['propose', 'decide'], id: 'heldId', body: empty },
  'POST /api/actions/{id}/result': { takes: ['propose', 'decide'], id: 'heldId', body: () => ({ epoch: 99, output: null }) },
  'POST /api/delegations': { takes: ['decide'], body: () => ({ to: 'prn_local', expiresIn: 'PT1S' }) },
  'DELETE /api/delegations/{id}': { takes: ['decide'], id: 'delegationId' },
  'DELETE /api/console-sessions': { takes: ['decide'] },
  'DELETE /api/console-sessions/{id}': { takes: ['decide'] },
  'DELETE /api/push-subscriptions/{id}': { takes: ['decide'] },
  'PATCH /api/preferences': { takes: ['decide'], body: () => ({ quietHours: null }) },
  'POST /api/actions/{id}/assign': { takes: ['decide'], id: 'actionId', body: ({ personId }) => ({ to: { person: personId } }) },
  'POST /api/actions/{id}/seen': { takes: ['decide'], id: 'actionId', body: () => ({ revision: 1, digest: 'x' }) },
  'POST /api/actions/{id}/snooze': { takes: ['decide'], id: 'actionId', body: () => ({ for: 'PT1H' }) },
  'DELETE /api/actions/{id}/snooze': { takes: ['decide'], id: 'actionId' },
  // Revoking a grant makes nothing easier, so an admin needs only one of the two scopes.
  'DELETE /api/grants/{id}': { takes: ['decide', 'manage'], id: 'grantId' },

  'POST /api/keys': { takes: ['manage'], body: ({ personId }) => ({ name: 'more', kind: 'person', person: personId, scopes: [] }) },
  'PATCH /api/people/{id}': { takes: ['manage'], id: 'otherId', body: () => ({ roles: [] }) },
  'POST /api/people/{id}/disable': { takes: ['manage'], id: 'otherId' },
  'POST /api/people/{id}/enable': { takes: ['manage'], id: 'otherId' },
  'POST /api/keys/{id}/accept': { takes: ['decide'], id: 'unacceptedId' },
  'DELETE /api/keys/{id}': { takes: ['manage'], id: 'keyId' },
  'POST /api/webhooks': { takes: ['manage'], body: () => ({ url: 'https://hooks.example.com', events: ['action.overdue'] }) },
  'PATCH /api/webhooks/{id}': { takes: ['manage'], id: 'webhookId', body: () => ({ description: 'x' }) },
  'POST /api/webhooks/{id}/rotate': { takes: ['manage'], id: 'webhookId', body: empty },
  'POST /api/webhooks/{id}/test': { takes: ['manage'], id: 'webhookId' },
  'POST /api/webhooks/{id}/deliveries/{deliveryId}/redeliver': { takes: ['manage'] },
  'DELETE /api/webhooks/{id}': { takes: ['manage'] },
  'PUT /api/policy': { takes: ['manage'], body: () => ({ document: POLICY, reason: 'mine' }) },
  'POST /api/policy/rollback': { takes: ['manage'], body: () => ({ version: 999, reason: 'mine' }) },
  'DELETE /api/policy/shadow': { takes: ['manage'] },
  'POST /api/actions/{id}/withdraw': { takes: ['propose'], id: 'actionId', body: empty },
  'POST /api/sessions/{id}/cancel': { takes: ['propose'], id: 'sessionId', body: empty },
  'POST /api/actions/{id}/redact': { takes: ['manage'], id: 'actionId', body: () => ({ reason: 'personal' }) },

  // MCP puts the refusal into the message; see `mcp-authority.test.ts`.
  'POST /mcp': { takes: [], body: () => ({ jsonrpc: '2.0', id: 1, method: 'ping' }) },
  'DELETE /mcp': { takes: [] },
  // A refusal is a denial in the words of the host, because many hosts run a call when they get an error; see `coding-agents.test.ts`.
  'POST /hooks/{host}': {
    takes: [],
    body: () => ({ session_id: 's', hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } }),
  },

  'POST /access/v1/evaluation': { takes: ['propose'], body: () => EVALUATION },
  'POST /access/v1/evaluations': { takes: ['propose'], body: () => ({ evaluations: [EVALUATION] }) },
  'POST /api/policy/check': { takes: [], body: () => ({ document: POLICY }) },
  'POST /api/policy/test': { takes: [], body: () => ({ call: { tool: 'keyed' } }) },
  'POST /api/actions/decisions': {
    takes: [],
    body: ({ actionId }) => ({ verdict: 'approve', items: [{ id: actionId, revision: 1, digest: 'x' }] }),
  },
}

/** Routes with which an admin acts on what belongs to others, besides what the same route takes for the key's own person. */
const OF_OTHERS: Record<string, Route> = {
  'PATCH /api/sessions/{id}': { takes: ['propose'], also: 'manage', id: 'othersSessionId', body: () => ({ title: 'Another title' }) },
  'DELETE /api/sessions/{id}': { takes: ['propose'], also: 'manage', id: 'othersSessionId' },
  'POST /api/sessions/{id}/participants': {
    takes: ['propose'],
    also: 'manage',
    id: 'othersSessionId',
    body: () => ({ person: 'prn_local' }),
  },
  'DELETE /api/sessions/{id}/participants/{person}': { takes: ['propose'], also: 'manage', id: 'othersSessionId' },
  'POST /api/delegations': {
    takes: ['decide'],
    also: 'manage',
    body: ({ lenderId }) => ({ from: lenderId, to: 'prn_local', expiresIn: 'PT1S' }),
  },
  'DELETE /api/delegations/{id}': { takes: ['decide'], also: 'manage', id: 'lentId' },
}

/** Without a console's sign-in these routes refuse every key; see `authority.more.test.ts`. */
const CONSOLES = [
  'POST /api/push-subscriptions',
  'POST /api/sign-in',
  'POST /api/sign-out',
  'POST /api/sign-in/oidc',
  'POST /api/sign-in/oidc/finish',
]

/** Only for the key of a host's service; see `embed-tokens.test.ts`. */
const SERVICES = ['POST /api/embed-tokens']

const SETS: (readonly KeyScope[] | undefined)[] = [
  undefined,
  [],
  ['propose'],
  ['decide'],
  ['manage'],
  ['propose', 'decide'],
  ['propose', 'manage'],
  ['decide', 'manage'],
  ['propose', 'decide', 'manage'],
]

const PERSONS = { admin: ['admin', 'approver'], approver: ['approver'] }

async function startBusySession(server: TestServer, client: ApiClient): Promise<string> {
  const { id: sessionId } = await client.post('/api/sessions', { agent: 'own' })
  await client.post(`/api/sessions/${sessionId}/messages`, { content: 'go' })
  await server.settle()
  const { id } = (await client.get(`/api/sessions/${sessionId}`)).pendingApprovals[0]
  await client.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  await client.post(`/api/actions/${id}/claim`, {})
  return sessionId
}

async function ask(server: TestServer, client: ApiClient & { principal: Principal }): Promise<Place> {
  const { id: sessionId } = await client.post('/api/sessions', {})
  await client.post(`/api/sessions/${sessionId}/messages`, { content: 'go' })
  await server.settle()
  const action = await client.post('/api/actions', { tool: 'keyed', arguments: { what: 'y' } })
  const remember = { scope: 'agent', expiresIn: 'PT1H', exact: true }
  await client.post(`/api/actions/${action.id}/decision`, { verdict: 'approve', remember })
  const held = await client.post('/api/actions', { tool: 'mine', arguments: {} })
  await client.post(`/api/actions/${held.id}/decision`, { verdict: 'approve' })
  await client.post(`/api/actions/${held.id}/claim`, {})
  await server.settle()
  const lender = await server.as({ name: 'lender', kind: 'person', roles: ['approver'] })
  return {
    sessionId,
    busyId: await startBusySession(server, client),
    othersSessionId: await startBusySession(server, lender),
    lenderId: lender.principal.id,
    lentId: (await lender.post('/api/delegations', { to: 'prn_local', expiresIn: 'PT1H' })).id,
    actionId: (await client.get(`/api/sessions/${sessionId}`)).pendingApprovals[0].id,
    heldId: held.id,
    requestId: (await client.post('/api/agent-requests', { sessionId, message: 'later' })).requestId,
    grantId: (await client.get('/api/grants')).items[0].id,
    delegationId: (await client.post('/api/delegations', { to: 'prn_local', expiresIn: 'PT1H' })).id,
    personId: client.principal.id,
    otherId: (await server.admin.post('/api/keys', { name: 'other', kind: 'person' })).principal.id,
    unacceptedId: (await server.admin.post('/api/keys', { name: 'x', kind: 'person', person: client.principal.id, scopes: [] })).id,
    webhookId: (await server.admin.post('/api/webhooks', { url: 'https://127.0.0.1:9/hook', events: ['action.overdue'] })).id,
    keyId: (await server.makeKey({ name: 'ends', kind: 'person', roles: [] })).id,
  }
}

test('a key does on every route what it is limited to, and what it may not do with it changes nothing', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({
    config: {
      network: { allow: ['127.0.0.1'] },
      agents: { desk: { model: 'scripted/desk.json', tools: ['*'] }, own: { model: 'scripted/own.json', tools: ['mine'] } },
      tools: {
        ...toolsOf(target),
        own: {
          prefix: false,
          // What was claimed stays so while the routes are tried, which takes a busy machine minutes.
          routes: { baseUrl: target.url, tools: { mine: { method: 'POST', path: '/mine', executor: 'client', timeoutMs: 600_000 } } },
        },
      },
    },
    scripts: {
      own: [{ calls: [{ tool: 'mine', arguments: {} }] }, { text: 'Fine.' }],
      desk: [{ calls: [{ tool: 'keyed', arguments: { what: 'x' } }] }, ...Array.from({ length: 60 }, () => ({ text: 'Fine.' }))],
    },
  })
  const { paths } = await server.admin.get('/api/openapi.json')
  const served = Object.entries(paths as Record<string, object>).flatMap(([path, operations]) =>
    Object.keys(operations).flatMap((method) => (method === 'get' ? [] : [`${method.toUpperCase()} ${path}`])),
  )
  expect([...Object.keys(ROUTES), ...CONSOLES, ...SERVICES].sort()).toEqual(served.sort())

  const surprises: string[] = []
  const cells: { route: string; does: Route; who: string; key: string; place: Place; isAllowed: boolean }[] = []
  for (const [who, roles] of Object.entries(PERSONS)) {
    const person = await server.as({ name: who, kind: 'person', roles })
    const place = await ask(server, person)
    for (const scopes of SETS) {
      const body = { name: 'limited', kind: 'person' as const, person: person.principal.id, ...(scopes && { scopes: [...scopes] }) }
      const { key } = await server.makeKey(body)
      const has = (scope: KeyScope) => scopes === undefined || scopes.includes(scope)
      const isAdmin = roles.includes('admin')
      for (const [route, does] of [...Object.entries(ROUTES), ...(isAdmin ? Object.entries(OF_OTHERS) : [])]) {
        const { takes, also } = does
        const possible = isAdmin ? takes : takes.filter((scope) => scope !== 'manage')
        const isAllowed = (takes.length === 0 || possible.some(has)) && (also === undefined || has(also))
        cells.push({ route, does, who: `${who} with ${scopes?.join('+') ?? 'all'}`, key, place, isAllowed })
      }
    }
  }

  async function check({ route, does: { id, body }, who, key, place, isAllowed }: (typeof cells)[number]): Promise<void> {
    const [method = '', path = ''] = route.split(' ')
    const hangUp = new AbortController()
    const response = await fetch(server.url + path.replace('{id}', id ? place[id] : 'xxx_none').replace('{host}', 'claude'), {
      method,
      signal: hangUp.signal,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body(place)) }),
    })
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
    const text = isStream ? '' : await response.text()
    hangUp.abort()
    const { status } = response
    if ((isAllowed && (status === 401 || status === 403 || (status === 404 && id))) || (!isAllowed && status !== 403) || status >= 500) {
      surprises.push(`${who}: ${route} of ${id ?? 'none'} answered ${status} ${text.slice(0, 200)}`)
    }
    // The server answers each item by itself and does not decide those that the key may not decide.
    if (route === 'POST /api/actions/decisions' && !/"status":(403|409|410)/.test(text)) surprises.push(`${who}: ${route} answered ${text}`)
  }

  const used = async (): Promise<Record<string, unknown>> => {
    const { api_key, ...rest } = await server.dump()
    return { ...rest, api_key: (api_key as object[]).map((row) => ({ ...row, last_used_at: null })) }
  }
  await server.settle()
  const before = await used()
  const refused = cells.filter(({ isAllowed }) => !isAllowed)
  for (const cell of refused) await check(cell)
  expect(surprises).toEqual([])
  expect(await used()).toEqual(before)

  for (const cell of cells.filter(({ isAllowed }) => isAllowed)) await check(cell)
  expect(surprises).toEqual([])
  const all = (Object.keys(ROUTES).length * Object.keys(PERSONS).length + Object.keys(OF_OTHERS).length) * SETS.length
  expect({ refused: refused.length, cells: cells.length }).toEqual({ refused: expect.toSatisfy((n: number) => n > 200), cells: all })
})
