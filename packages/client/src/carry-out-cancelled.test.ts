import { expect, test, vi } from 'vitest'
import { freePort } from '../../../verification/testing/free-port.ts'
import { carryOut } from './carry-out.ts'
import { type Client, createClient } from './client.ts'
import { cut, openScene } from './testing/carry-out-scene.ts'
import { json, problem, type Route, sampleAction } from './testing/log-server.ts'

test('cancelled while the claim is on its way, it throws at once, runs nothing, and gives the hold back', async () => {
  const cancel = new AbortController()
  const reason = new Error('The page was left.')
  const reported = Promise.withResolvers<void>()
  await using scene = await openScene({
    claim: () => ({ request: null }),
    // The server has given the hold; its answer does not arrive in time.
    claims: [() => cancel.abort(reason)],
    results: [
      (_, response) => {
        json(response, sampleAction({ state: 'failed' }))
        reported.resolve()
      },
    ],
  })
  const perform = vi.fn()
  await expect(scene.run({ perform, signal: cancel.signal })).rejects.toBe(reason)
  await reported.promise
  expect(perform).not.toHaveBeenCalled()
  expect(new Set(scene.claims().map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
  expect(scene.told()).toEqual([{ epoch: 3, error: { kind: 'unreachable', message: 'It was cancelled before it began.' } }])
})

/** Cancels in the pause after this many failed tries to claim, and returns how many claims were made by the time that it throws. */
async function cancelInPause(scene: { client: Client }, tries: number, at: Client = scene.client): Promise<number> {
  const cancel = new AbortController()
  const reason = new Error('The page was left.')
  const { actions } = scene.client
  let made = 0
  const claim: typeof actions.claim = async (id, body, options) => {
    // One with a signal that has aborted is not sent.
    if (!options?.signal?.aborted) made++
    try {
      return await (made > tries ? scene.client : at).actions.claim(id, body, options)
    } finally {
      if (made === tries) setImmediate(() => cancel.abort(reason))
    }
  }
  await expect(carryOut({ actions: { ...actions, claim } }, 'act_1', { signal: cancel.signal })).rejects.toBe(reason)
  return made
}

const unavailable: Route = (_, response) => problem(response, 503, 'not_ready', 'The database does not answer: nothing was changed.')
const busy: Route = (_, response) => problem(response, 429, 'rate_limited', 'Too many requests.')

test('cancelled after the server refused the claim, it does not claim the action just to fail it: another client can carry it out', async () => {
  for (const refusal of [unavailable, busy]) {
    await using scene = await openScene({ claim: () => ({ request: null }), claims: [refusal] })
    expect(await cancelInPause(scene, 1)).toBe(1)
  }
  await using scene = await openScene({ claim: () => ({ request: null }) })
  const gone = createClient({ baseUrl: `http://127.0.0.1:${await freePort()}`, key: 'cs_1' })
  expect(await cancelInPause(scene, 1, gone)).toBe(1)
  expect(scene.claims()).toEqual([])
})

const LOST: [string, Route[]][] = [
  ['an answer that was lost', [cut]],
  ['the 502 of a proxy', [(_, response) => void response.writeHead(502).end()]],
  ['the 503 of a proxy', [(_, response) => void response.writeHead(503).end('upstream reset')]],
  ['an error of the server', [(_, response) => problem(response, 500, 'internal', 'Something went wrong here.')]],
  ['an answer that was lost, and a refusal', [cut, unavailable]],
]

test.each(LOST)('cancelled after %s, it gives back the hold that it may have', async (_, claims) => {
  await using scene = await openScene({ claim: () => ({ request: null }), claims: [...claims] })
  expect(await cancelInPause(scene, claims.length)).toBe(claims.length + 1)
  await expect.poll(() => scene.told()).toMatchObject([{ error: { kind: 'unreachable' } }])
})

test('cancelled before it starts, it claims nothing', async () => {
  await using scene = await openScene()
  const reason = new Error('The page was left.')
  await expect(scene.run({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  expect(scene.claims()).toHaveLength(0)
})
