import type { Executor } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { openBareGate, savePersons } from '../../../../../verification/testing/bare-gate.ts'
import { ana, ben } from '../../../../../verification/testing/open-gate.ts'
import { STORES } from '../../../../../verification/testing/temp-store.ts'
import { actions } from '../../store/index.ts'

/** The tool as a release has it. */
const pay = (required: string[], name = 'pay') =>
  defineTool({
    ...{ name, description: 'Pay', effect: 'write', execute: () => ({ paid: true }) },
    input: { type: 'object', properties: { to: { type: 'string' }, currency: { type: 'string' } }, required },
  })

/** Changes of the tool in later releases, each with the code by which a new call is refused since then. */
const RELEASES = [
  { what: 'takes other arguments', tools: [pay(['to', 'currency'])], executor: undefined, refused: 'invalid_arguments' },
  { what: 'is gone', tools: [], executor: undefined, refused: 'not_found' },
  { what: 'has another name', tools: [pay(['to'], 'payOut')], executor: undefined, refused: 'not_found' },
  {
    what: 'is carried out elsewhere',
    tools: [defineTool({ name: 'pay', description: 'Pay', effect: 'write', executor: 'client', input: { type: 'object' } })],
    executor: 'server' as Executor,
    refused: 'invalid_arguments',
  },
]

for (const { database, open } of STORES) {
  test(`${database}: a request that is repeated under its key is answered as before, whatever became of its tool since`, async () => {
    await using temp = await open()
    await savePersons(temp.store)
    const first = openBareGate(temp.store, [pay(['to'])], 'prc_1')
    for (const [index, { what, tools, executor, refused }] of RELEASES.entries()) {
      const once = { scope: 'test', key: `k${index}`, requestHash: 'h' }
      const call = { tool: 'own.pay', arguments: { to: `ACME ${index}` }, executor }
      const proposed = await first.propose(call, { principal: ana, once })
      const later = openBareGate(temp.store, tools, `prc_later_${index}`)
      expect(await later.propose(call, { principal: ana, once }), what).toEqual(proposed)

      await first.decide(proposed.id, { verdict: 'approve' }, { principal: ben })
      await first.execute(proposed.id)
      await first.idle()
      expect(await later.propose(call, { principal: ana, once }), what).toEqual(proposed)

      // Only the repeat: a call of its own is refused as ever, and so is another call under the key.
      await expect(later.propose(call, { principal: ana }), what).rejects.toMatchObject({ code: refused })
      await expect(later.propose(call, { principal: ana, once: { ...once, key: 'new' } }), what).rejects.toMatchObject({ code: refused })
      const other = { ...once, requestHash: 'other' }
      await expect(later.propose(call, { principal: ana, once: other }), what).rejects.toMatchObject({ code: 'idempotency_mismatch' })
    }
    const stored = await temp.store.read(() => actions.listActions({ states: [], limit: 10 }))
    expect(stored.map(({ state }) => state)).toEqual(RELEASES.map(() => 'succeeded'))
  })
}
