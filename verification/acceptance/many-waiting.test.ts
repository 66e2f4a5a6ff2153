import { join } from 'node:path'
import { StatementSync } from 'node:sqlite'
import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { copySession } from '../testing/copy-session.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

const update = defineTool({
  name: 'updateOrder',
  description: 'Updates an order',
  input: z.object({ order: z.string() }),
  effect: 'write',
  execute: async () => ({}),
})

/** Counts the statements that SQLite runs, until it is disposed. */
function countStatements(): Disposable & { readonly count: number } {
  let count = 0
  const { get, all } = StatementSync.prototype
  StatementSync.prototype.get = function (...values) {
    count++
    return Reflect.apply(get, this, values)
  }
  StatementSync.prototype.all = function (...values) {
    count++
    return Reflect.apply(all, this, values)
  }
  return {
    get count() {
      return count
    },
    [Symbol.dispose]: () => void Object.assign(StatementSync.prototype, { get, all }),
  }
}

test('a start reads no session that waits for people, however many there are', async () => {
  using folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const options = {
    config: {
      agents: { desk: { model: 'scripted/talk.json', tools: ['shop.*'] } },
      tools: { shop: { tools: [update] } },
      policy: { rules: [] },
    },
    scripts: { talk: [{ calls: [{ tool: 'shop.updateOrder', arguments: { order: 'ORD-7' } }] }, { text: 'Done.' }] },
    place: { dataDir, environment: {} },
  }
  const server = await startTestServer(options)
  using stream = await server.admin.stream('/api/chat', { body: { message: 'Update order 7' } })
  const { sessionId } = await stream.next('session')
  const waiting = await stream.next('session_status', (data) => data.status === 'waiting_approval')
  await server.settle()
  await server.stop()
  copySession(join(dataDir, 'countersign.db'), sessionId, 2_000)

  using statements = countStatements()
  await using again = await startTestServer(options)
  expect(statements.count).toBeLessThan(500)
  const actionId = waiting.pendingApprovals[0]
  await again.admin.post(`/api/actions/${actionId}/decision`, { verdict: 'approve' })
  await again.settle()
  expect((await again.admin.get(`/api/actions/${actionId}`)).state).toBe('succeeded')
})
