import { expect, test, vi } from 'vitest'
import { freePort } from '../../../verification/testing/free-port.ts'
import { cut, openScene } from './testing/carry-out-scene.ts'
import { json, problem, type Route, sampleAction } from './testing/log-server.ts'

test('an action is claimed, its request sent once under its key, and the answer told with the epoch of the hold', async () => {
  await using scene = await openScene()
  expect(await scene.run()).toMatchObject({ state: 'succeeded', result: { id: 'ORD-1' } })
  expect(scene.shop.requests).toMatchObject([
    { method: 'PATCH', body: '{"status":"shipped"}', headers: { 'idempotency-key': 'act_1.1', 'content-type': 'application/json' } },
  ])
  expect(scene.shop.requests[0]?.headers.authorization).toBeUndefined()
  expect(scene.claims().map(({ body }) => body)).toEqual(['{}'])
  expect(scene.told()).toEqual([{ epoch: 3, output: { id: 'ORD-1' } }])
})

test('the version that the claim names goes out with the request, and its refusal is told as what it is', async () => {
  await using scene = await openScene({
    claim: ({ request }) => ({ request: request && { ...request, ifMatch: '"v2"' } }),
    shop: (_, response) => response.writeHead(412).end(),
  })
  await scene.run()
  expect(scene.shop.requests.map(({ headers }) => headers['if-match'])).toEqual(['"v2"'])
  expect(scene.told()).toMatchObject([{ epoch: 3, error: { kind: 'stale' } }])
})

test('a read sends neither key nor body; what is taken again says so', async () => {
  await using scene = await openScene({
    claim: ({ action, request }) => ({
      action: { ...action, effect: 'read' },
      request: { method: 'GET', url: request?.url ?? '' },
    }),
  })
  await scene.run({ retry: true })
  expect(scene.shop.requests).toMatchObject([{ method: 'GET', body: '' }])
  expect(scene.shop.requests[0]?.headers['idempotency-key']).toBeUndefined()
  expect(scene.claims().map(({ body }) => body)).toEqual(['{"retry":true}'])
})

type Case = [string, Route, { output: unknown } | { error: { kind: string; message: RegExp } }]

const ANSWERS: Case[] = [
  ['no content', (_, response) => response.writeHead(204).end(), { output: { status: 204 } }],
  ['words', (_, response) => response.end('fine'), { output: 'fine' }],
  [
    'a refusal',
    (_, response) => problem(response, 409, 'conflict', 'It was cancelled.'),
    { error: { kind: 'refused', message: /refused \(409\): It was cancelled\.$/ } },
  ],
  ['307', (_, response) => response.writeHead(307, { location: '/x' }).end(), { error: { kind: 'refused', message: /\(307\)/ } }],
  ...[301, 302, 303, 408].map(
    (status): Case => [
      String(status),
      (_, response) => response.writeHead(status, { location: '/x' }).end(),
      { error: { kind: 'ambiguous', message: /Whether it acted is not known/ } },
    ],
  ),
  ['a 500', (_, response) => json(response, { error: 'boom' }, 500), { error: { kind: 'ambiguous', message: /\(500\): boom/ } }],
  // The server judges the answers to its own calls by the same rules: an answer may say in its body that it failed.
  [
    'a 200 that says that it failed',
    (_, response) => json(response, { ok: false, error: 'channel_not_found' }),
    { error: { kind: 'refused', message: /says that it failed \(200\): channel_not_found\. It may have done a part of it\.$/ } },
  ],
  [
    'a 202 that tells of a failure in the middle',
    (_, response) => json(response, { ok: false, error: 'internal_error' }, 202),
    { error: { kind: 'ambiguous', message: /\(202\): internal_error\. Whether it acted is not known\.$/ } },
  ],
  [
    'a refusal of GraphQL',
    (_, response) => json(response, { errors: [{ message: 'Title must not be empty.' }, { message: 'No such team' }] }),
    { error: { kind: 'refused', message: /refused what was sent \(200\): Title must not be empty\.; No such team\.$/ } },
  ],
  [
    'an error of GraphQL with empty data',
    (_, response) => json(response, { errors: [{ message: 'Oops', path: ['createIssue'] }], data: { createIssue: null } }),
    { error: { kind: 'ambiguous', message: /failed \(200\): Oops\. Whether it acted is not known\.$/ } },
  ],
  [
    'GraphQL that did a part',
    (_, response) => json(response, { errors: [{ message: 'Oops' }], data: { createIssue: { id: 7 } } }),
    { output: { errors: [{ message: 'Oops' }], data: { createIssue: { id: 7 } } } },
  ],
  [
    'an error of JSON-RPC',
    (_, response) => json(response, { jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'insufficient funds' } }),
    { error: { kind: 'refused', message: /says that it failed \(200\): insufficient funds\. It may have done a part of it\.$/ } },
  ],
  [
    "an answer of Cloudflare's that reports an internal error",
    (_, response) => json(response, { success: false, errors: [{ code: 1, message: 'Internal error' }], messages: [], result: null }),
    { error: { kind: 'ambiguous', message: /\(200\): Internal error\. Whether it acted is not known\.$/ } },
  ],
  ['a reset', cut, { error: { kind: 'ambiguous', message: /did not answer\. Whether it acted is not known/ } }],
  [
    'half an answer',
    (_, response) => response.writeHead(200, { 'content-length': 100 }).write('{"id"', () => response.destroy()),
    { error: { kind: 'ambiguous', message: /not known/ } },
  ],
]

for (const [name, shop, told] of ANSWERS) {
  test(`${name} of the service is told for what it says of the effect, and sent once`, async () => {
    await using scene = await openScene({ shop })
    await scene.run()
    const [said] = scene.told()
    if ('output' in told) expect(said).toEqual({ epoch: 3, ...told })
    else expect(said).toEqual({ epoch: 3, error: { kind: told.error.kind, message: expect.stringMatching(told.error.message) } })
    expect(scene.shop.requests).toHaveLength(1)
    expect(scene.told()).toHaveLength(1)
  })
}

test('a number that no double stands for is reported as its text, as the server reads it: the id of what was created is not lost', async () => {
  const body = '{"id":1234567890123456789,"rate":0.12345678901234567890123,"count":2}'
  await using scene = await openScene({ shop: (_, response) => response.end(body) })
  await scene.run()
  expect(scene.told()).toEqual([{ epoch: 3, output: { id: '1234567890123456789', rate: '0.12345678901234567890123', count: 2 } }])
})

test('a 202 promises nothing where the server can check the outcome; elsewhere it is the result', async () => {
  const shop: Route = (_, response) => json(response, { message: 'queued' }, 202)
  await using checked = await openScene({ shop, claim: () => ({ canVerify: true }) })
  await checked.run()
  const message = `${new URL(checked.shop.baseUrl).origin} accepted it, to carry it out later (202): queued.`
  expect(checked.told()).toEqual([{ epoch: 3, error: { kind: 'ambiguous', message } }])
  await using unchecked = await openScene({ shop })
  await unchecked.run()
  expect(unchecked.told()).toEqual([{ epoch: 3, output: { message: 'queued' } }])
})

test('of a read, an answer of 200 is the result whatever it says', async () => {
  const said = { ok: false, error: 'channel_not_found' }
  await using scene = await openScene({
    claim: ({ action, request }) => ({ action: { ...action, effect: 'read' }, request: { method: 'GET', url: request?.url ?? '' } }),
    shop: (_, response) => json(response, said),
  })
  await scene.run()
  expect(scene.told()).toEqual([{ epoch: 3, output: said }])
})

test('a service that is not there was sent nothing; one that is silent is given up before the hold is over', async () => {
  const url = `http://127.0.0.1:${await freePort()}/`
  await using nobody = await openScene({ claim: () => ({ request: { method: 'PATCH', url, body: {} } }) })
  await nobody.run()
  expect(nobody.told()).toMatchObject([{ error: { kind: 'unreachable', message: expect.stringContaining('Nothing was sent') } }])

  // A clock of its own: on the real one, a machine that stands still uses up the hold.
  let nowMs = 70_000
  using _clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  const deadline = new AbortController()
  using timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(deadline.signal)
  const claimSlowly = () => {
    nowMs += 700
    return {}
  }
  await using silent = await openScene({ shop: () => deadline.abort(), holdMs: 5_000, claim: claimSlowly })
  await silent.run()
  // Counted from before the claim; a fifth of the hold is left for the report.
  expect(timeout.mock.calls).toEqual([[5_000 - 700 - 1_000]])
  expect(silent.told()).toMatchObject([{ error: { kind: 'ambiguous', message: expect.stringContaining('in time') } }])
})

test('a hold that is longer than a timer can be is not over at once', async () => {
  await using scene = await openScene({ claim: () => ({ request: null }), holdMs: 40 * 86_400_000 })
  await scene.run({
    async perform(_, signal) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return signal.aborted
    },
  })
  expect(scene.told()).toEqual([{ epoch: 3, output: false }])
})

test('nothing is sent when the hold is over by the time that the claim is answered', async () => {
  await using scene = await openScene({ holdMs: 0 })
  await scene.run()
  expect(scene.shop.requests).toHaveLength(0)
  expect(scene.told()).toMatchObject([{ error: { kind: 'unreachable' } }])
})

test('nothing is sent when the machine slept through the hold between the claim and its answer', async () => {
  // Its monotonic clock stands still meanwhile; only the time of day tells.
  using _clock = vi.spyOn(performance, 'now').mockReturnValue(70_000)
  let slept = 0
  const now = Date.now
  using _time = vi.spyOn(Date, 'now').mockImplementation(() => now() + slept)
  // The same key gets the answer of the first claim, however old it is.
  const cutAndSleep: Route = (request) => {
    slept = 2 * 3_600_000
    request.socket.destroy()
  }
  await using scene = await openScene({ claims: [cutAndSleep] })
  await scene.run()
  expect(scene.claims()).toHaveLength(2)
  expect(scene.shop.requests).toHaveLength(0)
  expect(scene.told()).toMatchObject([{ error: { kind: 'unreachable' } }])
})

test('an answer of the server that is lost is asked for again under the same key; the request goes out once', async () => {
  await using scene = await openScene({ claims: [cut], results: [cut] })
  expect(await scene.run()).toMatchObject({ state: 'succeeded' })
  expect(new Set(scene.claims().map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
  expect(scene.claims()).toHaveLength(2)
  expect(scene.told()).toHaveLength(2)
  expect(new Set(scene.toldUnder()).size).toBe(1)
  expect(scene.shop.requests).toHaveLength(1)
})

const pageNotFound: Route = (_, response) => void response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found')

test('the 404 of a proxy, while the server behind it is replaced, loses no report', async () => {
  await using scene = await openScene({ results: [pageNotFound] })
  expect(await scene.run()).toMatchObject({ state: 'succeeded' })
  expect(new Set(scene.toldUnder()).size).toBe(1)
  expect(scene.told()).toHaveLength(2)
  expect(scene.shop.requests).toHaveLength(1)
})

test('an address that is not one of a server is not asked again, and nothing was sent', async () => {
  await using scene = await openScene({ claims: [pageNotFound] })
  await expect(scene.run()).rejects.toMatchObject({ code: 'not_found' })
  expect([scene.claims().length, scene.shop.requests.length]).toEqual([1, 0])
})

test('a server that does not know the action is not asked again', async () => {
  const unknown: Route = (_, response) => problem(response, 404, 'not_found', 'There is no such action.')
  await using scene = await openScene({ claims: [unknown] })
  await expect(scene.run()).rejects.toMatchObject({ code: 'not_found' })
  expect(scene.claims()).toHaveLength(1)
})

test('who comes second hears who has it, and sends nothing', async () => {
  const held = sampleAction({ state: 'executing' })
  const taken: Route = (_, response) =>
    problem(response, 409, 'illegal_transition', { detail: 'A client is carrying it out.', action: held })
  await using scene = await openScene({ claims: [taken] })
  await expect(scene.run()).rejects.toMatchObject({ code: 'illegal_transition', action: held })
  expect(scene.shop.requests).toHaveLength(0)
  expect(scene.told()).toHaveLength(0)
})

test('an answer that the server cannot take does not lose the effect', async () => {
  const refuse: Route = (_, response) => problem(response, 400, 'bad_request', 'A number is too large.')
  await using scene = await openScene({ results: [refuse] })
  expect(await scene.run()).toMatchObject({ state: 'succeeded' })
  expect(scene.told()[1]).toEqual({ epoch: 3, output: { note: expect.stringContaining('carried out') } })
  expect(new Set(scene.toldUnder()).size).toBe(2)
})

test('a long number or half a character in what code returns is told as text, and the rest of the result with it', async () => {
  await using scene = await openScene({ claim: () => ({ request: null }) })
  const half = String.fromCharCode(0xd83d)
  const returned = { id: 1152921504606846977n, sum: 2 ** 60, name: `a${half}`, order: 'A', days: [-(2 ** 54), 3] }
  await scene.run({ perform: () => returned })
  const output = { id: '1152921504606846977', sum: '1152921504606847000', name: 'a\u{fffd}', order: 'A', days: ['-18014398509481984', 3] }
  expect(scene.told()).toEqual([{ epoch: 3, output }])
})

test('a tool in code is carried out here; without its code nothing is done, and a break leaves the outcome unknown', async () => {
  const inCode = { claim: () => ({ request: null }) }
  await using done = await openScene(inCode)
  await done.run({ perform: ({ action }) => ({ did: action.arguments.orderId }) })
  expect(done.told()).toEqual([{ epoch: 3, output: { did: 'ORD-001' } }])

  await using unknown = await openScene(inCode)
  await unknown.run()
  expect(unknown.told()).toMatchObject([{ error: { kind: 'broken', message: expect.stringContaining('does not know') } }])

  await using broken = await openScene(inCode)
  await broken.run({
    perform: () => {
      throw new Error('secret detail')
    },
  })
  expect(broken.told()).toEqual([{ epoch: 3, error: { kind: 'ambiguous', message: 'updateOrderStatus crashed while running.' } }])
})
