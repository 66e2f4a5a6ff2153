import { type Action, type CreateKeyBody, ToolError } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { ConfigInput } from '../../packages/server/src/config/index.ts'
import { startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import type { ApiClient } from '../testing/api-client.ts'
import { brainHeard, brainSays, resultsHeard } from '../testing/brain-says.ts'
import { verify } from '../testing/decisions.ts'
import { fold } from '../testing/fold.ts'
import { call, startTalk } from '../testing/talk.ts'
import { startTarget, type Target, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

/** A payment whose outcome the bank can look up by the key of the attempt. */
const bankOf = ({ url }: Target, more: { idempotent?: boolean } = {}): NonNullable<ConfigInput['tools']> => ({
  bank: {
    prefix: false,
    routes: {
      baseUrl: url,
      tools: {
        pay: {
          ...{ method: 'POST', path: '/payments/{cents}', ...more },
          verify: { get: '/payments?key={idempotencyKey}', done: { state: 'paid' } },
        },
      },
    },
  },
})

/** Proposes and approves a call, and returns the settled action. */
async function runAttempt(client: ApiClient, tool: string, args: object = { what: 'x' }): Promise<Action> {
  const { id } = await client.post('/api/actions', { tool, arguments: args })
  await client.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  return client.get(`/api/actions/${id}?wait=60&until=settled`)
}

test('a cut connection is an unknown outcome: shown as such, counted in its session, told to the model, settled by a person, who tells the model', async () => {
  await using talk = await startTalk({
    says: [{ calls: [call('a', 'unkeyed', 'x')] }, { text: 'I cannot tell.' }, { text: 'It is done then.' }],
    answer: () => 'reset',
  })
  const { server, target, brain } = talk
  const { admin } = server
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const { proposal } = await stream.next('action_proposed')
  await stream.next('session_status', ({ status }) => status === 'waiting_approval')
  await admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  await stream.next('message', ({ message }) => message.content === 'I cannot tell.')
  await stream.ended()
  const unknown: Action = await admin.get(`/api/actions/${proposal.id}`)
  expect(unknown).toMatchObject({ state: 'outcome_unknown', attempt: 1, error: { kind: 'ambiguous', retryable: false }, resolution: null })
  expect(unknown.error?.message).toMatch(/Whether it acted is not known/)
  expect((await admin.get('/api/actions?state=outcome_unknown')).items).toEqual([unknown])
  const unknownIn = async () => [
    (await admin.get(`/api/sessions/${sessionId}`)).unknownOutcomes,
    (await admin.get('/api/sessions')).items[0].unknownOutcomes,
  ]
  expect(await unknownIn()).toEqual([1, 1])
  expect(resultsHeard(brain, 1)).toEqual([['a', { outcome_unknown: true, message: expect.stringMatching(/Do not repeat it/) }]])

  using watching = await admin.stream(`/api/sessions/${sessionId}/events?after=0`)
  const body = { outcome: 'succeeded', note: '  The bank shows it, 12:04.  ', attempt: 1 }
  expect(await admin.send('POST', `/api/actions/${unknown.id}/resolve`, { body: { ...body, attempt: 2 } })).toMatchObject({
    status: 409,
    body: { code: 'illegal_transition', action: unknown },
  })
  const resolved: Action = await admin.post(`/api/actions/${unknown.id}/resolve`, body)
  expect(await unknownIn()).toEqual([0, 0])
  expect(resolved).toMatchObject({
    state: 'succeeded',
    attempt: 1,
    error: null,
    resolution: { by: { kind: 'person' }, outcome: 'succeeded', note: 'The bank shows it, 12:04.' },
  })
  const update = await watching.next('action_update', ({ state }) => state === 'succeeded')
  expect(update).toMatchObject({ proposalId: unknown.id, error: null, resolution: resolved.resolution })
  await watching.next('message', ({ message }) => message.content === 'It is done then.')
  await watching.next('done')
  const note = brainHeard(brain, 2).at(-1)?.content
  expect(note).toContain(`found that it was carried out, and says: The bank shows it, 12:04.`)
  expect(fold(watching.seen).actions.get(unknown.id)).toEqual(resolved)
  expect(target.writes).toHaveLength(1)
  expect(server.errors).toEqual([])
})

test('what a person found not done may be tried again: under the same key, and the stream tells all of it', async () => {
  await using talk = await startTalk({
    says: [{ calls: [call('a', 'unkeyed', 'x')] }, { text: 'I cannot tell.' }, { text: 'Not done.' }, { text: 'Done.' }],
    answer: (_, nth) => (nth === 1 ? 'reset' : { status: 200, body: { id: 5 } }),
  })
  const { admin } = talk.server
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const { proposal } = await stream.next('action_proposed')
  await stream.next('session_status', ({ status }) => status === 'waiting_approval')
  await admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  await stream.ended()
  using watching = await admin.stream(`/api/sessions/${sessionId}/events?after=0`)
  const path = `/api/actions/${proposal.id}`
  await admin.post(`${path}/resolve`, { outcome: 'failed', note: 'Nothing there.' })
  await watching.next('message', ({ message }) => message.content === 'Not done.')
  await watching.next('done')
  expect(await admin.post(`${path}/retry`)).toMatchObject({ state: 'executing', attempt: 2, resolution: null })
  await watching.next('message', ({ message }) => message.content === 'Done.')
  await watching.next('done')
  const action: Action = await admin.get(path)
  expect(action).toMatchObject({ state: 'succeeded', attempt: 2, result: { id: 5 }, resolution: null })
  expect(talk.target.writes.map(({ headers }) => headers['idempotency-key'])).toEqual([`${proposal.id}.1`, `${proposal.id}.1`])
  expect(fold(watching.seen).actions.get(proposal.id)).toEqual(action)
  expect(brainHeard(talk.brain, 3).at(-1)?.content).toContain('was tried again and succeeded. Result: {"id":5}')
})

/** A write whose first attempt fails, or whose answer is lost, and which is done later: then it has a result that is too large for a text. */
function largeLater(name: string, kind: 'refused' | 'ambiguous') {
  let isLater = false
  const picture = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo'.repeat(60_000) }
  const output = { content: 'x'.repeat(30_000), media: [picture] }
  const tool = defineTool({
    ...{ name, description: name, effect: 'write', input: z.object({ what: z.string() }) },
    execute: () => {
      if (!isLater) throw new ToolError(kind, 'not now', { retryable: true })
      return output
    },
    ...(kind === 'ambiguous' && { verify: () => (isLater ? { done: true, output } : { done: 'unknown' }) }),
  })
  return {
    tool,
    comes: () => {
      isLater = true
    },
  }
}

for (const [how, kind, then] of [
  ['tried again', 'refused', 'retry'],
  ['checked again', 'ambiguous', 'verify'],
] as const)
  test(`of an action that was ${how}, the model is told the result without the data of its media, and cut where it is long`, async () => {
    const { tool, comes } = largeLater('shot', kind)
    await using replays = await startReplayServer()
    const brain = replays.play([{ calls: [call('a', 'own.shot', 'x')] }, { text: 'Not done.' }, { text: 'Done.' }].map(brainSays))
    const config = { agents: { desk: { model: `remote/${brain.baseUrl}`, tools: ['*'] } }, tools: { own: { tools: [tool] } } }
    await using server = await startTestServer({ config })
    const { admin } = server
    using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
    const { proposal } = await stream.next('action_proposed')
    await admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
    await admin.get(`/api/actions/${proposal.id}?wait=60&until=settled`)
    await server.settle()
    comes()
    if (then === 'verify') await verify(server, proposal.id)
    else await admin.post(`/api/actions/${proposal.id}/retry`)
    expect(await admin.get(`/api/actions/${proposal.id}?wait=60&until=settled`)).toMatchObject({ state: 'succeeded' })
    await server.settle()
    const note = brainHeard(brain, 2).at(-1)?.content ?? ''
    expect(note).toMatch(/Result: .*shortened; the whole is in the result.*"mimeType":"image\/png","bytes":495000/)
    expect(note).not.toContain('iVBORw0KGgo')
    expect(note.length).toBeLessThan(21_000)
  })

test('a service that can be asked is asked: no payment is sent twice, whichever way its answer was lost', async () => {
  const paid = new Set<unknown>()
  let isLost = true
  await using target = await startTarget(({ method, path, headers }) => {
    if (method === 'GET') {
      const key = new URL(path, 'http://bank').searchParams.get('key')
      return isLost ? { status: 503 } : paid.has(key) ? { status: 200, body: { state: 'paid', id: 9 } } : { status: 404 }
    }
    // The payment of 13 cents is lost on its way. Every other payment arrives and its answer is lost.
    if (path !== '/payments/13') paid.add(headers['idempotency-key'])
    return path === '/payments/1' ? { status: 502 } : 'reset'
  })
  await using server = await startTestServer({ config: { tools: bankOf(target) } })
  const { admin } = server
  const unknown = await Promise.all(['1', '2', '13'].map((cents) => runAttempt(admin, 'pay', { cents })))
  for (const { id, state, error } of unknown) {
    expect([state, error?.retryable]).toEqual(['outcome_unknown', true])
    expect(await admin.post(`/api/actions/${id}/verify`)).toMatchObject({ state: 'outcome_unknown', attempt: 1 })
  }
  isLost = false
  const [first, second, third] = await Promise.all(unknown.map(({ id }) => verify(server, id)))
  const done = { state: 'succeeded', attempt: 1, result: { state: 'paid', id: 9 }, error: null }
  expect([first, second]).toMatchObject([done, done])
  // The payment may still be on its way: only a person can say that it will not arrive.
  expect(third).toMatchObject({ state: 'outcome_unknown', error: { kind: 'ambiguous', retryable: true }, checks: { ended: false } })
  expect(await admin.send('POST', `/api/actions/${first?.id}/verify`)).toMatchObject({
    status: 409,
    body: { code: 'illegal_transition', action: first },
  })
  expect(target.writes).toHaveLength(3)
  // The lookup comes at once, without a person.
  expect(await runAttempt(admin, 'pay', { cents: '3' })).toMatchObject(done)
  expect(target.writes).toHaveLength(4)
})

test('a payment that was only accepted (202) is not called done before the service shows it; without a way to look, the answer stands', async () => {
  let state = 'pending'
  await using target = await startTarget(({ method }) =>
    method === 'GET' ? { status: 200, body: { state, id: 9 } } : { status: 202, body: { message: 'In the queue', id: 9 } },
  )
  await using server = await startTestServer({ config: { tools: { ...bankOf(target), ...toolsOf(target) } } })
  const accepted = await runAttempt(server.admin, 'pay', { cents: '5' })
  expect(accepted).toMatchObject({ state: 'outcome_unknown', attempt: 1, error: { kind: 'ambiguous', retryable: true } })
  expect(accepted.error?.message).toBe(`${target.url} accepted it, to carry it out later (202): In the queue.`)
  state = 'paid'
  expect(await verify(server, accepted.id)).toMatchObject({ state: 'succeeded', attempt: 1, result: { state: 'paid', id: 9 }, error: null })
  expect(target.writes).toHaveLength(1)
  expect(await runAttempt(server.admin, 'unkeyed')).toMatchObject({ state: 'succeeded', result: { message: 'In the queue', id: 9 } })
})

test('a payment that was only accepted (202) is looked up and not sent again, also where the target honours the key', async () => {
  await using target = await startTarget(({ method }) =>
    method === 'GET' ? { status: 200, body: { state: 'paid', id: 9 } } : { status: 202 },
  )
  await using server = await startTestServer({ config: { tools: bankOf(target, { idempotent: true }) } })
  const done = await runAttempt(server.admin, 'pay', { cents: '5' })
  expect(done).toMatchObject({ state: 'succeeded', attempt: 1, result: { state: 'paid', id: 9 } })
  expect(target.writes).toHaveLength(1)
})

test('where the target honours the key, checking again sends the attempt again under it', async () => {
  await using target = await startTarget((_, nth) => (nth <= 3 ? 'reset' : { status: 200, body: { id: 1 } }))
  await using server = await startTestServer({ config: { tools: toolsOf(target) } })
  const { admin } = server
  const unknown = await runAttempt(admin, 'keyed')
  expect(unknown).toMatchObject({ state: 'outcome_unknown', attempt: 3, error: { kind: 'ambiguous', retryable: true } })
  const headers = { 'idempotency-key': 'check-1' }
  const checked = await admin.post(`/api/actions/${unknown.id}/verify`, undefined, headers)
  expect(checked).toMatchObject({ state: 'executing', attempt: 4, error: null })
  expect(await admin.get(`/api/actions/${unknown.id}?wait=60&until=settled`)).toMatchObject({ state: 'succeeded', attempt: 4 })
  expect(await admin.post(`/api/actions/${unknown.id}/verify`, undefined, headers)).toEqual(checked)
  expect(target.writes.map((write) => write.headers['idempotency-key'])).toEqual(Array(4).fill(unknown.idempotencyKey))
})

test('of two persons who settle an outcome at once one counts, the other hears who; the same again is the same answer', async () => {
  await using target = await startTarget(() => 'reset')
  await using server = await startTestServer({ config: { tools: toolsOf(target) } })
  const people = await Promise.all(['Ana', 'Ben'].map((name) => server.as({ name, kind: 'person', roles: ['approver'] })))
  for (let round = 0; round < 5; round++) {
    const { id } = await runAttempt(server.admin, 'unkeyed')
    const bodies = people.map((_, i) => ({ outcome: (i + round) % 2 === 0 ? 'succeeded' : 'failed', note: `Round ${round}` }))
    const answers = await Promise.all(people.map((who, i) => who.send('POST', `/api/actions/${id}/resolve`, { body: bodies[i] })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const winner = answers.findIndex(({ status }) => status === 200)
    const loser = answers[1 - winner]
    expect(loser?.body).toMatchObject({ code: 'illegal_transition', action: answers[winner]?.body })
    expect(loser?.body.detail).toContain(people[winner]?.principal.name)
    expect((await people[winner]?.send('POST', `/api/actions/${id}/resolve`, { body: bodies[winner] }))?.text).toBe(answers[winner]?.text)
  }
})

test('a resolution and a check take an Idempotency-Key: the same request has the same answer, another body is refused', async () => {
  await using target = await startTarget(() => 'reset')
  await using server = await startTestServer({ config: { tools: { ...toolsOf(target), ...bankOf(target) } } })
  const { admin } = server
  const { id } = await runAttempt(admin, 'unkeyed')
  const path = `/api/actions/${id}/resolve`
  const headers = { 'idempotency-key': 'k' }
  const send = (note: string) => admin.send('POST', path, { body: { outcome: 'failed', note }, headers })
  const first = await send('No.')
  await admin.post(`/api/actions/${id}/retry`)
  expect((await send('No.')).text).toBe(first.text)
  expect(await send('Yes.')).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } })
  expect(await admin.send('POST', `/api/actions/${id}/verify`, { headers: { 'idempotency-key': 'é' } })).toMatchObject({ status: 400 })
})

test('an outcome is settled with a note, from unknown only, and looked into only by a tool that can', async () => {
  await using target = await startTarget((_, nth) => (nth === 1 ? 'reset' : { status: 200, body: { id: 1 } }))
  await using server = await startTestServer({ config: { tools: toolsOf(target) } })
  const { admin } = server
  const { id } = await runAttempt(admin, 'unkeyed')
  const resolve = (body: unknown, of = id) => admin.send('POST', `/api/actions/${of}/resolve`, { body })
  for (const body of [
    {},
    { outcome: 'succeeded' },
    { outcome: 'succeeded', note: '' },
    { outcome: 'succeeded', note: ' \n ' },
    { outcome: 'cancelled', note: 'x' },
    { outcome: 'failed', note: 'x'.repeat(2_001) },
    { outcome: 'failed', note: 'x', more: 1 },
  ]) {
    expect((await resolve(body)).status, JSON.stringify(body)).toBe(400)
  }
  expect(await admin.send('POST', `/api/actions/${id}/verify`)).toMatchObject({
    status: 409,
    body: { code: 'illegal_transition', detail: expect.stringMatching(/unkeyed cannot tell/), action: { id, state: 'outcome_unknown' } },
  })
  const good = { outcome: 'failed', note: 'x' }
  expect((await resolve(good, 'act_nothing')).status).toBe(404)
  const succeeded = await runAttempt(admin, 'unkeyed')
  const waiting: Action = await admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'y' } })
  for (const action of [succeeded, waiting]) {
    const refused = { status: 409, body: { code: 'illegal_transition', action } }
    expect(await resolve(good, action.id)).toMatchObject(refused)
    expect(await admin.send('POST', `/api/actions/${action.id}/verify`)).toMatchObject(refused)
  }
})

test('only a person who may decide about an action settles its outcome or has it looked into', async () => {
  await using target = await startTarget((_, nth) => (nth === 1 ? { status: 200, body: { id: 1 } } : 'reset'))
  await using server = await startTestServer({ config: { tools: toolsOf(target) } })
  const others: CreateKeyBody[] = [
    { name: 'Bot', kind: 'agent', roles: ['agent'] },
    { name: 'Cron', kind: 'service', roles: ['agent'] },
    { name: 'Vic', kind: 'person', roles: ['viewer'] },
    { name: 'Nora', kind: 'person', roles: [] },
  ]
  for (const who of others) {
    const client = await server.as(who)
    // Callers who may propose use their own action, because others' would be hidden from them.
    const mine = await client.send('POST', '/api/actions', { body: { tool: 'unkeyed', arguments: { what: 'x' } } })
    const { id } = mine.status === 201 ? mine.body : await server.admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'x' } })
    await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
    const before = await server.admin.get(`/api/actions/${id}?wait=60&until=settled`)
    const status = (await client.send('GET', `/api/actions/${id}`)).status === 404 ? 404 : 403
    const body = { outcome: 'failed', note: 'x' }
    expect((await client.send('POST', `/api/actions/${id}/resolve`, { body })).status, who.name).toBe(status)
    expect((await client.send('POST', `/api/actions/${id}/verify`)).status, who.name).toBe(status)
    expect(await server.admin.get(`/api/actions/${id}`)).toEqual(before)
  }
  expect((await server.with({}).send('POST', '/api/actions/act_1/resolve', { body: { outcome: 'failed', note: 'x' } })).status).toBe(401)
})
