import { expect, test } from 'vitest'
import { signInLocally } from '../testing/sign-in.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

/** Starts a server on which every action needs the votes of two people. */
async function startDesk(requires: object) {
  const target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  const server = await startTestServer({
    config: {
      agents: {},
      tools: toolsOf(target),
      policy: { rules: [{ name: 'needs approval', match: {}, verdict: 'ask', requires }] },
    },
  })
  return {
    target,
    server,
    propose: async (client: TestServer['admin']) =>
      (await client.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'x' }, expiresIn: 'P1D' })).id as string,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]()
      await target[Symbol.asyncDispose]()
    },
  }
}

const localPage = async (server: TestServer) => server.with({ ...(await signInLocally(server)), origin: server.url })

const stateOf = async ({ admin }: TestServer, id: string): Promise<string> => (await admin.get(`/api/actions/${id}`)).state

test('the person at this machine and the owner of the bootstrap key are one person: together they are one vote of two', async () => {
  await using desk = await startDesk({ quorum: 2 })
  const { server, target } = desk
  const page = await localPage(server)
  const ids = await Promise.all([page, server.admin].map(async (one) => (await one.get('/api/me')).principal.id))
  expect(ids).toEqual(['prn_local', 'prn_local'])
  const bot = await server.as({ name: 'bot', kind: 'agent' })
  for (const voters of [
    [page, server.admin],
    [server.admin, page],
  ]) {
    const id = await desk.propose(bot)
    for (const voter of voters) await voter.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } })
    expect(await stateOf(server, id)).toBe('proposed')
  }
  expect(target.writes).toEqual([])
})

test('who asked with the bootstrap key, or through an agent of it, does not approve at the console where the requester may not', async () => {
  await using desk = await startDesk({ notRequester: true })
  const { server, target } = desk
  const page = await localPage(server)
  const bot = await server.as({ name: 'bot', kind: 'agent' })
  for (const requester of [server.admin, bot]) {
    const id = await desk.propose(requester)
    for (const voter of [page, server.admin]) {
      expect((await voter.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } })).status).toBe(403)
    }
  }
  expect(target.writes).toEqual([])
})
