import type { Claim } from '@countersign/core'
import { type CarryOutOptions, carryOut } from '../carry-out.ts'
import { createClient } from '../client.ts'
import { json, type Route, sampleAction, serve } from './log-server.ts'

const CLAIMED_AT = Date.parse('2026-11-21T10:00:05.000Z')

interface Scene {
  /** The shop's answer to the action's request; default 200 with an order. */
  shop?: Route
  claim?: (claim: Claim) => Partial<Claim>
  holdMs?: number
  /** Answers of the server in place of its own, one per call, to claims and to results. */
  claims?: Route[]
  results?: Route[]
}

/** A Countersign that hands out one action, and the shop that the action is for. */
export async function openScene({
  shop = (_, response) => json(response, { id: 'ORD-1' }),
  claim,
  // Longer than any machine stands still: most tests are about something else.
  holdMs = 3_600_000,
  claims = [],
  results = [],
}: Scene = {}) {
  const stack = new AsyncDisposableStack()
  const there = stack.use(await serve({ 'PATCH /orders/1': shop, 'GET /orders/1': shop }))
  const server = stack.use(
    await serve({
      'POST /api/actions/act_1/claim': (request, response, body) => {
        const other = claims.shift()
        if (other) return other(request, response, body)
        const given: Claim = {
          action: sampleAction({ state: 'executing', executor: 'client', attempt: 1 }),
          epoch: 3,
          idempotencyKey: 'act_1.1',
          request: { method: 'PATCH', url: `${there.baseUrl}/orders/1`, body: { status: 'shipped' } },
          holdEndsAt: new Date(CLAIMED_AT + holdMs).toISOString(),
        }
        json(response, { ...given, ...claim?.(given) })
      },
      'POST /api/actions/act_1/result': (request, response, body) => {
        const other = results.shift()
        if (other) return other(request, response, body)
        json(response, sampleAction({ state: 'succeeded', result: JSON.parse(body).output }))
      },
    }),
  )
  const client = createClient({ baseUrl: server.baseUrl, key: 'cs_1' })
  const to = (end: string) => server.requests.filter(({ url }) => url.endsWith(end))
  return {
    client,
    shop: there,
    run: (options?: CarryOutOptions) => carryOut(client, 'act_1', options),
    claims: () => to('/claim'),
    /** The reports that the server received. */
    told: () => to('/result').map(({ body }) => JSON.parse(body)),
    toldUnder: () => to('/result').map(({ headers }) => headers['idempotency-key']),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** The answer of a server whose connection breaks. */
export const cut: Route = (request) => request.socket.destroy()
