import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { carryOut, createClient } from '../../packages/client/src/index.ts'
import type { Clock } from '../../packages/server/src/clock.ts'
import type { ConfigInput } from '../../packages/server/src/config/index.ts'
import { startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import type { ApiClient } from '../testing/api-client.ts'
import { type BrainSpeech, brainHeard, brainSays, resultsHeard } from '../testing/brain-says.ts'
import { shiftedClock } from '../testing/shifted-clock.ts'
import { call } from '../testing/talk.ts'
import { startTarget, type TargetAnswer, type TargetRequest, toolsOf } from '../testing/target.ts'
import { BOOTSTRAP_KEY, startTestServer } from '../testing/test-server.ts'

const TOKEN = 'the-token-of-the-server'
const DONE: BrainSpeech = { text: 'Done.' }

interface Options {
  says?: readonly BrainSpeech[]
  answer?: (request: TargetRequest, nth: number) => TargetAnswer
  timeoutMs?: number
  clock?: Clock
}

/** Starts an agent whose tools all have `executor: client`, and the target that the client calls. */
async function startDesk({
  says = [{ calls: [call('c', 'unkeyed', 'x')] }, DONE],
  answer = () => ({ status: 200, body: { id: 7 } }),
  timeoutMs,
  clock,
}: Options = {}) {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(answer))
  const brain = stack.use(await startReplayServer()).play(says.map(brainSays))
  const server = stack.use(
    await startTestServer({
      config: { agents: { desk: { model: `remote/${brain.baseUrl}`, tools: ['*'] } }, tools: byClient(toolsOf(target), timeoutMs) },
      environment: { TOKEN },
      ...(clock && { clock }),
    }),
  )
  const client = createClient({ baseUrl: server.url, key: BOOTSTRAP_KEY })

  /** Starts a conversation and reads up to its first action. */
  async function begin(who: ApiClient = server.admin) {
    const stream = stack.use(await who.stream('/api/chat', { body: { message: 'do x' } }))
    const { proposal } = await stream.next('action_proposed')
    return { stream, proposal, path: `/api/actions/${proposal.id}` }
  }
  async function beginApproved() {
    const begun = await begin()
    await server.admin.post(`${begun.path}/decision`, { verdict: 'approve' })
    return begun
  }
  const read = (id: string): Promise<Action> => server.admin.get(`/api/actions/${id}`)
  return { target, brain, server, client, begin, beginApproved, read, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

/** Returns the same tools for a client, with the server's own credentials beside them. */
function byClient(tools: NonNullable<ConfigInput['tools']>, timeoutMs: number | undefined): NonNullable<ConfigInput['tools']> {
  const { target } = tools
  if (!target || !('routes' in target) || !target.routes) throw new Error('the tools of a target are routes')
  const { routes } = target
  const more = { executor: 'client' as const, ...(timeoutMs !== undefined && { timeoutMs }) }
  const own = Object.entries(routes.tools).map(([name, route]) => [name, { ...route, ...more }])
  const headers = { authorization: `Bearer \${TOKEN}` }
  return { target: { ...target, routes: { ...routes, headers, tools: Object.fromEntries(own) } } }
}

const refusal = async (who: ApiClient, path: string, body: object = {}) => {
  const answer = await who.send('POST', path, { body })
  return `${answer.status} ${answer.body.code}`
}

test('the client that showed the card carries the action out after the decision, sends the result back, and the agent goes on', async () => {
  await using desk = await startDesk()
  const { stream, proposal, path } = await desk.begin()
  expect(proposal).toMatchObject({ executor: 'client', state: 'proposed' })
  const early = await desk.server.admin.send('POST', `${path}/claim`, { headers: { 'idempotency-key': 'tab' } })
  expect(early).toMatchObject({ status: 409, body: { code: 'illegal_transition', action: { state: 'proposed' } } })
  expect((await desk.server.admin.post(`${path}/decision`, { verdict: 'approve' })).state).toBe('approved')
  await desk.server.settle()
  expect(desk.target.writes).toHaveLength(0)
  expect(await desk.read(proposal.id)).toMatchObject({ state: 'approved', attempt: 0 })

  // An Idempotency-Key does not store a refusal: the same key gets the action once it can be claimed.
  const claim = await desk.server.admin.post(`${path}/claim`, undefined, { 'idempotency-key': 'tab' })
  expect(claim).toMatchObject({
    epoch: 1,
    idempotencyKey: proposal.idempotencyKey,
    request: { method: 'POST', url: `${desk.target.url}/unkeyed`, body: { what: 'x' } },
    action: { id: proposal.id, state: 'executing', attempt: 1 },
  })
  expect(JSON.stringify(claim)).not.toContain(TOKEN)
  await stream.next('action_update', (data) => data.state === 'executing')
  const result = { epoch: claim.epoch, output: { id: 7, by: 'the page' } }
  expect(await desk.server.admin.post(`${path}/result`, result)).toMatchObject({ state: 'succeeded', result: result.output })
  await stream.next('message', ({ message }) => message.content === 'Done.')
  await stream.ended()
  expect(resultsHeard(desk.brain, 1)).toEqual([[expect.any(String), result.output]])
  expect(desk.brain.requests).toHaveLength(2)
})

test('with the SDK: the request goes out once, with the key, without the server’s credentials; the link is made by the server', async () => {
  await using desk = await startDesk({ says: [{ calls: [call('c', 'keyed', 'x')] }, DONE] })
  const { stream, proposal } = await desk.beginApproved()
  const [first, second] = await Promise.allSettled([carryOut(desk.client, proposal.id), carryOut(desk.client, proposal.id)])
  const ended = [first, second].find(({ status }) => status === 'fulfilled')
  expect(ended).toMatchObject({ value: { state: 'succeeded', result: { id: 7 }, resultUrl: `${desk.target.url}/things/7` } })
  expect([first, second].find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'illegal_transition' } })
  expect(desk.target.writes).toMatchObject([
    { path: '/keyed', body: { what: 'x' }, headers: { 'idempotency-key': proposal.idempotencyKey } },
  ])
  expect(desk.target.writes[0]?.headers.authorization).toBeUndefined()
  await stream.ended()
})

test('a client reports an error as actions show it; a kind that there is not is refused with those that there are', async () => {
  await using desk = await startDesk({ says: [{ calls: [call('c', 'unkeyed', 'x')] }, DONE] })
  const { proposal, path } = await desk.beginApproved()
  const { epoch } = await desk.server.admin.post(`${path}/claim`)
  const report = (error: unknown) => desk.server.admin.send('POST', `${path}/result`, { body: { epoch, error } })
  const details = [
    { error: { kind: 'failed', message: 'Sold out.' }, detail: /^body\/error\/kind: .*"refused"\|"unreachable"\|"ambiguous"/ },
    { error: { message: 'Sold out.' }, detail: /^body\/error\/kind: / },
    { error: 'Sold out.', detail: /^body\/error: .*expected object/ },
  ]
  for (const { error, detail } of details) {
    expect(await report(error)).toMatchObject({ status: 400, body: { code: 'bad_request', detail: expect.stringMatching(detail) } })
  }
  const error = { kind: 'refused', message: 'Sold out until tomorrow.', retryable: true }
  expect(await report(error)).toMatchObject({ status: 200, body: { state: 'failed', error } })
  expect(await desk.read(proposal.id)).toMatchObject({ state: 'failed', error })
})

test('what the service refused is told to the model; a person’s next try is another attempt', async () => {
  await using desk = await startDesk({
    says: [{ calls: [call('c', 'unkeyed', 'x')] }, { text: 'It was refused.' }, { text: 'Now it worked.' }],
    answer: (_, nth) => (nth === 1 ? { status: 409, body: { detail: 'Not yet' } } : { status: 200, body: { id: 8 } }),
  })
  const { stream, proposal, path } = await desk.beginApproved()
  expect(await carryOut(desk.client, proposal.id)).toMatchObject({ state: 'failed', error: { kind: 'refused', retryable: false } })
  await stream.ended()
  expect(resultsHeard(desk.brain, 1)).toEqual([[expect.any(String), { error: expect.stringContaining('Not yet') }]])
  expect(await refusal(desk.server.admin, `${path}/retry`)).toBe('409 illegal_transition')
  expect(await refusal(desk.server.admin, `${path}/claim`)).toBe('409 illegal_transition')
  expect(await carryOut(desk.client, proposal.id, { retry: true })).toMatchObject({ state: 'succeeded', attempt: 2 })
  await desk.server.settle()
  expect(desk.brain.requests).toHaveLength(3)
  expect(new Set(desk.target.writes.map(({ headers }) => headers['idempotency-key'])).size).toBe(2)
})

test('one of several clients gets an action; the same Idempotency-Key gets the same hold; an old hold’s answer writes nothing', async () => {
  await using desk = await startDesk()
  const { proposal, path } = await desk.beginApproved()
  const { admin } = desk.server
  const ben = await desk.server.as({ name: 'Ben', kind: 'person', roles: ['approver'] })
  const claims = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      (n % 2 ? ben : admin).send('POST', `${path}/claim`, { headers: { 'idempotency-key': `tab-${n}` } }),
    ),
  )
  expect(claims.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)])
  for (const { status, body } of claims) if (status === 409) expect(body).toMatchObject({ action: { id: proposal.id, state: 'executing' } })
  const nth = claims.findIndex(({ status }) => status === 200)
  const [holder, other] = nth % 2 ? [ben, admin] : [admin, ben]
  const repeated = await holder.send('POST', `${path}/claim`, { headers: { 'idempotency-key': `tab-${nth}` } })
  expect(repeated.body).toEqual(claims[nth]?.body)

  const written = async () => {
    const { action, event, message, once } = await desk.server.dump()
    return { action, event, message, once }
  }
  const before = await written()
  expect(await refusal(other, `${path}/result`, { epoch: 1, output: 'x' })).toBe('403 forbidden')
  expect(await refusal(holder, `${path}/result`, { epoch: 2, output: 'x' })).toBe('409 illegal_transition')
  const deep = JSON.stringify({ epoch: 1, output: 0 }).replace('0}', `${'['.repeat(100)}${']'.repeat(100)}}`)
  expect((await holder.send('POST', `${path}/result`, { raw: deep })).status).toBe(400)
  expect(await written()).toEqual(before)
  const result = { epoch: 1, output: { id: 7 } }
  const settled = await holder.post(`${path}/result`, result)
  expect(settled).toMatchObject({ state: 'succeeded' })
  expect(await holder.post(`${path}/result`, result)).toEqual(settled)
})

test('who may decide and who asked may carry an action out; an agent still approves nothing', async () => {
  await using desk = await startDesk({ says: [{ calls: [call('c', 'unkeyed', 'x')] }, DONE] })
  const agent = await desk.server.as({ name: 'bot', kind: 'agent', roles: ['agent'] })
  const other = await desk.server.as({ name: 'other', kind: 'agent', roles: [] })
  const viewer = await desk.server.as({ name: 'Vera', kind: 'person', roles: ['viewer'] })
  const { proposal, path } = await desk.begin(agent)
  expect(await refusal(agent, `${path}/decision`, { verdict: 'approve' })).toBe('403 forbidden')
  await desk.server.admin.post(`${path}/decision`, { verdict: 'approve' })
  expect(await refusal(viewer, `${path}/claim`)).toBe('403 forbidden')
  expect(await refusal(other, `${path}/claim`)).toBe('404 not_found')
  expect(await refusal(agent, `${path}/claim`, { retry: true })).toBe('403 forbidden')
  expect(await refusal(agent, `${path}/result`, { epoch: 1, output: 'early' })).toBe('409 illegal_transition')
  const bot = createClient({ baseUrl: desk.server.url, key: 'not needed: the key is in its fetch', fetch: withHeaders(agent) })
  expect(await carryOut(bot, proposal.id)).toMatchObject({ state: 'succeeded' })
  expect(desk.target.writes).toHaveLength(1)
})

test('the delegate who approved an action carries it out, as long as the delegation lasts; no other delegate does', async () => {
  await using desk = await startDesk({ says: [{ calls: [call('c', 'unkeyed', 'x')] }, { calls: [call('d', 'unkeyed', 'y')] }, DONE] })
  const as = (name: string, roles: string[]) => desk.server.as({ name, kind: 'person', roles })
  const [fay, gil, del, eve] = await Promise.all([as('Fay', ['approver']), as('Gil', ['approver']), as('Del', []), as('Eve', [])])
  const lend = (from: ApiClient, to: { principal: { id: string } }) =>
    from.post('/api/delegations', { to: to.principal.id, expiresIn: 'PT1H' })
  const lent = await lend(fay, del)
  await lend(gil, eve)
  const { stream, proposal, path } = await desk.begin()
  await del.post(`${path}/decision`, { verdict: 'approve' })
  const { key } = await desk.server.makeKey({ name: 'half', kind: 'person', person: del.principal.id, scopes: [] })
  expect(await refusal(desk.server.with({ authorization: `Bearer ${key}` }), `${path}/claim`)).toBe('403 forbidden')
  expect(await refusal(eve, `${path}/claim`)).toBe('403 forbidden')
  expect(await refusal(del, `${path}/claim`, { retry: true })).toBe('403 forbidden')
  const browser = createClient({ baseUrl: desk.server.url, key: 'not needed: the key is in its fetch', fetch: withHeaders(del) })
  expect(await carryOut(browser, proposal.id)).toMatchObject({ state: 'succeeded', votes: [{ for: { id: fay.principal.id } }] })
  expect(desk.target.writes).toHaveLength(1)

  const second = (await stream.next('action_proposed', (data) => data.proposal.id !== proposal.id)).proposal
  await del.post(`/api/actions/${second.id}/decision`, { verdict: 'approve' })
  await fay.send('DELETE', `/api/delegations/${lent.id}`)
  expect(await refusal(del, `/api/actions/${second.id}/claim`)).toBe('403 forbidden')
  expect(desk.target.writes).toHaveLength(1)
})

/** Returns a fetch for the SDK that sends a caller's headers. */
const withHeaders =
  (who: ApiClient): typeof fetch =>
  async (input, init) => {
    const { pathname } = new URL(String(input))
    const headers = Object.fromEntries(new Headers(init?.headers))
    const { authorization: _, ...rest } = headers
    const answer = await who.send(init?.method ?? 'GET', pathname, { headers: rest, ...(init?.body && { raw: String(init.body) }) })
    return new Response(answer.text, { status: answer.status, headers: answer.headers })
  }

test('a client that is closed in the middle leaves an unknown outcome when its hold is over, whoever runs the server then', async () => {
  // Longer than a slow machine needs for the restart, during which it passes.
  const HOLD_MS = 600_000
  const clock = shiftedClock()
  await using desk = await startDesk({
    says: [{ calls: [call('c', 'unkeyed', 'x')] }, { text: 'Nobody knows.' }, { text: 'Now I know.' }],
    timeoutMs: HOLD_MS,
    clock,
  })
  const { proposal, path } = await desk.beginApproved()
  const { admin } = desk.server
  expect(await admin.post(`${path}/claim`)).toMatchObject({ epoch: 1 })
  await desk.server.restart(() => clock.pass(HOLD_MS))
  const lost = await desk.server.admin.get(`${path}?wait=60&until=settled`)
  expect(lost).toMatchObject({ state: 'outcome_unknown', attempt: 1, error: { kind: 'ambiguous', retryable: false } })
  await desk.server.settle()
  expect(resultsHeard(desk.brain, 1)).toEqual([[expect.any(String), { outcome_unknown: true, message: expect.any(String) }]])
  expect(await refusal(desk.server.admin, `${path}/claim`, { retry: true })).toBe('409 illegal_transition')

  // The client was asleep, not gone: its late result still counts, and the model learns it.
  expect(await desk.server.admin.post(`${path}/result`, { epoch: 1, output: { id: 7 } })).toMatchObject({ state: 'succeeded' })
  await desk.server.settle()
  expect(desk.brain.requests).toHaveLength(3)
  const { items } = await desk.server.admin.get(`/api/sessions/${proposal.sessionId}/messages`)
  expect(items).toContainEqual(
    expect.objectContaining({ kind: 'note', content: expect.stringContaining('Its client says now that it was carried out') }),
  )
  expect(brainHeard(desk.brain, 2).at(-1)?.content).toContain('Its client says now that it was carried out. Result: {"id":7}')
})

test('the model is told why an action failed when its client says so late, and why it failed again', async () => {
  const clock = shiftedClock()
  await using desk = await startDesk({
    says: [{ calls: [call('c', 'unkeyed', 'x')] }, { text: 'Nobody knows.' }, { text: 'It failed.' }, { text: 'Again.' }],
    timeoutMs: 600_000,
    clock,
  })
  const { path } = await desk.beginApproved()
  const { admin } = desk.server
  expect(await admin.post(`${path}/claim`)).toMatchObject({ epoch: 1 })
  await desk.server.restart(() => clock.pass(600_000))
  expect(await desk.server.admin.get(`${path}?wait=60&until=settled`)).toMatchObject({ state: 'outcome_unknown' })
  await desk.server.settle()
  const late = { epoch: 1, error: { kind: 'refused', message: 'The printer is out of paper.', retryable: true } }
  expect(await desk.server.admin.post(`${path}/result`, late)).toMatchObject({ state: 'failed' })
  await desk.server.settle()
  expect(brainHeard(desk.brain, 2).at(-1)?.content).toContain('Its client says now that it failed: The printer is out of paper.')
  expect(await desk.server.admin.post(`${path}/claim`, { retry: true })).toMatchObject({ epoch: 2 })
  const again = { epoch: 2, error: { kind: 'refused', message: 'Still no paper.' } }
  expect(await desk.server.admin.post(`${path}/result`, again)).toMatchObject({ state: 'failed' })
  await desk.server.settle()
  expect(brainHeard(desk.brain, 3).at(-1)?.content).toContain('was tried again and failed again: Still no paper.')
})

test('a restart leaves the hold of a client that is still at work alone', async () => {
  await using desk = await startDesk()
  const { proposal, path } = await desk.beginApproved()
  const claim = await desk.server.admin.post(`${path}/claim`)
  await desk.server.restart()
  await desk.server.settle()
  expect(await desk.read(proposal.id)).toEqual(claim.action)
  expect(await desk.server.admin.post(`${path}/result`, { epoch: 1, output: null })).toMatchObject({ state: 'succeeded', result: null })
  await desk.server.settle()
  expect(desk.brain.requests).toHaveLength(2)
})

test('a read that policy allows is the client’s at once; a request that waits for a client says so', async () => {
  await using desk = await startDesk({ says: [{ calls: [call('c', 'look', 'it')] }, DONE] })
  const { requestId } = await desk.server.admin.post('/api/agent-requests', { message: 'look' })
  const execute = `/api/agent-requests/${requestId}/execute`
  const waiting = await desk.server.admin.post(execute)
  expect(waiting).toMatchObject({ status: 'awaiting_client', pendingApprovals: [] })
  const { items } = await desk.server.admin.get('/api/actions?state=approved')
  expect(items).toMatchObject([{ tool: 'look', executor: 'client', policy: { verdict: 'allow' } }])
  expect(await carryOut(desk.client, items[0].id)).toMatchObject({ state: 'succeeded' })
  expect(await desk.server.admin.post(execute)).toMatchObject({ status: 'completed', message: 'Done.' })
})
