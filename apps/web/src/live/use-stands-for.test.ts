import { createClient } from '@countersign/client'
import { expect, test } from 'vitest'
import { startTestServer } from '../../../../verification/testing/test-server.ts'
import { readStandsFor } from './use-stands-for.ts'

test('an admin is offered the votes of somebody in whose place they stand, however many delegations were made since', async () => {
  await using server = await startTestServer({ config: {} })
  const person = (name: string, roles: string[]) => server.makeKey({ name, kind: 'person', roles })
  const [ana, boris, cleo] = [await person('Ana', ['admin']), await person('Boris', ['approver']), await person('Cleo', ['approver'])]
  const delegate = (key: string, to: string) => createClient({ baseUrl: server.url, key }).delegations.create({ to, expiresIn: 'P1D' })
  await delegate(boris.key, ana.principal.id)
  for (let made = 0; made < 200; made++) await delegate(cleo.key, boris.principal.id)
  const people = await readStandsFor(createClient({ baseUrl: server.url, key: ana.key }), ana.principal.id)
  expect(people.map(({ name }) => name)).toEqual(['Boris'])
})
