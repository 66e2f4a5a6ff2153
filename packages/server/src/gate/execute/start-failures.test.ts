import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { openGate } from '../../../../../verification/testing/open-gate.ts'

test('an action whose start fails each time ends as failed, with nothing sent', async () => {
  let calls = 0
  const execute = () => {
    calls++
    return 'done'
  }
  // What has a preview is looked at again, so it does not start with its approval.
  const preview = () => [{ field: 'name', oldValue: 'a', newValue: 'b' }]
  await using gate = await openGate([
    defineTool({ name: 'write', description: 'write', input: z.object({}), effect: 'write', execute, preview }),
  ])
  using beside = new DatabaseSync(join(gate.dataDir, 'countersign.db'), { timeout: 240_000 })
  // The requirements cannot be read after the approval: each start fails where it checks the decision.
  beside.exec(`create trigger break_it after update on action when new.state = 'approved' and old.state = 'proposed'
    begin update action set requires = '{' where id = new.id; end`)
  const { id } = await gate.approve('write')
  const read = () => beside.prepare('select state, error, attempt from action where id = ?').get(id)
  await expect.poll(() => read()?.state).toBe('failed')
  expect(JSON.parse(String(read()?.error))).toMatchObject({
    kind: 'internal',
    retryable: true,
    message: expect.stringContaining('nothing was sent'),
  })
  expect(calls).toBe(0)
})

test('an approval stands although the action cannot be started with it', async () => {
  const execute = () => 'done'
  await using gate = await openGate([defineTool({ name: 'write', description: 'write', input: z.object({}), effect: 'write', execute })])
  using beside = new DatabaseSync(join(gate.dataDir, 'countersign.db'), { timeout: 240_000 })
  beside.exec(`create trigger break_it before update on action when new.state = 'executing' begin select raise(abort, 'not now'); end`)
  const { id, state } = await gate.approve('write')
  expect(state).toBe('approved')
  expect(beside.prepare('select state, attempt from action where id = ?').get(id)).toMatchObject({ state: 'approved', attempt: 0 })
  beside.exec('drop trigger break_it')
  expect(await gate.until(id)).toMatchObject({ state: 'succeeded', attempt: 1 })
})

test('a target that changed while the database took no start is asked about again', async () => {
  let looks = 0
  let calls = 0
  let lock = () => {}
  const preview = () => {
    // Between the look before the start and the start somebody else, as a backup does, takes the database for themselves.
    if (++looks === 2) lock()
    return [{ field: 'price', oldValue: looks > 2 ? 99 : 10, newValue: 5 }]
  }
  const execute = () => ++calls
  await using gate = await openGate([
    defineTool({ name: 'write', description: 'write', input: z.object({}), effect: 'write', execute, preview }),
  ])
  using beside = new DatabaseSync(join(gate.dataDir, 'countersign.db'), { timeout: 240_000 })
  lock = () => beside.exec('begin immediate')
  const { id } = await gate.approve('write')
  await expect.poll(() => looks).toBeGreaterThan(2)
  beside.exec('commit')
  expect(await gate.until(id, ({ state, revision }) => revision === 2 || state === 'succeeded')).toMatchObject({
    state: 'proposed',
    revision: 2,
    preview: [{ field: 'price', oldValue: 99, newValue: 5 }],
  })
  expect(calls).toBe(0)
})
