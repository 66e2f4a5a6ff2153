import { definePlannedWrite } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ana, openGate } from '../../../../../verification/testing/open-gate.ts'

/** The write of the guide on sources of one's own: its card has fields and a version, and no precondition. */
function renameOf(customer: { name: string; etag: string }) {
  return definePlannedWrite({
    name: 'rename',
    description: 'Renames a customer',
    input: z.object({ id: z.string(), name: z.string() }),
    describe: ({ id, name }) => `Rename ${id} to ${name}`,
    plan: async () => ({ ...customer }),
    show: ({ name, etag }, args) => ({ fields: [{ field: 'name', oldValue: name, newValue: args.name }], version: etag }),
    async make({ name }, { plan }) {
      const { etag } = await plan()
      if (etag !== customer.etag) throw new Error('It changed.')
      Object.assign(customer, { name, etag: `${etag}+` })
      return customer
    },
  })
}

test.each([
  ['another value', { name: 'Umbrella', etag: '1' }],
  ['another version', { name: 'Acme', etag: '7' }],
])('a planned write is asked about again where its target has %s', async (_, later) => {
  const customer = { name: 'Acme', etag: '1' }
  await using gate = await openGate([renameOf(customer)])
  const call = { tool: 'own.rename', arguments: { id: 'c1', name: 'Acme GmbH' } }
  const { id } = await gate.engine.gate.propose(call, { principal: ana })
  Object.assign(customer, later)
  await gate.engine.gate.decide(id, { verdict: 'approve' }, { principal: ana })
  expect(await gate.until(id, ({ revision, state }) => revision === 2 || state === 'succeeded')).toMatchObject({
    state: 'proposed',
    revision: 2,
  })
  expect(customer).toEqual(later)
})

test('a planned write whose target is as it was runs with its approval', async () => {
  const customer = { name: 'Acme', etag: '1' }
  await using gate = await openGate([renameOf(customer)])
  const { id } = await gate.approve('rename', { id: 'c1', name: 'Acme GmbH' })
  expect(await gate.until(id)).toMatchObject({ state: 'succeeded', revision: 1 })
  expect(customer).toEqual({ name: 'Acme GmbH', etag: '1+' })
})
