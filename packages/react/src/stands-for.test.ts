import { type Client, createClient } from '@countersign/client'
import { expect, test } from 'vitest'
import { startTestServer } from '../../../verification/testing/test-server.ts'
import { readStandsFor } from './stands-for.ts'

test('an admin is offered the votes of somebody in whose place they stand, however many delegations were made since', async () => {
  await using server = await startTestServer({ config: {} })
  const person = (name: string, roles: string[]) => server.makeKey({ name, kind: 'person', roles })
  const [ana, boris, cleo] = [await person('Ana', ['admin']), await person('Boris', ['approver']), await person('Cleo', ['approver'])]
  const delegate = (key: string, to: string) => createClient({ baseUrl: server.url, key }).delegations.create({ to, expiresIn: 'P1D' })
  await delegate(boris.key, ana.principal.id)
  const cleos = createClient({ baseUrl: server.url, key: cleo.key })
  for (let made = 0; made < 200; made++) await cleos.delegations.revoke((await delegate(cleo.key, boris.principal.id)).id)
  const people = await readStandsFor(createClient({ baseUrl: server.url, key: ana.key }), ana.principal)
  expect(people.map(({ name }) => name)).toEqual(['Boris'])
})

test('a key that leaves out a role of its person is offered no vote in the place of another, which the server would refuse', async () => {
  await using server = await startTestServer({ config: {} })
  const person = (name: string, roles: string[]) => server.makeKey({ name, kind: 'person', roles })
  const [ana, boris] = [await person('Ana', ['admin', 'legal']), await person('Boris', ['approver'])]
  const [all, lender] = [ana, boris].map(({ key }) => createClient({ baseUrl: server.url, key })) as [Client, Client]
  await lender.delegations.create({ to: ana.principal.id, expiresIn: 'P1D' })
  const { key } = await all.keys.create({ name: 'half', kind: 'person', principal: ana.principal.id, roles: ['admin'] })
  const half = createClient({ baseUrl: server.url, key: key ?? '' })
  const offered = async (client: Client) => {
    const { principal } = await client.me()
    return principal && (await readStandsFor(client, principal)).map(({ name }) => name)
  }
  expect(await offered(all)).toEqual(['Boris'])
  expect(await offered(half)).toEqual([])
})
