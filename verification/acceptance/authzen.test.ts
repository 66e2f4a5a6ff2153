import { expect, test } from 'vitest'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

const POLICY = {
  rules: [
    { name: 'looks run', match: { tool: 'look' }, verdict: 'allow' as const },
    { name: 'never twice', match: { tool: 'unkeyed' }, verdict: 'deny' as const, reason: 'it cannot be sent again' },
    { name: 'big ones stop', match: { tool: 'keyed', when: 'args.what == "everything"' }, verdict: 'deny' as const },
  ],
}

async function openPdp() {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const server = stack.use(await startTestServer({ config: { tools: toolsOf(target), policy: POLICY } }))
  const agent = await server.as({ name: 'bot', kind: 'agent', agent: 'billing', roles: ['agent'] })
  const evaluate = async (body: object, path = '/access/v1/evaluation') => (await agent.send('POST', path, { body })).body
  return { target, server, agent, evaluate, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const SUBJECT = { type: 'agent', id: 'billing' }
const ask = (tool: string, properties: object = { what: 'x' }) => ({
  subject: SUBJECT,
  action: { name: 'call' },
  resource: { type: 'tool', id: tool, properties },
})

test('policy that allows is true, that denies is false with its reason, and what needs approval is false and says how to ask', async () => {
  await using pdp = await openPdp()
  expect(await pdp.evaluate(ask('look'))).toEqual({
    decision: true,
    context: { verdict: 'allow', rule: 'looks run', reason: expect.any(String), policyVersion: 1 },
  })
  expect(await pdp.evaluate(ask('unkeyed'))).toMatchObject({
    decision: false,
    context: { verdict: 'deny', rule: 'never twice', reason: expect.stringContaining('it cannot be sent again') },
  })
  expect(await pdp.evaluate(ask('keyed', { what: 'everything' }))).toMatchObject({ decision: false, context: { verdict: 'deny' } })
  const asked = await pdp.evaluate(ask('keyed'))
  expect(asked).toMatchObject({ decision: false, context: { verdict: 'ask', reason: expect.stringContaining('approval is needed') } })
  // The request in the answer asks people.
  const { method, url, body } = asked.context.approval
  expect(await pdp.agent.send(method, new URL(url).pathname, { body })).toMatchObject({ status: 201, body: { state: 'proposed' } })
})

test('an evaluation changes nothing: no action, no row, no request to the target', async () => {
  await using pdp = await openPdp()
  const before = await pdp.server.dump()
  for (const tool of ['look', 'keyed', 'unkeyed', 'nothing']) await pdp.evaluate(ask(tool))
  await pdp.evaluate({ evaluations: [ask('look'), ask('keyed')] }, '/access/v1/evaluations')
  const after = await pdp.server.dump()
  for (const rows of [before, after]) delete rows.api_key
  expect(after).toEqual(before)
  expect(pdp.target.writes).toEqual([])
})

test('what cannot be evaluated is denied: an unknown tool, wrong arguments, another resource, and the name of somebody else', async () => {
  await using pdp = await openPdp()
  for (const [body, status] of [
    [ask('nothing'), 404],
    [ask('keyed', {}), 422],
    [ask('keyed', { what: 1 }), 422],
    [{ ...ask('look'), action: { name: 'can_read' } }, undefined],
    [{ ...ask('look'), resource: { type: 'account', id: 'look' } }, undefined],
    [{ ...ask('look'), subject: { type: 'user', id: 'billing' } }, undefined],
    [{ ...ask('look'), subject: { type: 'agent', id: 'refunds' } }, undefined],
    [{ ...ask('look'), subject: { type: 'user', id: 'prn_local' } }, undefined],
  ] as const) {
    const answer = await pdp.agent.send('POST', '/access/v1/evaluation', { body })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ decision: false, context: { reason: expect.any(String) } })
    expect(answer.body.context.error?.status).toBe(status)
  }
  // What policy says of others is not told.
  expect(JSON.stringify(await pdp.evaluate({ ...ask('look'), subject: { type: 'agent', id: 'refunds' } }))).not.toContain('looks run')
})

test('without a key, with one that may not propose, or for a malformed question the error is an HTTP status, and the request id comes back', async () => {
  await using pdp = await openPdp()
  const headers = { 'x-request-id': 'bfe9eb29-ab87-4ca3-be83-a1d5d8305716' }
  const viewer = await pdp.server.as({ name: 'Vi', kind: 'person', roles: ['viewer'] })
  for (const path of ['/access/v1/evaluation', '/access/v1/evaluations']) {
    for (const [client, body, status] of [
      [pdp.server.with({}), ask('look'), 401],
      [viewer, ask('look'), 403],
      [pdp.agent, { ...ask('look'), subject: { type: 'agent' } }, 400],
      [pdp.agent, {}, 400],
      [pdp.agent, ask('look'), 200],
    ] as const) {
      const answer = await client.send('POST', path, { body, headers })
      expect({ path, status: answer.status, id: answer.headers.get('x-request-id') }).toEqual({ path, status, id: headers['x-request-id'] })
    }
  }
  const many = { evaluations: Array.from({ length: 101 }, () => ask('look')) }
  expect((await pdp.agent.send('POST', '/access/v1/evaluations', { body: many })).status).toBe(400)
})

test('several questions share what is beside them, keep their order, and end where the semantic says', async () => {
  await using pdp = await openPdp()
  const resource = (id: string) => ({ resource: { type: 'tool', id, properties: { what: 'x' } } })
  const decisions = async (semantic: string | undefined, ...tools: string[]) => {
    const options = semantic && { options: { evaluations_semantic: semantic } }
    const shared = { subject: SUBJECT, action: { name: 'call' }, evaluations: tools.map(resource), ...options }
    const { evaluations } = await pdp.evaluate(shared, '/access/v1/evaluations')
    return evaluations.map(({ decision }: { decision: boolean }) => decision)
  }
  expect(await decisions(undefined, 'look', 'keyed', 'look')).toEqual([true, false, true])
  expect(await decisions('execute_all', 'unkeyed', 'look')).toEqual([false, true])
  expect(await decisions('deny_on_first_deny', 'look', 'keyed', 'look')).toEqual([true, false])
  expect(await decisions('permit_on_first_permit', 'keyed', 'look', 'look')).toEqual([false, true])
  expect((await pdp.agent.send('POST', '/access/v1/evaluations', { body: { options: { evaluations_semantic: 'maybe' } } })).status).toBe(
    400,
  )
  // A member of a question takes the place of the shared one; a malformed question is denied and the others are answered.
  const mixed = { ...ask('look'), evaluations: [{}, { subject: { type: 'agent', id: 'other' } }, { resource: 'look' }, {}] }
  const { evaluations } = await pdp.evaluate(mixed, '/access/v1/evaluations')
  expect(evaluations.map(({ decision }: { decision: boolean }) => decision)).toEqual([true, false, false, true])
  expect(evaluations[2].context.error.status).toBe(400)
})

test('the metadata names the endpoints without a key', async () => {
  await using pdp = await openPdp()
  const { body } = await pdp.server.with({}).send('GET', '/.well-known/authzen-configuration')
  const { url } = pdp.server.admin
  expect(body).toEqual({
    policy_decision_point: url,
    access_evaluation_endpoint: `${url}/access/v1/evaluation`,
    access_evaluations_endpoint: `${url}/access/v1/evaluations`,
  })
})

// From "Authorization API 1.0", the sections 6 and 7 and the HTTPS binding.
const ALICE = { type: 'user', id: 'alice@acmecorp.com' }
const PUBLISHED = {
  evaluation: [
    {
      subject: ALICE,
      resource: { type: 'account', id: '123' },
      action: { name: 'can_read', properties: { method: 'GET' } },
      context: { time: '1985-10-26T01:22-07:00' },
    },
    { subject: ALICE, resource: { type: 'todo', id: '1' }, action: { name: 'can_read' }, context: { time: '1985-10-26T01:22-07:00' } },
    {
      subject: { ...ALICE, properties: { department: 'Sales', ip_address: '172.217.22.14', device_id: '8:65:ee:17:7e:0b' } },
      resource: { type: 'book', id: '123', properties: { library_record: { title: 'AuthZEN in Action', isbn: '978-0593383322' } } },
      action: { name: 'can_read' },
    },
  ],
  evaluations: [
    {
      subject: ALICE,
      context: { time: '2024-05-31T15:22-07:00' },
      action: { name: 'can_read' },
      evaluations: [
        { resource: { type: 'document', id: 'boxcarring.md' } },
        { resource: { type: 'document', id: 'subject-search.md' } },
        { action: { name: 'can_edit' }, resource: { type: 'document', id: 'resource-search.md' } },
      ],
    },
    {
      evaluations: [{ resource: { type: 'doc', id: '1' }, subject: { type: 'doc', id: '2' } }],
      options: { evaluation_semantics: 'execute_all', another_option: 'value' },
    },
  ],
}

test('the published examples of the specification are understood and, as they are about nothing here, denied', async () => {
  await using pdp = await openPdp()
  const denied = { decision: false, context: { reason: expect.any(String) } }
  for (const body of PUBLISHED.evaluation) {
    const answer = await pdp.agent.send('POST', '/access/v1/evaluation', { body })
    expect(answer.headers.get('content-type')).toContain('application/json')
    expect(answer).toMatchObject({ status: 200, body: denied })
    expect((await pdp.agent.send('POST', '/access/v1/evaluations', { body })).body).toEqual(answer.body)
  }
  for (const body of PUBLISHED.evaluations) {
    const answer = await pdp.agent.send('POST', '/access/v1/evaluations', { body })
    expect(answer).toMatchObject({ status: 200, body: { evaluations: body.evaluations.map(() => denied) } })
  }
})
