import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import type { ApiClient } from '../testing/api-client.ts'
import { ADMIN_NAME } from '../testing/bootstrap-key.ts'
import { settled as untilSettled } from '../testing/decisions.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

const propose = (client: ApiClient, tool: string, what: string): Promise<Action> =>
  client.post('/api/actions', { tool, arguments: { what } })
const approve = (client: ApiClient, { id }: Action): Promise<Action> => client.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
const settled = (admin: ApiClient, { id }: Action): Promise<Action> => untilSettled({ admin }, id)
const run = async (client: ApiClient, tool: string, what: string): Promise<Action> => {
  const action = await propose(client, tool, what)
  await approve(client, action)
  return settled(client, action)
}

test('an illegal move is a 409 that says what was tried and carries the action as it is', async () => {
  const hold = Promise.withResolvers<void>()
  await using target = await startTarget(async ({ body }) => {
    const { what } = body as { what: string }
    if (what === 'hang') await hold.promise
    return what === 'refuse' ? { status: 422, body: { detail: 'No such thing' } } : what === 'break' ? 'reset' : { status: 200 }
  })
  await using server = await startTestServer({ config: { tools: toolsOf(target) } })
  const { admin } = server
  const other = await server.as({ name: 'Ben', kind: 'person', roles: ['approver'] })

  const proposed = await propose(admin, 'keyed', 'x')
  const declined = await propose(admin, 'keyed', 'x')
  await admin.post(`/api/actions/${declined.id}/decision`, { verdict: 'decline' })
  const executing = await propose(admin, 'keyed', 'hang')
  await approve(admin, executing)
  const succeeded = await run(admin, 'keyed', 'x')
  const failed = await run(admin, 'keyed', 'refuse')
  const unknown = await run(admin, 'unkeyed', 'break')
  expect([succeeded, failed, unknown].map(({ state }) => state)).toEqual(['succeeded', 'failed', 'outcome_unknown'])

  const moves: [action: Action, move: string, body: object | undefined, code: string][] = [
    [proposed, 'retry', undefined, 'illegal_transition'],
    [declined, 'retry', undefined, 'illegal_transition'],
    [executing, 'retry', undefined, 'illegal_transition'],
    [succeeded, 'retry', undefined, 'illegal_transition'],
    [unknown, 'retry', undefined, 'illegal_transition'],
    [declined, 'decision', { verdict: 'approve' }, 'already_decided'],
    ...[executing, succeeded, failed, unknown].flatMap((action): [Action, string, object, string][] => [
      [action, 'decision', { verdict: 'approve' }, 'already_decided'],
      [action, 'decision', { verdict: 'decline' }, 'already_decided'],
    ]),
  ]
  for (const [{ id }, move, body, code] of moves) {
    const before = await other.get(`/api/actions/${id}`)
    const answer = await other.send('POST', `/api/actions/${id}/${move}`, { body })
    const what = `${move} of a ${before.state} action`
    expect(answer, what).toMatchObject({ status: 409, body: { code, status: 409, action: before } })
    expect(answer.headers.get('content-type'), what).toBe('application/problem+json')
    expect(answer.body.detail, what).toContain(id)
    expect(answer.body.detail, what).toContain(code === 'illegal_transition' ? before.state : ADMIN_NAME)
    expect(await other.get(`/api/actions/${id}`), what).toEqual(before)
  }
  hold.resolve()
  expect((await settled(admin, executing)).state).toBe('succeeded')
  expect(target.writes).toHaveLength(4)
})

test('a decision about another revision or digest is a 409 with the action to look at again, and decides nothing', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({ config: { tools: toolsOf(target) } })
  const action = await propose(server.admin, 'keyed', 'x')
  const other = await propose(server.admin, 'keyed', 'y')
  for (const named of [
    { revision: 2 },
    { revision: 2, digest: action.digest },
    { digest: other.digest },
    { revision: 1, digest: other.digest },
    { digest: `${action.digest} ` },
    { digest: action.digest.toUpperCase() },
    { digest: '' },
  ]) {
    for (const verdict of ['approve', 'decline']) {
      const answer = await server.admin.send('POST', `/api/actions/${action.id}/decision`, { body: { verdict, ...named } })
      expect(answer, JSON.stringify(named)).toMatchObject({ status: 409, body: { code: 'revision_mismatch', action } })
    }
  }
  expect(await server.admin.get(`/api/actions/${action.id}`)).toEqual(action)
  const body = { verdict: 'approve', revision: 1, digest: action.digest }
  await server.admin.post(`/api/actions/${action.id}/decision`, body)
  expect((await settled(server.admin, action)).state).toBe('succeeded')
  expect(target.writes).toHaveLength(1)
})

test('a restart on the same data shows every card in its state, with its message', async () => {
  await using target = await startTarget(({ body }) =>
    body !== undefined && (body as { what: string }).what === 'refuse'
      ? { status: 409, body: { detail: 'Not now' } }
      : { status: 200, body: { id: 7 } },
  )
  const call = (tool: string, what: string) => ({ tool, arguments: { what } })
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json', tools: ['*'] } }, tools: toolsOf(target) },
    scripts: { talk: [{ text: 'On it.', calls: [call('keyed', 'a'), call('keyed', 'refuse'), call('keyed', 'c'), call('look', 'd')] }] },
  })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'do four things' } })
  await stream.next('session_status', (data) => data.status === 'waiting_approval')
  const { items } = await server.admin.get('/api/actions?state=proposed')
  const [, refused, first] = items as [Action, Action, Action]
  for (const action of [refused, first]) await approve(server.admin, action)
  // The read, which nobody is asked about, may still be under way.
  await server.settle()

  const look = async () => ({
    sessions: await server.admin.get('/api/sessions'),
    messages: await server.admin.get(`/api/sessions/${first.sessionId}/messages`),
    actions: await server.admin.get('/api/actions'),
  })
  const before = await look()
  expect(before.actions.items.map((action: Action) => action.state).sort()).toEqual(['failed', 'proposed', 'succeeded', 'succeeded'])
  await server.restart()
  expect(await look()).toEqual(before)
  expect(before.messages.items.find((message: { toolCalls?: unknown }) => message.toolCalls).actions).toHaveLength(4)
})

test('ten parallel identical decisions are one execution and ten identical answers', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({ config: { tools: toolsOf(target) } })
  const action = await propose(server.admin, 'unkeyed', 'x')
  const path = `/api/actions/${action.id}/decision`
  const body = { verdict: 'approve', revision: 1, digest: action.digest }
  const headers = { 'idempotency-key': 'click-1' }
  const keyed = await Promise.all(Array.from({ length: 10 }, () => server.admin.send('POST', path, { body, headers })))
  expect(new Set(keyed.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
  expect(keyed[0]?.status).toBe(200)

  const done = await settled(server.admin, action)
  expect(done).toMatchObject({ state: 'succeeded', attempt: 1, votes: [{ by: { name: ADMIN_NAME }, verdict: 'approve' }] })
  expect(done.votes).toHaveLength(1)
  expect(target.writes).toHaveLength(1)
  expect(target.writes[0]?.headers['idempotency-key']).toBe(action.idempotencyKey)
  const late = await Promise.all(Array.from({ length: 10 }, () => server.admin.send('POST', path, { body })))
  expect(late.map(({ body }) => body)).toEqual(late.map(() => done))
  expect(target.writes).toHaveLength(1)
})

test('without any key a double click is one decision and one execution too', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({ config: { tools: toolsOf(target) } })
  const action = await propose(server.admin, 'unkeyed', 'x')
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => server.admin.send('POST', `/api/actions/${action.id}/decision`, { body: { verdict: 'approve' } })),
  )
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  expect(new Set(answers.map(({ body }) => JSON.stringify(body.votes))).size).toBe(1)
  await settled(server.admin, action)
  expect(target.writes).toHaveLength(1)
})

test('of two persons the second learns who was first, with the action as it is now', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({ config: { tools: toolsOf(target) } })
  const ana = await server.as({ name: 'Ana', kind: 'person', roles: ['approver'] })
  const ben = await server.as({ name: 'Ben', kind: 'person', roles: ['approver'] })
  for (const verdicts of [
    ['approve', 'decline'],
    ['approve', 'approve'],
    ['decline', 'decline'],
  ] as const) {
    const action = await propose(server.admin, 'unkeyed', 'x')
    const path = `/api/actions/${action.id}/decision`
    const answers = await Promise.all([ana, ben].map((who, i) => who.send('POST', path, { body: { verdict: verdicts[i] } })))
    const [winner, loser] = answers.sort((a, b) => a.status - b.status)
    expect(winner?.status).toBe(200)
    const [vote] = winner?.body.votes ?? []
    expect(loser).toMatchObject({ status: 409, body: { code: 'already_decided', action: { id: action.id, votes: [vote] } } })
    expect(loser?.body.detail).toContain(vote.by.name)
    expect(loser?.body.action.votes).toHaveLength(1)
    expect(['approve', 'decline']).toContain(vote.verdict)
  }
})

test('a card says in words what will happen and lists what changes, field by field', async () => {
  await using target = await startTarget(({ path }) =>
    path === '/things/7'
      ? { status: 200, body: { size: { cm: 20 }, colour: 'red', other: 1 } }
      : { status: 404, body: { detail: 'No thing' } },
  )
  const id = { type: 'string' }
  const input = {
    type: 'object',
    required: ['id'],
    additionalProperties: false,
    properties: { id, cm: { type: 'integer' }, colour: { type: 'string' } },
  }
  const path = '/things/{id}'
  await using server = await startTestServer({
    config: {
      tools: {
        things: {
          routes: {
            baseUrl: target.url,
            tools: {
              change: {
                method: 'PATCH',
                path,
                body: { size: { cm: '{cm}' }, colour: '{colour}' },
                input,
                describe: 'Make thing {id} {cm} cm',
                before: { get: path, compare: { 'size.cm': '{cm}', colour: '{colour}' } },
              },
              make: { method: 'POST', path: '/things', body: { name: '{name}' }, describe: 'Make {name}' },
              remove: { method: 'DELETE', path, describe: 'Remove thing {id}', before: { get: path, compare: ['colour'] } },
            },
          },
        },
      },
    },
  })
  const card = (tool: string, args: object): Promise<Action> =>
    server.admin.post('/api/actions', { tool: `things.${tool}`, arguments: args })
  expect(await card('change', { id: '7', cm: 30 })).toMatchObject({
    description: 'Make thing 7 30 cm',
    preview: [{ field: 'size.cm', oldValue: 20, newValue: 30 }],
    previewError: null,
    previewedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    destination: target.url,
  })
  expect((await card('make', { name: 'a vase' })).preview).toEqual([{ field: 'name', newValue: 'a vase' }])
  expect((await card('remove', { id: '7' })).preview).toEqual([{ field: 'colour', oldValue: 'red' }])
  const blind = await card('change', { id: '8', cm: 30 })
  expect(blind).toMatchObject({ state: 'proposed', preview: null, previewedAt: null, previewError: expect.stringContaining('No thing') })
  expect(target.writes).toEqual([])
})

test('a success shows its result and a link; a refusal shows plain words, and a retry goes out under a new key', async () => {
  await using target = await startTarget((_, nth) =>
    nth === 1 ? { status: 409, body: { detail: 'The thing is locked' } } : { status: 201, body: { id: 42 } },
  )
  await using server = await startTestServer({ config: { tools: toolsOf(target) } })
  const failed = await run(server.admin, 'keyed', 'x')
  expect(failed).toMatchObject({ state: 'failed', attempt: 1, error: { kind: 'refused' }, resultUrl: null })
  expect(failed.error?.message).toContain('The thing is locked')
  expect(failed.error?.message).not.toMatch(/\bat .*:\d+:\d+|Error:|\{/)

  const again = await server.admin.post(`/api/actions/${failed.id}/retry`)
  expect(again).toMatchObject({ state: 'executing', attempt: 2, error: null })
  expect(await settled(server.admin, failed)).toMatchObject({
    state: 'succeeded',
    attempt: 2,
    result: { id: 42 },
    resultUrl: `${target.url}/things/42`,
    error: null,
  })
  const keys = target.writes.map(({ headers }) => headers['idempotency-key'])
  expect(keys).toEqual([failed.idempotencyKey, again.idempotencyKey])
  expect(new Set(keys).size).toBe(2)
})

test('what has no trustworthy answer goes out again under its key, where the target honours one', async () => {
  await using target = await startTarget((_, nth) => (nth === 1 ? 'reset' : nth === 2 ? { status: 503 } : { status: 200, body: { id: 1 } }))
  await using server = await startTestServer({ config: { tools: toolsOf(target) } })
  const action = await run(server.admin, 'keyed', 'x')
  expect(action).toMatchObject({ state: 'succeeded', attempt: 3, result: { id: 1 } })
  expect(target.writes.map(({ headers }) => headers['idempotency-key'])).toEqual(Array(3).fill(action.idempotencyKey))
})

test('ten parallel retries are one attempt', async () => {
  await using target = await startTarget((_, nth) => (nth === 1 ? { status: 422 } : { status: 200, body: { id: 1 } }))
  await using server = await startTestServer({ config: { tools: toolsOf(target) } })
  const failed = await run(server.admin, 'keyed', 'x')
  const answers = await Promise.all(Array.from({ length: 10 }, () => server.admin.send('POST', `/api/actions/${failed.id}/retry`)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)])
  expect(await settled(server.admin, failed)).toMatchObject({ state: 'succeeded', attempt: 2 })
  expect(target.writes).toHaveLength(2)
})
