import { createClient, type InboxSnapshot } from '@countersign/client'
import { expect, onTestFinished, test } from 'vitest'
import { createValue } from '../../../client/src/store.ts'
import { json, problem, type Route, serve } from '../../../client/src/testing/log-server.ts'
import { until } from '../../../client/src/testing/until.ts'
import { ADA } from '../testing/actions.ts'
import { followRights, type Rights } from './follow-rights.ts'

const FAY = { id: 'prn_fay', kind: 'person', name: 'Fay', roles: ['finance'] }
const lent: Route = (_, response) => json(response, { items: [{ from: FAY, to: ADA, state: 'standing' }], nextCursor: null })

/** Follows Ada's rights beside an inbox that says what the test lets it say, at a server that answers with these routes. */
async function follow(routes: Record<'me' | 'delegations', Route>) {
  const server = await serve({ 'GET /api/me': routes.me, 'GET /api/delegations': routes.delegations })
  const closing = new AbortController()
  onTestFinished(async () => {
    closing.abort()
    await server[Symbol.asyncDispose]()
  })
  const inbox = createValue({ connection: { kind: 'connecting' }, resets: 0 } as InboxSnapshot)
  const readings = { ...createValue<Rights[]>([]), close: () => {} }
  const client = createClient({ baseUrl: server.baseUrl, key: 'k' })
  followRights(client, inbox, {
    signal: closing.signal,
    onRead: (rights) => readings.set([...readings.get(), rights]),
    retryMs: 1,
  })
  return {
    /** Done once everybody was told. */
    say: (changed: Partial<InboxSnapshot>) =>
      new Promise<void>((resolve) => {
        const stop = inbox.subscribe(() => {
          stop()
          resolve()
        })
        inbox.set({ ...inbox.get(), ...changed })
      }),
    readings,
    asked: (path: string) => server.requests.filter(({ url }) => url.startsWith(path)).length,
  }
}

test('however many resets come at once, the rights are read one time at a time, and the last time after all of them', async () => {
  const { say, readings, asked } = await follow({
    me: async (_, response) => {
      if (asked('/api/me') === 1) for (let resets = 2; resets <= 50; resets++) await say({ resets })
      json(response, { principal: ADA, signIn: 'key' })
    },
    delegations: (...given) => (asked('/api/me') > 1 ? lent(...given) : json(given[1], { items: [], nextCursor: null })),
  })
  await say({ connection: { kind: 'live' }, resets: 1 })
  const [, last] = await until(readings, (all) => all.length === 2)
  expect(last?.standsFor).toEqual([FAY])
  expect([asked('/api/me'), asked('/api/delegations')]).toEqual([2, 2])
})

test('a reading of the rights that failed is repeated, although the inbox says nothing more', async () => {
  let failures = 3
  const { say, readings } = await follow({
    me: (_, response) => json(response, { principal: ADA, signIn: 'key' }),
    delegations: (...given) => (failures-- > 0 ? problem(given[1], 503, 'unavailable', 'The database does not answer.') : lent(...given)),
  })
  await say({ connection: { kind: 'live' } })
  expect(await until(readings, (all) => all.length > 0)).toEqual([{ me: ADA, standsFor: [FAY] }])
})
