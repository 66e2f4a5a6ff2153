import { expect, inject, test } from 'vitest'
import type { ApiAnswer, ApiClient } from '../testing/api-client.ts'
import { openForger } from '../testing/forge-record.ts'
import { endKey, holdLock } from '../testing/hold-lock.ts'
import { startPushService } from '../testing/push-service.ts'
import { kindsOf, openPlace as openRecord, propose, rowOf, untilDegraded, untilSealed } from '../testing/record-place.ts'
import { signInWithKey } from '../testing/sign-in.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { openServerDatabase } from '../testing/test-database.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

// A request is authenticated, and its transaction waits for another one, in which the caller's right ends. Every route that changes something
// asks for the caller again, or stands here with the reason why it need not.

/** What the requests are about. None of them is carried out, so all of them find it as it was. */
type Place = Awaited<ReturnType<typeof openPlace>>

interface Change {
  path: (place: Place) => string
  body?: (place: Place) => object
  headers?: Record<string, string>
  /** True where a sign-in at the console asks, and not the key itself. */
  isAtConsole?: true
}

const DOCUMENT = { rules: [] }
const HOOK = { url: 'https://127.0.0.1:9/hook', events: ['action.overdue'] }

const CHANGES: Record<string, Change> = {
  'POST /api/webhooks': { path: () => '', body: () => HOOK },
  'PATCH /api/webhooks/{id}': { path: ({ webhook }) => webhook, body: () => ({ url: 'https://127.0.0.1:9/other' }) },
  'POST /api/webhooks/{id}/rotate': { path: ({ webhook }) => webhook, body: () => ({}) },
  'POST /api/webhooks/{id}/test': { path: ({ webhook }) => webhook },
  'POST /api/webhooks/{id}/deliveries/{deliveryId}/redeliver': { path: ({ webhook }) => webhook },
  'DELETE /api/webhooks/{id}': { path: ({ webhook }) => webhook },
  'PUT /api/policy': { path: () => '', body: () => ({ document: DOCUMENT, reason: 'gone' }), headers: { 'if-match': '"1"' } },
  'POST /api/policy/rollback': { path: () => '', body: () => ({ version: 1, reason: 'gone' }) },
  'DELETE /api/policy/shadow': { path: () => '' },
  'POST /api/keys': { path: () => '', body: () => ({ name: 'late', kind: 'agent' }) },
  'DELETE /api/keys/{id}': { path: ({ botKey }) => botKey },
  'POST /api/keys/{id}/accept': { path: ({ unaccepted }) => unaccepted },
  'PATCH /api/people/{id}': { path: ({ ben }) => ben, body: () => ({ roles: ['admin'] }) },
  'POST /api/people/{id}/disable': { path: ({ ben }) => ben },
  'POST /api/people/{id}/enable': { path: ({ ben }) => ben },
  'POST /api/tools': { path: () => '', body: () => ({ name: 'mine', input: { type: 'object' }, effect: 'write' }) },
  'DELETE /api/tools/{name}': { path: () => 'own' },
  'POST /api/tools/{name}/accept': { path: () => 'own', body: ({ changedTo }) => ({ hash: changedTo }) },
  'POST /api/delegations': { path: () => '', body: ({ ben, cy }) => ({ from: ben, to: cy, expiresIn: 'PT1H' }) },
  'DELETE /api/delegations/{id}': { path: ({ delegation }) => delegation },
  'POST /api/grants': { path: () => '', body: ({ waiting: actionId }) => ({ actionId, scope: 'agent', expiresIn: 'PT1H', exact: true }) },
  'DELETE /api/grants/{id}': { path: ({ grant }) => grant },
  'POST /api/push-subscriptions': { path: () => '', body: ({ browser }) => browser, isAtConsole: true },
  'POST /api/actions/{id}/decision': { path: ({ waiting }) => waiting, body: () => ({ verdict: 'approve' }) },
  'POST /api/actions/{id}/extend': { path: ({ waiting }) => waiting, body: () => ({}) },
  'POST /api/actions/{id}/assign': { path: ({ waiting }) => waiting, body: ({ ben }) => ({ to: { person: ben } }) },
  'POST /api/actions/{id}/preview': { path: ({ waiting }) => waiting, body: () => ({}) },
  'POST /api/actions/{id}/redact': { path: ({ done }) => done, body: () => ({ reason: 'gone' }) },
  'POST /api/actions': { path: () => '', body: () => ({ tool: 'keyed', arguments: { what: 'late' } }) },
  'PATCH /api/sessions/{id}': { path: ({ session }) => session, body: () => ({ title: 'Another' }) },
  'DELETE /api/sessions/{id}': { path: ({ session }) => session },
  'POST /api/sessions/{id}/cancel': { path: ({ session }) => session, body: () => ({}) },
  'POST /api/sessions/{id}/participants': { path: ({ session }) => session, body: ({ ben }) => ({ person: ben }) },
  'DELETE /api/sessions/{id}/participants/{person}': { path: ({ session }) => session },
}

const LIKE_A_DECISION = 'opens its action or session as a decision does'
const LIKE_A_CALL = 'proposes as POST /api/actions does'
const LIKE_A_MESSAGE = 'opens its session as a new title does'
const OWN = 'changes nothing but what the caller is shown, or takes away a sign-in of theirs'

const NOT_ASKED: Record<string, string> = {
  'POST /api/actions/decisions': LIKE_A_DECISION,
  'POST /api/actions/{id}/retry': LIKE_A_DECISION,
  'POST /api/actions/{id}/undo': LIKE_A_DECISION,
  'POST /api/actions/{id}/resolve': LIKE_A_DECISION,
  'POST /api/actions/{id}/verify': LIKE_A_DECISION,
  'POST /api/actions/{id}/release': LIKE_A_DECISION,
  'POST /api/actions/{id}/void': LIKE_A_DECISION,
  'POST /api/actions/{id}/claim': LIKE_A_DECISION,
  'POST /api/actions/{id}/result': LIKE_A_DECISION,
  'POST /api/actions/{id}/withdraw': LIKE_A_DECISION,
  'POST /api/chat/approve': LIKE_A_DECISION,
  'POST /api/approve-tool/{id}': LIKE_A_DECISION,
  'POST /api/sessions/{id}/approve': LIKE_A_DECISION,
  'POST /api/sessions/{id}/messages': LIKE_A_MESSAGE,
  'POST /api/chat': LIKE_A_MESSAGE,
  'POST /api/ai-sdk/chat': LIKE_A_MESSAGE,
  'POST /api/ag-ui/{agent}': LIKE_A_MESSAGE,
  'POST /api/agent-requests': LIKE_A_MESSAGE,
  'POST /api/agent-requests/{id}/execute': LIKE_A_MESSAGE,
  'POST /mcp': LIKE_A_CALL,
  'DELETE /mcp': 'ends a connection',
  'POST /hooks/{host}': LIKE_A_CALL,
  'POST /access/v1/evaluation': LIKE_A_CALL,
  'POST /access/v1/evaluations': LIKE_A_CALL,
  'POST /api/sessions': 'an empty session of one’s own: whatever is said in it is asked for',
  'POST /api/policy/check': 'changes nothing',
  'POST /api/policy/test': 'changes nothing',
  'POST /api/embed-tokens': 'reads the key of the host in its transaction: see rights-races.more.test.ts',
  'POST /api/hold/accept': 'has a test of its own below',
  'POST /api/audit/accept': 'has a test of its own below',
  'POST /api/sign-in': OWN,
  'POST /api/sign-in/oidc': OWN,
  'POST /api/sign-in/oidc/finish': OWN,
  'POST /api/sign-out': OWN,
  'DELETE /api/console-sessions': OWN,
  'DELETE /api/console-sessions/{id}': OWN,
  'DELETE /api/push-subscriptions/{id}': OWN,
  'PATCH /api/preferences': OWN,
  'POST /api/actions/{id}/seen': OWN,
  'POST /api/actions/{id}/snooze': OWN,
  'DELETE /api/actions/{id}/snooze': OWN,
}

async function openPlace() {
  const stack = new AsyncDisposableStack()
  const service = stack.use(await startPushService())
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const server = stack.use(
    await startTestServer({
      config: {
        network: { allow: ['127.0.0.1'] },
        agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } },
        tools: toolsOf(target),
      },
      scripts: { desk: [{ text: 'Done.' }] },
    }),
  )
  const { admin } = server
  const botKey = await server.makeKey({ name: 'bot', kind: 'agent' })
  const bot = server.with({ authorization: `Bearer ${botKey.key}` })
  const propose = async (what: string): Promise<string> => (await bot.post('/api/actions', { tool: 'keyed', arguments: { what } })).id
  const person = async (name: string) => (await server.makeKey({ name, kind: 'person', roles: ['approver'] })).principal.id
  const [ben, cy, waiting, done] = [await person('Ben'), await person('Cy'), await propose('waits'), await propose('done')]
  await admin.post(`/api/actions/${done}/decision`, { verdict: 'decline' })
  for (const description of ['One', 'Two']) {
    await bot.post('/api/tools', { name: 'own', description, input: { type: 'object' }, effect: 'write' })
  }
  const webhook = (await admin.post('/api/webhooks', HOOK)).id
  return {
    ...{ server, ben, cy, waiting, done, webhook, botKey: botKey.id, browser: service.subscribe() },
    deliveryId: (await admin.post(`/api/webhooks/${webhook}/test`)).id,
    changedTo: (await admin.get('/api/tools/own')).change.hash,
    delegation: (await admin.post('/api/delegations', { from: ben, to: cy, expiresIn: 'PT1H' })).id,
    grant: (await admin.post('/api/grants', { actionId: waiting, scope: 'agent', expiresIn: 'PT1H', exact: true })).id,
    session: (await admin.post('/api/sessions', {})).id,
    unaccepted: '',
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

test('every route that changes something asks for the caller again in its transaction, or need not for a reason', async () => {
  await using server = await startTestServer({ config: {} })
  const { paths } = await server.admin.get('/api/openapi.json')
  const served = Object.entries(paths as Record<string, object>).flatMap(([path, operations]) =>
    Object.keys(operations).flatMap((method) => (method === 'get' ? [] : [`${method.toUpperCase()} ${path}`])),
  )
  expect([...Object.keys(CHANGES), ...Object.keys(NOT_ASKED)].sort()).toEqual(served.sort())
})

type Meanwhile = (held: Awaited<ReturnType<typeof holdLock>>) => Promise<void>

/** Sends a request that comes to wait for rights, ends the key or the right of its caller meanwhile, and returns the status. */
async function answerTo(
  { server }: Pick<Place, 'server'>,
  meanwhile: string | Meanwhile,
  send: () => Promise<ApiAnswer>,
): Promise<number | string> {
  const held = await holdLock(server, 'rights')
  const asked = send()
  const early = await Promise.race([held.isWaitedFor().then(() => undefined), asked])
  if (early) await held.letGo()
  else if (typeof meanwhile === 'string') await endKey(held, meanwhile)
  else await meanwhile(held)
  return early ? `${early.status} without waiting` : (await asked).status
}

test.skipIf(inject('database') !== 'postgres')('an admin whose key ends while they wait to change something changes nothing', async () => {
  await using place = await openPlace()
  const { server } = place
  const answered: Record<string, unknown> = {}
  for (const [route, { path, body, headers, isAtConsole }] of Object.entries(CHANGES)) {
    const { key, id, principal } = await server.makeKey({ name: 'Ada', kind: 'person', roles: ['admin', 'approver'] })
    const unaccepted = (await server.admin.post('/api/keys', { name: 'Ada', kind: 'person', principal: principal.id })).id
    const who: ApiClient = isAtConsole
      ? server.with({ ...(await signInWithKey(server.url, key)), origin: server.url })
      : server.with({ authorization: `Bearer ${key}` })
    const [method = '', template = ''] = route.split(' ')
    const filled = template
      .replace(/\{(id|name)\}/, path({ ...place, unaccepted }))
      .replace('{deliveryId}', place.deliveryId)
      .replace('{person}', place.ben)
    const about = { ...(body && { body: body(place) }), ...(headers && { headers }) }
    answered[route] = await answerTo(place, id, () => who.send(method, filled, about))
  }
  expect(answered).toEqual(Object.fromEntries(Object.keys(CHANGES).map((route) => [route, 401])))
})

test.skipIf(inject('database') !== 'postgres')('an admin whose key ends meanwhile accepts no copy', async () => {
  await using database = await openServerDatabase()
  using folder = temporaryFolder()
  const shared = { config: {}, place: { dataDir: folder.path, environment: database.environment } }
  const before = await startTestServer(shared)
  const { key, id } = await before.makeKey({ name: 'Ada', kind: 'person', roles: ['admin'] })
  await before.stop()
  await using server = await startTestServer({ ...shared, flags: { hold: true } })
  const ada = server.with({ authorization: `Bearer ${key}` })
  expect(await answerTo({ server }, id, () => ada.send('POST', '/api/hold/accept'))).toBe(401)
  expect(await server.admin.get('/api/hold')).toMatchObject({ held: true, epoch: 1 })
})

test.skipIf(inject('database') !== 'postgres')(
  'an admin whose key ends meanwhile, or who is disabled, accepts no changed record: nothing is written, and the next admin may',
  async () => {
    await using place = await openRecord()
    const first = await place.start()
    const action = await propose(first, 'first')
    await untilSealed(first)
    await first.stop()
    {
      await using forger = await openForger(first.database)
      await forger.run("update audit set data = '{}' where id = ?", await rowOf(forger, action))
    }
    const server = await place.start()
    const found = await untilDegraded(server)
    const accept = (who: ApiClient) => () => who.send('POST', '/api/audit/accept', { body: { reason: 'gone' } })
    const ada = await server.makeKey({ name: 'Ada', kind: 'person', roles: ['admin'] })
    const bea = await server.makeKey({ name: 'Bea', kind: 'person', roles: ['admin'] })
    expect(await answerTo({ server }, ada.id, accept(server.with({ authorization: `Bearer ${ada.key}` })))).toBe(401)
    const disable: Meanwhile = async (held) => {
      await held.change('update principal set disabled_at = 1 where id = $1', [bea.principal.id])
      await held.commit()
    }
    expect(await answerTo({ server }, disable, accept(server.with({ authorization: `Bearer ${bea.key}` })))).toBe(401)
    expect(await kindsOf(server, 'record_accepted')).toEqual([])
    await expect.poll(() => server.admin.get('/readyz')).toEqual(found)
    expect((await accept(server.admin)()).status).toBe(200)
    expect(await kindsOf(server, 'record_accepted')).toHaveLength(1)
    await expect.poll(() => server.admin.get('/readyz')).toEqual({ status: 'ok' })
  },
)
