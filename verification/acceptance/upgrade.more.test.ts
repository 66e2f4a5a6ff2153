import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineTool } from '@countersign/toolkit'
import { expect, inject, test } from 'vitest'
import { z } from 'zod'
import { MADE, openDevelopmentDatabase } from '../testing/development-database.ts'
import { runCommandLine } from '../testing/run-command.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

const { actions, keys, sessionId } = MADE

const update = defineTool({
  name: 'updateOrder',
  description: 'Updates an order',
  input: z.object({ order: z.string() }),
  effect: 'write',
  describe: ({ order }) => `Update the order ${order}`,
  execute: async ({ order }) => ({ updated: order }),
})

test('a database of the last development version goes on: keys, what waits, unknown outcomes, sessions and the record', async () => {
  using folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  await using older = await openDevelopmentDatabase(dataDir, inject('database'))
  const place = { dataDir, environment: older.environment }
  await using server = await startTestServer({
    config: {
      agents: { desk: { model: 'scripted/talk.json', tools: ['shop.*'] } },
      tools: { shop: { tools: [update] } },
      policy: { rules: [] },
    },
    scripts: { talk: [{ calls: [{ tool: 'shop.updateOrder', arguments: { order: 'ORD-7' } }] }, { text: 'Done.' }] },
    place,
  })
  const by = (who: 'ana' | 'bot') => server.with({ authorization: `Bearer ${keys[who]}` })
  const states = async () =>
    Object.fromEntries(
      await Promise.all(Object.entries(actions).map(async ([name, id]) => [name, (await by('ana').get(`/api/actions/${id}`)).state])),
    )
  const before = { succeeded: 'succeeded', declined: 'declined', unknown: 'outcome_unknown', granted: 'succeeded' }
  expect(await states()).toEqual({ ...before, waiting: 'proposed', inSession: 'proposed' })

  await by('ana').post(`/api/actions/${actions.waiting}/decision`, { verdict: 'approve' })
  await server.admin.post(`/api/actions/${actions.inSession}/decision`, { verdict: 'approve' })
  await server.settle()
  expect(await states()).toEqual({ ...before, waiting: 'succeeded', inSession: 'succeeded' })
  const { items } = await server.admin.get(`/api/sessions/${sessionId}/messages`)
  expect(items[0]).toMatchObject({ role: 'assistant', content: 'Done.' })
  expect((await by('bot').post('/api/actions', { tool: 'shop.updateOrder', arguments: { order: 'ORD-9' } })).state).toBe('proposed')

  // The upgrade runs only once.
  await server.restart()
  expect((await states()).waiting).toBe('succeeded')
  const exported = join(folder.path, 'record.jsonl')
  writeFileSync(exported, (await server.admin.send('GET', '/api/audit/export?format=jsonl')).text)
  expect(await runCommandLine(['audit', 'verify', exported])).toMatchObject({ code: 0, stderr: '' })
})

test('countersign migrate brings a database to this version without a server, once, and a server then uses it', async () => {
  using folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  await using older = await openDevelopmentDatabase(dataDir, inject('database'))
  const migrate = (...args: string[]) => runCommandLine(['migrate', '--data', dataDir, ...args], older.environment)
  const first = await migrate()
  expect(first).toMatchObject({ code: 0, stderr: '' })
  expect(first.stdout).toMatch(/^0001_schema\.sql\n(?:\d{4}_\w+\.sql\n)*.* is now of this version\.\n$/)
  const second = await migrate('--json')
  expect(JSON.parse(second.stdout)).toEqual({ migrations: [] })
  expect((await migrate()).stdout).toMatch(/^Nothing to do: .* is of this version\.\n$/)
  const mistyped = await runCommandLine(['migrate', '--data', join(folder.path, 'dtaa')])
  expect(mistyped.stdout).toMatch(/There was no database in .*dtaa: a new one was made\.\n$/)
  await using server = await startTestServer({
    config: { tools: { shop: { tools: [update] } }, policy: { rules: [] } },
    place: { dataDir, environment: older.environment },
  })
  const ana = server.with({ authorization: `Bearer ${keys.ana}` })
  expect((await ana.get(`/api/actions/${actions.waiting}`)).state).toBe('proposed')
})
