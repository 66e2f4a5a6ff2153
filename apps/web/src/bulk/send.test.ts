import { type Client, createClient } from '@countersign/client'
import { expect, test } from 'vitest'
import { sampleAction } from '../../../../packages/react/src/testing/actions.ts'
import { decideAll } from './send.ts'

const DECISION = { verdict: 'approve', reason: '', startAfter: 'PT5S' } as const
const many = Array.from({ length: 401 }, (_, n) => sampleAction({ id: `act_${n}` }))

/** A client whose requests about many decisions are answered by `answer`, and how many actions each was about. */
function clientWith(answer: (ids: string[]) => Response): { client: Client; asked: number[] } {
  const asked: number[] = []
  const fetch: typeof globalThis.fetch = async (_, init) => {
    const { items } = JSON.parse(String(init?.body)) as { items: { id: string }[] }
    asked.push(items.length)
    return answer(items.map(({ id }) => id))
  }
  return { client: createClient({ key: 'cs_key', fetch }), asked }
}

const lost = () => {
  throw new TypeError('Failed to fetch')
}

test.each([
  ['the network', lost],
  ['a proxy', () => new Response('<h1>Gateway timeout</h1>', { status: 504 })],
])('decisions whose answer %s lost are not said to be undone, and no more are sent', async (_, answer) => {
  const { client, asked } = clientWith((ids) => (ids[0] === 'act_0' ? Response.json({ results: ids.map(() => ({})) }) : answer()))
  const refused = await decideAll(client, many, DECISION)
  expect(asked).toEqual([200, 200])
  const whys = new Map(refused.map(({ action: { id }, why }) => [id, why]))
  expect(whys.get('act_200')).toBe('No answer came: it may be done all the same.')
  expect(whys.get('act_399')).toBe('No answer came: it may be done all the same.')
  expect(whys.get('act_400')).toMatch(/^The server (cannot be reached|answered 504)/)
})

test('a part that the server refuses is told in its words, and the next part is sent', async () => {
  const refusal = { code: 'rate_limited', detail: 'Too many at once.' }
  const { client, asked } = clientWith((ids) =>
    ids[0] === 'act_0' ? Response.json(refusal, { status: 429 }) : Response.json({ results: ids.map(() => ({ action: many[0] })) }),
  )
  const refused = await decideAll(client, many, DECISION)
  expect(asked).toEqual([200, 200, 1])
  expect([refused.length, new Set(refused.map(({ why }) => why))]).toEqual([200, new Set(['Too many at once.'])])
})
