import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

async function start() {
  const target = await startTarget(() => ({ status: 200, body: { id: 4 } }))
  const server = await startTestServer({
    config: {
      tools: toolsOf(target),
      policy: {
        rules: [
          { name: 'reads run', match: { effect: 'read' }, verdict: 'allow' },
          { name: 'not twice', match: { tool: 'unkeyed' }, verdict: 'deny' },
        ],
      },
    },
  })
  return {
    target,
    server,
    agent: await server.as({ name: 'billing bot', kind: 'agent', agent: 'billing', roles: ['agent'] }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await target[Symbol.asyncDispose]()
    },
  }
}

const body = (tool = 'keyed', what = 'x') => ({ tool, arguments: { what } })

test('an agent elsewhere proposes, waits with a long poll, and gets the result when a person has decided', async () => {
  await using it = await start()
  const { agent, server, target } = it
  const proposed = await agent.send('POST', '/api/actions', { body: { ...body(), agent: 'billing' } })
  expect(proposed.status).toBe(201)
  expect(proposed.body).toMatchObject({
    state: 'proposed',
    agent: 'billing',
    sessionId: null,
    requestedBy: { kind: 'agent', name: 'billing bot' },
  })

  const path = `/api/actions/${proposed.body.id}`
  let isAnswered = false
  const polled = agent.get(`${path}?wait=60`).finally(() => {
    isAnswered = true
  })
  const settled = agent.get(`${path}?wait=60&until=settled`)
  // An answer that has nothing to wait for comes at once; long polls wait.
  expect((await agent.get(`${path}?wait=0`)).state).toBe('proposed')
  expect((await agent.get(path)).state).toBe('proposed')
  expect(isAnswered).toBe(false)
  await server.admin.post(`${path}/decision`, { verdict: 'approve' })
  expect(['approved', 'executing', 'succeeded']).toContain((await polled).state)
  expect(await settled).toMatchObject({ state: 'succeeded', result: { id: 4 }, resultUrl: `${target.url}/things/4` })
  expect(target.writes).toHaveLength(1)
})

test('a long poll that nobody ends answers with the action as it is', async () => {
  await using it = await start()
  const action = await it.agent.post('/api/actions', body())
  const from = performance.now()
  expect(await it.agent.get(`/api/actions/${action.id}?wait=0.2`)).toEqual(action)
  expect(performance.now() - from).toBeGreaterThanOrEqual(195)
  // 1.001 seconds are 1,000.9999999999999 milliseconds.
  expect(await it.agent.get(`/api/actions/${action.id}?wait=1.001`)).toEqual(action)
  for (const wait of ['61', '-1', 'soon']) expect((await it.agent.send('GET', `/api/actions/${action.id}?wait=${wait}`)).status).toBe(400)
})

test('an agent follows its own actions on one stream, continues it by id, and sees those of no other', async () => {
  await using it = await start()
  const { agent, server } = it
  const other = await server.as({ name: 'other bot', kind: 'agent', roles: ['agent'] })
  using stream = await agent.stream('/api/events')
  using others = await other.stream('/api/events')
  const action = await agent.post('/api/actions', body())
  const theirs = await other.post('/api/actions', body('keyed', 'y'))
  await others.next('action_proposed', ({ proposal }) => proposal.id === theirs.id)
  await server.admin.post(`/api/actions/${action.id}/decision`, { verdict: 'approve' })
  await stream.next('action_update', ({ proposalId, state }) => proposalId === action.id && state === 'succeeded')
  using again = await agent.stream('/api/events', { headers: { 'last-event-id': String(stream.seen[0]?.id) } })
  await again.next('action_update', ({ state }) => state === 'succeeded')
  expect(again.seen).toEqual(stream.seen.slice(1))
  for (const [{ seen }, id] of [
    [stream, action.id],
    [others, theirs.id],
  ] as const) {
    expect(
      new Set(seen.map(({ data }) => (data as { proposalId?: string }).proposalId ?? (data as { proposal: Action }).proposal.id)),
    ).toEqual(new Set([id]))
  }
})

test('policy may answer at once: a read runs, a forbidden tool is declined with the reason', async () => {
  await using it = await start()
  const { agent, target } = it
  const read = await agent.post('/api/actions', body('look', 'it'))
  expect(read).toMatchObject({ state: 'approved', policy: { rule: 'reads run' } })
  expect(await agent.get(`/api/actions/${read.id}?wait=60&until=settled`)).toMatchObject({ state: 'succeeded', result: { id: 4 } })
  const denied = await agent.post('/api/actions', body('unkeyed'))
  expect(denied).toMatchObject({ state: 'declined', policy: { verdict: 'deny', rule: 'not twice' }, votes: [] })
  expect(denied.policy.reason).toContain('not twice')
  expect(target.writes).toEqual([])
})

test('what cannot be proposed is refused in words and stores nothing', async () => {
  await using it = await start()
  const { agent, server } = it
  for (const [given, status, code] of [
    [{ tool: 'nothing', arguments: {} }, 404, 'not_found'],
    [{ tool: '__proto__', arguments: {} }, 404, 'not_found'],
    [{ tool: 'keyed', arguments: {} }, 422, 'invalid_arguments'],
    [{ tool: 'keyed', arguments: { what: 1 } }, 422, 'invalid_arguments'],
    [{ tool: 'keyed', arguments: { what: 'x', more: 1 } }, 422, 'invalid_arguments'],
    [{ tool: 'keyed', arguments: [] }, 400, 'bad_request'],
    [{ tool: 'keyed' }, 400, 'bad_request'],
    [{ ...body(), state: 'approved' }, 400, 'bad_request'],
    [{ ...body(), approved: true }, 400, 'bad_request'],
  ] as const) {
    const answer = await agent.send('POST', '/api/actions', { body: given })
    expect(answer, JSON.stringify(given)).toMatchObject({ status, body: { code } })
    if (code === 'invalid_arguments') expect(answer.body.issues[0]).toMatchObject({ path: expect.any(String), message: expect.any(String) })
  }
  expect((await server.admin.get('/api/actions')).items).toEqual([])
})

test('what the proposing agent says of its action stays apart from the description that the card is made of', async () => {
  await using it = await start()
  const action = await it.agent.post('/api/actions', { ...body(), description: 'Harmless. Ada approved it.' })
  expect(action.description).toBe('Do x')
  expect(action.agentSays).toBe('Harmless. Ada approved it.')
})

test('the run, the address and the reason that an agent gives are shown, recorded and decide nothing', async () => {
  await using it = await start()
  const { agent, server } = it
  const context = { run: 'conv-7', url: 'https://ci.example.com/runs/7', reason: 'The customer asked for it.' }
  const action = await agent.post('/api/actions', { ...body(), context: { ...context, reason: `  ${context.reason} ` } })
  expect(action).toMatchObject({ state: 'proposed', context, agentSays: null })
  expect(await server.admin.get(`/api/actions/${action.id}`)).toMatchObject({ context })
  const { items } = await server.admin.get(`/api/audit?action=${action.id}`)
  expect(items[0]).toMatchObject({ kind: 'proposed', data: { context, unverified: ['context'] } })
  const other = await agent.post('/api/actions', { ...body('keyed', 'y'), context: {} })
  expect(other).toMatchObject({ context: null, description: 'Do y' })
  // Nothing that is decided depends on it.
  const same = await agent.post('/api/actions', { ...body(), context: { reason: 'Another' } })
  expect(same).toMatchObject({ id: action.id, folded: true, digest: action.digest, context })
})

test('the changes that an agent foresees stand beside what the tool shows, as not verified, until a person edits the call', async () => {
  await using it = await start()
  const { agent, server } = it
  const preview = [{ field: 'status', oldValue: 'pending', newValue: { is: 'done' } }]
  const plain = await agent.post('/api/actions', { ...body(), expiresIn: 'PT1H' })
  const action = await agent.post('/api/actions', { ...body(), expiresIn: 'PT1H', preview })
  const shown = [...(plain.preview ?? []), { ...preview[0], unverified: true }]
  expect(action).toMatchObject({ preview: shown, digest: plain.digest, context: null })
  expect((await server.admin.get(`/api/actions/${action.id}`)).preview).toEqual(shown)
  const { items } = await server.admin.get(`/api/audit?action=${action.id}`)
  expect(items[0]).toMatchObject({ kind: 'proposed', data: { preview: shown } })
  const edited = await server.admin.post(`/api/actions/${action.id}/decision`, { verdict: 'approve', arguments: { what: 'y' } })
  expect((edited.preview ?? []).filter((row: { unverified?: true }) => row.unverified)).toEqual([])
  const many = Array.from({ length: 21 }, () => ({ field: 'x', newValue: 1 }))
  for (const wrong of [
    many,
    [{ field: 'x' }],
    [{ field: '', newValue: 1 }],
    [{ field: 'x', newValue: 'y'.repeat(289) }],
    [{ newValue: 1 }],
    'x',
  ])
    expect(await agent.send('POST', '/api/actions', { body: { ...body('keyed', 'z'), preview: wrong } })).toMatchObject({ status: 400 })
})

test('an agent may name the executor that the tool has, and no other', async () => {
  await using it = await start()
  expect(await it.agent.post('/api/actions', { ...body(), executor: 'server' })).toMatchObject({ state: 'proposed', executor: 'server' })
  const refused = await it.agent.send('POST', '/api/actions', { body: { ...body('keyed', 'y'), executor: 'client' } })
  expect(refused).toMatchObject({ status: 422, body: { code: 'invalid_arguments', detail: expect.stringContaining('executor') } })
  expect((await it.server.admin.get('/api/actions')).items).toHaveLength(1)
})

test.each([
  ['a script', { url: 'javascript:alert(1)' }],
  ['a file', { url: 'file:///etc/passwd' }],
  ['no address', { url: 'ci.example.com/runs/7' }],
  ['a name that looks like a host', { url: 'https://bank.example@evil.example/' }],
  ['a long address', { url: `https://ci.example.com/${'x'.repeat(1_000)}` }],
  ['a long reason', { reason: 'x'.repeat(2_001) }],
  ['a long run', { run: 'x'.repeat(201) }],
  ['an empty run', { run: ' ' }],
  ['a member that does not exist', { approved: true }],
  ['a list', []],
])('a context with %s is refused and stores nothing', async (_, context) => {
  await using it = await start()
  expect(await it.agent.send('POST', '/api/actions', { body: { ...body(), context } })).toMatchObject({
    status: 400,
    body: { code: 'bad_request', detail: expect.stringContaining('context') },
  })
  expect((await it.server.admin.get('/api/actions')).items).toEqual([])
})

test('agents and services never decide, by no route and with no roles', async () => {
  await using it = await start()
  const { server } = it
  for (const kind of ['agent', 'service'] as const) {
    const who = await server.as({ name: `a ${kind}`, kind, roles: ['agent'] })
    const own = await who.post('/api/actions', body())
    const foreign = await server.admin.post('/api/actions', body())
    const attempts: [path: string, body: object | undefined][] = [
      [`/api/actions/${own.id}/decision`, { verdict: 'approve' }],
      [`/api/actions/${own.id}/decision`, { verdict: 'decline' }],
      [`/api/actions/${own.id}/decision`, { verdict: 'approve', revision: 1, digest: own.digest }],
      [`/api/actions/${own.id}/retry`, undefined],
      ['/api/chat/approve', { approvalId: own.id, approved: true }],
      ['/api/chat/approve', { approvalId: own.id, approved: false }],
      ['/api/keys', { name: 'me', kind: 'person', roles: ['admin'] }],
    ]
    for (const [path, given] of attempts) {
      const answer = await who.send('POST', path, { body: given })
      expect(answer, `${kind} ${path}`).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    }
    for (const path of [`/api/actions/${foreign.id}/decision`, '/api/chat/approve']) {
      const given = path === '/api/chat/approve' ? { approvalId: foreign.id, approved: true } : { verdict: 'approve' }
      expect((await who.send('POST', path, { body: given })).status).toBe(404)
    }
    const signIn = await server.with({ origin: server.url }).send('POST', '/api/sign-in', { body: { key: 'x' } })
    expect(signIn.status).toBe(401)
    expect(await server.admin.get(`/api/actions/${own.id}`)).toEqual(own)
  }
  expect(it.target.writes).toEqual([])
})

test('a session’s approvals cannot be given by the agent that owns the session', async () => {
  await using target = await startTarget(() => ({ status: 200 }))
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json', tools: ['*'] } }, tools: toolsOf(target) },
    scripts: { talk: [{ calls: [{ tool: 'keyed', arguments: { what: 'x' } }] }] },
  })
  const agent = await server.as({ name: 'bot', kind: 'agent', roles: ['agent'] })
  using stream = await agent.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const { proposal } = await stream.next('action_proposed')
  for (const verdict of ['approve', 'reject', 'approve_all']) {
    const answer = await agent.send('POST', `/api/sessions/${sessionId}/approve`, { body: { verdict } })
    expect(answer, verdict).toMatchObject({ status: 403, body: { code: 'forbidden' } })
  }
  expect((await server.admin.get(`/api/actions/${proposal.id}`)).state).toBe('proposed')
})

test('a person without a role that decides may look and not act', async () => {
  await using it = await start()
  const { server } = it
  const action: Action = await server.admin.post('/api/actions', body())
  for (const roles of [['viewer'], ['agent'], ['finance'], []]) {
    const who = await server.as({ name: 'Vera', kind: 'person', roles })
    const seen = await who.send('GET', `/api/actions/${action.id}`)
    expect(seen.status).toBe(roles.includes('viewer') ? 200 : 404)
    for (const [path, given] of [
      [`/api/actions/${action.id}/decision`, { verdict: 'approve' }],
      [`/api/actions/${action.id}/retry`, undefined],
      ['/api/chat/approve', { approvalId: action.id, approved: true }],
      ['/api/actions', body()],
      ['/api/sessions', {}],
      ['/api/chat', { message: 'go' }],
      ['/api/keys', { name: 'me', kind: 'person', roles: ['admin'] }],
    ] as const) {
      expect([403, 404], `${roles} ${path}`).toContain((await who.send('POST', path, { body: given })).status)
    }
  }
  expect(await server.admin.get(`/api/actions/${action.id}`)).toEqual(action)
})

test('an id that does not exist and one that may not be seen answer the same', async () => {
  await using it = await start()
  await using talk = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json' } } },
    scripts: { talk: [{ text: 'Hi.' }] },
  })
  const paths = (id: string, kind: 'actions' | 'sessions'): [method: string, path: string, body?: object][] =>
    kind === 'actions'
      ? [
          ['GET', `/api/actions/${id}`],
          ['GET', `/api/actions/${id}?wait=1`],
          ['POST', `/api/actions/${id}/decision`, { verdict: 'approve' }],
          ['POST', `/api/actions/${id}/retry`],
          ['POST', '/api/chat/approve', { approvalId: id, approved: true }],
        ]
      : [
          ['GET', `/api/sessions/${id}`],
          ['GET', `/api/sessions/${id}/messages`],
          ['GET', `/api/sessions/${id}/events`],
          ['POST', `/api/sessions/${id}/messages`, { content: 'hello' }],
          ['POST', `/api/sessions/${id}/approve`, { verdict: 'approve' }],
          ['POST', `/api/sessions/${id}/cancel`],
          ['POST', '/api/chat', { sessionId: id, message: 'hello' }],
        ]
  for (const [server, kind, secret] of [
    [it.server, 'actions', (await it.server.admin.post('/api/actions', body())).id],
    [talk, 'sessions', (await talk.admin.post('/api/sessions', {})).id],
  ] as const) {
    const agent = await server.as({ name: 'bot', kind: 'agent', roles: ['agent'] })
    const missing = `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`
    const hidden = paths(secret, kind)
    for (const [index, [method, path, given]] of paths(missing, kind).entries()) {
      const absent = await agent.send(method, path, { body: given })
      const present = await agent.send(method, hidden[index]?.[1] ?? '', { body: hidden[index]?.[2] })
      expect(absent.status, `${method} ${path}`).toBe(404)
      expect(present.status, `${method} ${path}`).toBe(404)
      expect(present.text.replaceAll(secret, 'ID')).toBe(absent.text.replaceAll(missing, 'ID'))
    }
    const list = await agent.get(`/api/${kind}`)
    expect(list).toEqual({ items: [], nextCursor: null })
  }
})

test('who may propose a write sees what its preview reads; of a write that policy denies nothing is read', async () => {
  const reads: string[] = []
  await using target = await startTarget(({ path }) => {
    reads.push(path)
    return { status: 200, body: { note: 'pay in March' } }
  })
  const input = { type: 'object', required: ['file', 'note'], properties: { file: { type: 'string' }, note: { type: 'string' } } }
  const before = { get: '/{file}', compare: { note: '{note}' } }
  const write = { method: 'PUT' as const, path: '/{file}', input, describe: 'Write {file}', before }
  await using server = await startTestServer({
    config: {
      tools: { files: { prefix: false, routes: { baseUrl: target.url, tools: { write } } } },
      policy: { rules: [{ name: 'closed', match: { tool: 'write', when: "args.file == 'salaries'" }, verdict: 'deny' }] },
    },
  })
  const agent = await server.as({ name: 'clerk', kind: 'agent', agent: 'clerk', roles: ['agent'] })
  const propose = (file: string) => agent.post('/api/actions', { tool: 'write', arguments: { file, note: 'x' } })
  expect(await propose('notes')).toMatchObject({ state: 'proposed', preview: [{ field: 'note', oldValue: 'pay in March', newValue: 'x' }] })
  expect(reads).toEqual(['/notes'])
  expect(await propose('salaries')).toMatchObject({ state: 'declined', preview: null })
  expect(reads).toEqual(['/notes'])
})
