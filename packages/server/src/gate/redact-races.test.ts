import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { JsonObject } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ana, ben, type OpenGate, openGate } from '../../../../verification/testing/open-gate.ts'
import type { Outbox, Store, Tx } from '../store/index.ts'
import { noteRanElsewhere } from './decide/ran-elsewhere.ts'
import type { GateDeps } from './gate.ts'
import { createGrant } from './grants/manage-grants.ts'
import { redact } from './redact.ts'

const SECRET = 'Jane Roe, 12 Secret Lane'

const open = () =>
  openGate([
    defineTool({ name: 'write', description: 'write', input: z.object({ name: z.string() }), effect: 'write', execute: () => 'done' }),
  ])

/** Returns the work of the redaction of an action, to be run in another transaction. */
async function redactionOf({ engine }: OpenGate, actionId: string): Promise<(outbox: Outbox) => Tx<unknown>> {
  const { promise, resolve } = Promise.withResolvers<(outbox: Outbox) => Tx<unknown>>()
  const store = { ...engine.store, transact: async (work: (outbox: Outbox) => Tx<never>) => resolve(work) as never }
  void redact({ ...depsOf(engine), store }, actionId, { reason: 'erase' }, { principal: ana }).catch(() => {})
  return promise
}

/** As in Postgres at READ COMMITTED: a transaction sees behind its lock what another one committed while it waited for the lock. */
function committingBeforeLock(store: Store, other: (outbox: Outbox) => Tx<unknown>): Store {
  return {
    ...store,
    transact: (work) =>
      store.transact(function* (outbox): Tx<never> {
        const tx = work(outbox)
        let isDone = false
        for (let step = tx.next([] as never); ; step = tx.next(yield step.value)) {
          if (step.done) return step.value as never
          if (isDone || !('lock' in step.value)) continue
          isDone = true
          yield* other(outbox)
        }
      }) as never,
  }
}

const depsOf = (engine: OpenGate['engine']) =>
  ({ clock: engine.clock, tools: { byName: () => undefined }, store: engine.store }) as unknown as GateDeps

function storedAbout({ dataDir }: OpenGate, actionId: string): JsonObject[] {
  using beside = new DatabaseSync(join(dataDir, 'countersign.db'))
  return [
    'select arguments, error from action where id = ?',
    'select arguments from action_grant where made_from = ?',
    'select data from audit where action_id = ?',
  ]
    .flatMap((text) => beside.prepare(text).all(actionId))
    .filter((row) => JSON.stringify(row).includes(SECRET)) as JsonObject[]
}

test('no grant is made from an action that is redacted at the same time', async () => {
  await using gate = await open()
  const { id } = await gate.runAttempt('write', { name: SECRET })
  const store = committingBeforeLock(gate.engine.store, await redactionOf(gate, id))
  const body = { actionId: id, scope: 'agent', exact: true, expiresIn: 'P30D' } as const
  await expect(createGrant({ ...depsOf(gate.engine), store }, body, { principal: ana })).rejects.toMatchObject({ code: 'gone' })
})

test('what a program says that it ran is not kept about an action that is redacted at the same time', async () => {
  await using gate = await open()
  const { id } = await gate.engine.gate.propose({ tool: 'own.write', arguments: { name: SECRET } }, { principal: ana })
  await gate.engine.gate.decide(id, { verdict: 'decline' }, { principal: ben })
  const store = committingBeforeLock(gate.engine.store, await redactionOf(gate, id))
  const said = { ranBy: 'a program', report: { output: `wrote ${SECRET}` } }
  await expect(noteRanElsewhere({ ...depsOf(gate.engine), store }, id, said, { principal: ana })).rejects.toMatchObject({ code: 'gone' })
})

test('a redaction by itself leaves nothing of the arguments', async () => {
  await using gate = await open()
  const { id } = await gate.runAttempt('write', { name: SECRET })
  expect(storedAbout(gate, id)).not.toEqual([])
  await gate.engine.store.transact(await redactionOf(gate, id))
  expect(storedAbout(gate, id)).toEqual([])
})
