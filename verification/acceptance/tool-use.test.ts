import type { Action, ToolView } from '@countersign/core'
import { expect, test } from 'vitest'
import { countStatements } from '../testing/count-cost.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

const RULES = [
  { name: 'looks run', match: { tool: 'look' }, verdict: 'allow' },
  { name: 'big letters', match: { tool: 'keyed', when: 'size(args.what) > 100' }, verdict: 'deny' },
  { name: 'small letters', match: { tool: 'keyed', when: 'size(args.what) < 3' }, verdict: 'allow' },
  { name: 'letters ask', match: { tool: 'keyed' }, verdict: 'ask' },
] as const

test('the list of tools says, where it is asked to, which rule meets the calls of each, and its last call', async () => {
  await using target = await startTarget(() => ({ status: 200, body: {} }))
  await using server = await startTestServer({ config: { tools: toolsOf(target), policy: { rules: [...RULES] } } })
  const { admin } = server
  const desk = await server.as({ name: 'Desk', kind: 'agent', roles: ['agent'] })
  const other = await server.as({ name: 'Other', kind: 'agent', roles: ['agent'] })
  await desk.post('/api/actions', { tool: 'keyed', arguments: { what: 'one letter' } })
  const { id, createdAt }: Action = await desk.post('/api/actions', { tool: 'keyed', arguments: { what: 'another letter' } })
  await admin.post(`/api/actions/${id}/decision`, { verdict: 'decline' })
  const listed = async (client: { get: (path: string) => Promise<{ items: ToolView[] }> }, query = '?use=true') =>
    Object.fromEntries((await client.get(`/api/tools${query}`)).items.map(({ name, usual, lastCall }) => [name, { usual, lastCall }]))
  expect(await listed(admin)).toEqual({
    // The rule that allows is no stricter than the one for every call, so only the one that denies may decide otherwise.
    keyed: { usual: { verdict: 'ask', rule: 'letters ask', mayDiffer: 1 }, lastCall: { id, state: 'declined', createdAt } },
    unkeyed: { usual: { verdict: 'ask', rule: null, mayDiffer: 0 } },
    look: { usual: { verdict: 'allow', rule: 'looks run', mayDiffer: 0 } },
  })
  expect((await admin.get('/api/tools/keyed')).usual).toEqual({ verdict: 'ask', rule: 'letters ask', mayDiffer: 1 })
  // An agent reads no policy, and sees only its own calls.
  expect((await listed(desk)).keyed).toEqual({ lastCall: { id, state: 'declined', createdAt } })
  expect(await listed(other)).toEqual({ keyed: {}, unkeyed: {}, look: {} })
  expect(await listed(admin, '')).toEqual({ keyed: {}, unkeyed: {}, look: {} })
  expect((await admin.send('GET', '/api/tools?use=yes')).status).toBe(400)
})

test('with 1,500 tools the list asks the database for the last calls in one statement', async () => {
  await using target = await startTarget(() => ({ status: 200, body: {} }))
  const { target: group } = toolsOf(target)
  const tools = Object.fromEntries(
    Array.from({ length: 1_500 }, (_, i) => [`look${i}`, { method: 'GET', path: `/look/${i}`, describe: `Look at ${i}` }]),
  )
  await using server = await startTestServer({
    config: { tools: { target: { ...group, routes: { baseUrl: target.url, tools } } }, policy: { rules: [] } } as never,
  })
  const { admin } = server
  for (const tool of ['look7', 'look1499', 'look7']) await admin.post('/api/actions', { tool, arguments: {} })
  using counted = countStatements()
  const { items }: { items: ToolView[] } = await admin.get('/api/tools?use=true')
  expect(counted.sent.filter((text) => /lately/.test(text))).toHaveLength(1)
  // The rounds of the server, which come with time, read actions too, but by no tool.
  expect(counted.sent.filter((text) => /\baction\b/i.test(text) && /"tool"/.test(text))).toHaveLength(1)
  expect([items.length, items.filter(({ lastCall }) => lastCall).map(({ name }) => name)]).toEqual([1_500, ['look7', 'look1499']])
})
