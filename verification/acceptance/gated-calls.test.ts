import { expect, test } from 'vitest'
import { CarryOutError, createClient, gate, gatedCall } from '../../packages/client/src/index.ts'
import { openGateServer, openLedger } from '../testing/gate-server.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

const SHIP = { order: 'ORD-1', status: 'shipped' }

test('a read that policy allows runs by itself, and its output comes back with one text', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  const { readOrder } = gate(desk.client, { readOrder: ledger.readOrder })
  const answer = await readOrder({ order: 'ORD-1' }, { toolCallId: 'call_1' })
  expect(answer).toMatchObject({ status: 'succeeded', output: { order: 'ORD-1', status: 'pending' } })
  expect(answer.text).toBe('{"order":"ORD-1","status":"pending"}')
  expect(ledger.ran).toHaveLength(1)
})

test('a write waits for a person, runs once, and the server knows what came of it', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  const { setStatus } = gate(
    desk.client,
    { setStatus: ledger.setStatus },
    { run: 'conv-1', url: 'https://ci.example.com/1', reason: (call) => `${String(call.arguments.order)} is packed.` },
  )
  const answering = setStatus(SHIP, { toolCallId: 'call_1' })
  const action = await desk.nextWaiting()
  expect(action).toMatchObject({
    description: 'Set ORD-1 to shipped',
    context: { run: 'conv-1', url: 'https://ci.example.com/1', reason: 'ORD-1 is packed.' },
  })
  expect(ledger.ran).toEqual([])
  await desk.decide(action, 'approve')
  expect(await answering).toMatchObject({ status: 'succeeded', output: { done: 'shipped' }, actionId: action.id })
  expect(ledger.ran).toEqual([SHIP])
  expect((await desk.all())[0]).toMatchObject({ state: 'succeeded', result: { done: 'shipped' } })
})

test('the same call with another reason is refused, and the first one still waits for its person', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  const call = (reason: string) => gate(desk.client, { setStatus: ledger.setStatus }, { reason }).setStatus(SHIP, { toolCallId: 'call_1' })
  const answering = call('It is packed.')
  const action = await desk.nextWaiting()
  await expect(call('It is paid.')).rejects.toMatchObject({ code: 'idempotency_mismatch' })
  await desk.decide(action, 'approve')
  expect(await answering).toMatchObject({ status: 'succeeded', actionId: action.id })
  expect(ledger.ran).toEqual([SHIP])
})

test('what a person changed is what runs, and the answer says so', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  const answering = gate(desk.client, { setStatus: ledger.setStatus }).setStatus(SHIP, { toolCallId: 'call_1' })
  const changed = { order: 'ORD-1', status: 'cancelled' }
  await desk.decide(await desk.nextWaiting(), 'approve', { arguments: changed })
  const answer = await answering
  expect(answer).toMatchObject({ status: 'succeeded', output: { done: 'cancelled' }, changedArguments: changed })
  expect(answer.text).toMatch(/changed the arguments before approving.*cancelled/)
  expect(ledger.ran).toEqual([changed])
})

test('an answer names changed arguments only where other ones than those of the proposal ran, however often people decided', async () => {
  let status = 'pending'
  await using desk = await openGateServer({ status: () => status })
  const ledger = openLedger()
  const { setStatus } = gate(desk.client, { setStatus: ledger.setStatus })
  const answering = setStatus(SHIP, { toolCallId: 'call_1' })
  const first = await desk.nextWaiting()
  status = 'paid'
  const second = await desk.readAgain(first)
  expect(second).toMatchObject({ revision: 2, revised: { why: 'preview' } })
  await desk.decide(second, 'approve')
  const answer = await answering
  expect(answer).toMatchObject({ status: 'succeeded', output: { done: 'shipped' } })
  expect(answer).not.toHaveProperty('changedArguments')
  // The stored answer of the first proposal is the one that this call is held against.
  expect(await setStatus(SHIP, { toolCallId: 'call_1' })).toEqual(answer)

  // An edit counts, also where another value was shown after it.
  const changing = setStatus(SHIP, { toolCallId: 'call_2' })
  const changed = { order: 'ORD-1', status: 'cancelled' }
  const third = await desk.nextWaiting()
  status = 'packed'
  await desk.readAgain(third)
  await desk.decide(await desk.nextWaiting(), 'approve', { arguments: changed })
  expect(await changing).toMatchObject({ status: 'succeeded', output: { done: 'cancelled' }, changedArguments: changed })
})

test('a declined call never runs, and its text holds the reason', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  const answering = gate(desk.client, { setStatus: ledger.setStatus }).setStatus(SHIP)
  await desk.decide(await desk.nextWaiting(), 'decline', { reason: 'The customer has not paid.' })
  expect(await answering).toEqual({
    status: 'declined',
    text: expect.stringContaining('They said: The customer has not paid.'),
    actionId: expect.any(String),
  })
  expect(ledger.ran).toEqual([])
})

test('what policy denies, and what nobody decides about in time, never runs', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  const tools = gate(desk.client, { deleteOrder: ledger.readOrder, setStatus: ledger.setStatus }, { expiresIn: 'PT1S' })
  expect(await tools.deleteOrder({ order: 'ORD-1' })).toMatchObject({ status: 'denied', text: expect.stringContaining('orders stay') })
  expect(await tools.setStatus(SHIP)).toMatchObject({ status: 'expired', text: expect.stringContaining('Nothing was carried out') })
  expect(ledger.ran).toEqual([])
})

test('the same call twice at once, and once more later, is asked once and runs once', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  const { setStatus } = gate(desk.client, { setStatus: ledger.setStatus })
  const both = Promise.all([setStatus(SHIP, { toolCallId: 'call_1' }), setStatus(SHIP, { toolCallId: 'call_1' })])
  await desk.decide(await desk.nextWaiting(), 'approve')
  const [first, second] = await both
  expect(first).toEqual(second)
  expect(await setStatus(SHIP, { toolCallId: 'call_1' })).toEqual(first)
  expect(ledger.ran).toEqual([SHIP])
  expect(await desk.all()).toHaveLength(1)
})

test('the id of a call means its action for as long as that is open, and not only for a day', async () => {
  await using desk = await openGateServer()
  const stop = new AbortController()
  const { setStatus } = gate(desk.client, { setStatus: openLedger().setStatus })
  const answering = setStatus(SHIP, { toolCallId: 'call_1', signal: stop.signal })
  const { id } = await desk.nextWaiting()
  const kept = (await desk.server.dump()).once?.map((row) => row as { kept_for: string; answer: string })
  expect(kept?.find(({ answer }) => JSON.parse(answer).id === id)).toMatchObject({ kept_for: 'action' })
  stop.abort(new Error('enough'))
  await expect(answering).rejects.toThrow('enough')
})

test('one id for two different calls of a run is an error, and the second one never runs', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  const { readOrder } = gate(desk.client, { readOrder: ledger.readOrder }, { run: 'a' })
  await readOrder({ order: 'ORD-1' }, { toolCallId: 'call_0' })
  await expect(readOrder({ order: 'ORD-2' }, { toolCallId: 'call_0' })).rejects.toMatchObject({ code: 'idempotency_mismatch' })
  expect(ledger.ran).toEqual([{ read: 'ORD-1' }])
  // In another run it is another call.
  const other = gate(desk.client, { readOrder: ledger.readOrder }, { run: 'b' })
  await other.readOrder({ order: 'ORD-1' }, { toolCallId: 'call_0' })
  expect(ledger.ran).toHaveLength(2)
})

test('a cancelled call is withdrawn while it waits, and never runs', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  const stop = new AbortController()
  const answering = gate(desk.client, { setStatus: ledger.setStatus }).setStatus(SHIP, { signal: stop.signal })
  const action = await desk.nextWaiting()
  stop.abort(new Error('The person closed the chat'))
  await expect(answering).rejects.toThrow('The person closed the chat')
  expect(await desk.server.admin.get(`/api/actions/${action.id}`)).toMatchObject({ outcome: { status: 'withdrawn' } })
  expect(ledger.ran).toEqual([])
})

test('a call that was cancelled before it began is not even proposed', async () => {
  await using desk = await openGateServer()
  const { setStatus } = gate(desk.client, { setStatus: openLedger().setStatus })
  await expect(setStatus(SHIP, { signal: AbortSignal.abort(new Error('too late')) })).rejects.toThrow('too late')
  expect(await desk.all()).toEqual([])
})

test('a call that is cancelled while the answer to its proposal does not come is withdrawn', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  const cut = Promise.withResolvers<void>()
  let proposals = 0
  const client = createClient({
    baseUrl: desk.server.url,
    key: desk.key,
    // The server hears the first proposal. Its answer does not come until the request is aborted, as from a connection that is dead.
    async fetch(url, init) {
      const response = await fetch(url, init)
      if (!String(url).endsWith('/api/actions') || proposals++ > 0) return response
      cut.resolve()
      return new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
    },
  })
  const stop = new AbortController()
  const answering = gate(client, { setStatus: ledger.setStatus }).setStatus(SHIP, { toolCallId: 'call_0', signal: stop.signal })
  await cut.promise
  stop.abort(new Error('The person closed the chat'))
  await expect(answering).rejects.toThrow('The person closed the chat')
  expect(await desk.all()).toMatchObject([{ outcome: { status: 'withdrawn' } }])
  expect(ledger.ran).toEqual([])
})

test('a call that is cancelled while its tool is being registered is not proposed', async () => {
  await using desk = await openGateServer()
  const asked = Promise.withResolvers<void>()
  const client = createClient({
    baseUrl: desk.server.url,
    key: desk.key,
    fetch(url, init) {
      if (!String(url).endsWith('/api/tools')) return fetch(url, init)
      asked.resolve()
      return new Promise(() => undefined)
    },
  })
  const register = { lookUp: { input: { type: 'object', properties: {} } } } as const
  const stop = new AbortController()
  const answering = gate(client, { lookUp: () => 'x' }, { register }).lookUp({}, { signal: stop.signal })
  await asked.promise
  stop.abort(new Error('The person closed the chat'))
  await expect(answering).rejects.toThrow('The person closed the chat')
  expect(await desk.all()).toEqual([])
})

test('a call that is cancelled while it runs is told so, and its result is reported', async () => {
  await using desk = await openGateServer()
  const stop = new AbortController()
  const answering = gatedCall(desk.client, {
    tool: 'readOrder',
    arguments: { order: 'ORD-1' },
    signal: stop.signal,
    perform(_, { signal }) {
      stop.abort(new Error('enough'))
      return { wasTold: signal.aborted }
    },
  })
  await expect(answering).rejects.toThrow('enough')
  expect((await desk.all())[0]).toMatchObject({ state: 'succeeded', result: { wasTold: true } })
})

test('a function that throws leaves a write unknown and a read failed; with CarryOutError it says what is known', async () => {
  await using desk = await openGateServer()
  const fail = (error: Error) => () => {
    throw error
  }
  const approved = async (error: Error) => {
    const answering = gate(desk.client, { setStatus: fail(error) }).setStatus(SHIP)
    await desk.decide(await desk.nextWaiting(), 'approve')
    return answering
  }
  expect(await approved(new Error('socket hang up'))).toMatchObject({
    status: 'outcome_unknown',
    text: expect.stringContaining('not known whether'),
  })
  expect((await desk.all())[0]?.error).toMatchObject({ message: 'setStatus threw: socket hang up' })
  expect(await approved(new CarryOutError('refused', 'ORD-1 was shipped already.'))).toMatchObject({
    status: 'failed',
    text: expect.stringContaining('ORD-1 was shipped already.'),
  })
  const { readOrder } = gate(desk.client, { readOrder: fail(new Error('no such file')) })
  expect(await readOrder({ order: 'ORD-9' })).toMatchObject({ status: 'failed', text: expect.stringContaining('no such file') })
})

test('a function that has run is answered with what it did, also where the key ends while it runs', async () => {
  await using desk = await openGateServer()
  const during = async (end: () => unknown) => {
    const { id, key } = await desk.server.makeKey({ name: 'order bot', kind: 'agent', agent: 'orders', roles: ['agent'] })
    const perform = async () => {
      await desk.server.admin.send('DELETE', `/api/keys/${id}`)
      return end()
    }
    const answering = gate(createClient({ baseUrl: desk.server.url, key }), { setStatus: perform }).setStatus(SHIP)
    await desk.decide(await desk.nextWaiting(), 'approve')
    return answering
  }
  const throws = (error: Error) => () => {
    throw error
  }
  const notTaken = expect.stringContaining('The server did not take what came of this')
  expect(await during(() => ({ done: true }))).toMatchObject({ status: 'succeeded', output: { done: true }, text: notTaken })
  expect(await during(throws(new Error('socket hang up')))).toMatchObject({ status: 'outcome_unknown', text: notTaken })
  expect(await during(throws(new CarryOutError('refused', 'It was shipped.')))).toMatchObject({ status: 'failed', text: notTaken })
})

test('arguments that do not fit are a text for the model; a tool or a key that the server does not know is an error', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  const tools = gate(desk.client, { setStatus: ledger.setStatus, unknown: ledger.readOrder })
  const refused = await tools.setStatus({ order: 'ORD-1', status: 7 as unknown as string })
  expect(refused).toMatchObject({ status: 'refused', text: expect.stringMatching(/status.*Nothing was carried out/), actionId: null })
  // Each fault once, and as sentences.
  expect(refused.text.match(/status/g)).toHaveLength(1)
  expect(refused.text).not.toMatch(/\.\.|\.;/)
  await expect(tools.unknown({ order: 'ORD-1' })).rejects.toMatchObject({ code: 'not_found' })
  expect(ledger.ran).toEqual([])
})

test('a server that restarts while people think is found again, and the call runs once', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  const answering = gate(desk.client, { setStatus: ledger.setStatus }).setStatus(SHIP, { toolCallId: 'call_1' })
  await desk.nextWaiting()
  await desk.server.restart()
  await desk.decide(await desk.nextWaiting(), 'approve')
  expect(await answering).toMatchObject({ status: 'succeeded' })
  expect(ledger.ran).toEqual([SHIP])
})

test('the same call of a later release, whose tool takes other arguments, is the call that was made: nothing runs twice', async () => {
  await using desk = await openGateServer()
  const ran: unknown[] = []
  const arguments_ = { amount: 50_000, to: 'ACME' }
  /** The program as a release has it. */
  const payInvoice = (properties: Record<string, { type: string }>) =>
    gatedCall(
      desk.client,
      {
        ...{ tool: 'payInvoice', description: 'Pays an invoice.', arguments: arguments_, toolCallId: 'call_1' },
        schema: { type: 'object', properties, required: Object.keys(properties) },
        perform: (args) => ran.push(args),
      },
      { run: 'conv-1', register: true },
    )
  const today = { amount: { type: 'number' }, to: { type: 'string' } }
  const answering = payInvoice(today)
  const waiting = await desk.nextWaiting()
  const later = { ...today, currency: { type: 'string' } }
  await desk.decide(waiting, 'approve')
  const first = await answering
  expect(first).toMatchObject({ status: 'succeeded', actionId: waiting.id })
  expect(await payInvoice(later)).toEqual(first)
  expect(ran).toEqual([arguments_])
  expect(await desk.all()).toHaveLength(1)
})

test('an output that JSON cannot carry does not lose the effect: the program keeps it, and the server knows that it succeeded', async () => {
  await using desk = await openGateServer()
  const circle: { total: number; self?: object } = { total: 12 }
  circle.self = circle
  const { readOrder } = gate(desk.client, { readOrder: () => circle })
  const answer = await readOrder({ order: 'ORD-1' })
  expect(answer.output).toBe(circle)
  expect((await desk.all())[0]).toMatchObject({ state: 'succeeded', result: { note: expect.stringContaining('could not be passed on') } })
})

test('an id of 64 bits in an output is recorded as its text, and the same call again gets the rest of it', async () => {
  await using desk = await openGateServer()
  const ran: unknown[] = []
  const output = { id: 1152921504606846977n, order: 'ORD-1' }
  const readOnce = (order: unknown) => {
    ran.push(order)
    return output
  }
  const { readOrder } = gate(desk.client, { readOrder: readOnce })
  const call = { toolCallId: 'call_1' }
  expect(await readOrder({ order: 'ORD-1' }, call)).toMatchObject({ status: 'succeeded', output })
  expect(await readOrder({ order: 'ORD-1' }, call)).toMatchObject({ output: { id: '1152921504606846977', order: 'ORD-1' } })
  expect(ran).toHaveLength(1)
})

test('a tool that the server itself carries out is not run here: the answer is what the server did', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 4 } }))
  await using server = await startTestServer({ config: { tools: toolsOf(target), policy: { rules: [] } } })
  const { key } = await server.makeKey({ name: 'bot', kind: 'agent', agent: 'bot', roles: ['agent'] })
  const ran: unknown[] = []
  const { keyed } = gate(createClient({ baseUrl: server.url, key }), { keyed: (args: { what: string }) => ran.push(args) })
  const answering = keyed({ what: 'x' }, { toolCallId: 'call_1' })
  using inbox = await server.admin.stream('/api/events')
  const { items } = await server.admin.get('/api/actions?state=proposed')
  const { id } = items[0] ?? (await inbox.next('action_proposed')).proposal
  await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  expect(await answering).toMatchObject({ status: 'succeeded', output: { id: 4 } })
  expect(ran).toEqual([])
  expect(target.writes).toHaveLength(1)
})

test('a claim that is cut is made again, and the function still runs once', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  let cuts = 0
  const client = createClient({
    baseUrl: desk.server.url,
    key: desk.key,
    // The server hears the first claim and the first result; their answers are lost.
    async fetch(url, init) {
      const response = await fetch(url, init)
      if (!/\/(claim|result)$/.test(String(url)) || cuts === 2) return response
      cuts++
      throw new TypeError('fetch failed')
    },
  })
  const { readOrder } = gate(client, { readOrder: ledger.readOrder })
  expect(await readOrder({ order: 'ORD-1' })).toMatchObject({ status: 'succeeded' })
  expect(cuts).toBe(2)
  expect(ledger.ran).toHaveLength(1)
  expect(await desk.all()).toMatchObject([{ state: 'succeeded', attempt: 1 }])
})
