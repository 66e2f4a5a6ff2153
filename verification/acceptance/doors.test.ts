import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import type { ApiClient } from '../testing/api-client.ts'
import { signInWithKey } from '../testing/sign-in.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'
import { waysIn } from '../testing/ways-in.ts'

// One server and every attacker who wants past its gate. Each attack has its own test elsewhere. This file runs them together and checks
// the outcome: no effect without the right approvals, and a record of the attempts.

async function openWorld() {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const server = stack.use(
    await startTestServer({
      config: {
        agents: {},
        tools: toolsOf(target),
        policy: {
          rules: [
            {
              name: 'two people',
              match: { tool: 'keyed' },
              verdict: 'ask',
              requires: { quorum: 2, roles: ['approver'], notRequester: true },
            },
            { name: 'refunds run', match: { tool: 'unkeyed', when: 'agent.name == "refunds"' }, verdict: 'allow' },
          ],
        },
      },
      environment: { COUNTERSIGN_MAX_FAILURES: '0', COUNTERSIGN_MAX_REQUESTS: '0' },
    }),
  )
  const approver = (name: string) => server.as({ name, kind: 'person', roles: ['approver'] })
  return {
    server,
    target,
    ana: await approver('Ana'),
    ben: await approver('Ben'),
    lea: await approver('Lea'),
    cheat: await server.as({ name: 'Cheat', kind: 'person', roles: ['admin'] }),
    vic: await server.as({ name: 'Vic', kind: 'person', roles: [] }),
    bot: await server.as({ name: 'bot', kind: 'agent', person: null }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

const approve = (who: ApiClient, { id }: Action) => who.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } })

async function tryEverything(who: ApiClient, { id }: Action): Promise<number[]> {
  const answers: number[] = []
  for (const { method, path, body } of waysIn(id)) answers.push((await who.send(method, path, { body })).status)
  return answers
}

test('nobody walks round the gate: an agent, a page, a proxy, a thief, somebody who left and an admin who cheats cause nothing, and each is in the record', async () => {
  await using world = await openWorld()
  const { server, target, ana, ben, lea, cheat, vic, bot } = world
  const action: Action = await bot.post('/api/actions', { tool: 'keyed', arguments: { what: 'money' } })
  const refused = (statuses: number[]) => expect(statuses.filter((status) => status < 400)).toEqual([])

  // An agent with a shell on this machine tries its own key, no key, and the name of another agent.
  refused(await tryEverything(bot, action))
  refused(await tryEverything(server.with({ origin: server.url }), action))
  const named = await bot.send('POST', '/api/actions', { body: { tool: 'unkeyed', arguments: { what: 'x' }, agent: 'refunds' } })
  expect(named.status).toBe(403)

  // A page or a proxy pretends to be this machine, or sends an old cookie.
  const { port } = new URL(server.url)
  const elsewhere: Record<string, string>[] = [
    { origin: 'http://localhost:1', host: `localhost:${port}` },
    { origin: server.url, 'x-forwarded-for': '127.0.0.1' },
    { origin: server.url, cookie: `countersign_${port}=${'A'.repeat(43)}` },
  ]
  for (const headers of elsewhere) refused(await tryEverything(server.with(headers), action))

  // A thief has a copy of the database: no stored text is a valid key or console session.
  const texts = JSON.stringify(await server.dump()).match(/[\w-]{20,100}/g) ?? []
  for (const text of new Set(texts)) {
    const stolen: Record<string, string>[] = [{ authorization: `Bearer ${text}` }, { 'countersign-console': text, origin: server.url }]
    for (const headers of stolen) {
      expect((await approve(server.with(headers), action)).status, text).toBe(401)
    }
  }

  // A person has left: their vote, key, console and delegate no longer count.
  const console = server.with({ ...(await signInWithKey(server.url, await keyOf())), origin: server.url })
  await lea.post('/api/delegations', { to: vic.principal.id, expiresIn: 'P1D' })
  expect((await approve(lea, action)).status).toBe(200)
  await server.admin.post(`/api/people/${lea.principal.id}/disable`)
  for (const who of [lea, console]) refused(await tryEverything(who, action))
  expect((await approve(vic, action)).status).toBe(404)

  // An admin cheats: they have their own vote and get no other through keys, roles or other people's votes.
  expect((await approve(cheat, action)).status).toBe(200)
  const forged = await cheat.post('/api/keys', { name: 'more', kind: 'person', principal: ben.principal.id })
  const asBen = server.with({ authorization: `Bearer ${forged.key}` })
  refused([(await approve(asBen, action)).status, (await asBen.send('POST', `/api/keys/${forged.id}/accept`)).status])
  expect((await asBen.send('POST', '/api/delegations', { body: { to: cheat.principal.id, expiresIn: 'P1D' } })).status).toBe(403)
  expect((await approve(cheat, action)).body.votes).toHaveLength(1)

  await server.settle()
  expect(target.writes).toEqual([])
  // No refused request waits for its row.
  const actors = async (): Promise<string[]> =>
    (await server.admin.get('/api/audit?kind=refused&limit=200')).items.map(({ actor }: { actor: { id: string } }) => actor.id)
  await expect.poll(actors).toEqual(expect.arrayContaining([bot.principal.id, ben.principal.id, 'system']))

  // The right people decide, and the action runs once.
  expect((await approve(ana, action)).status).toBe(200)
  await server.settle()
  expect(target.writes).toHaveLength(1)

  async function keyOf(): Promise<string> {
    return (await server.makeKey({ name: 'at the console', kind: 'person', principal: lea.principal.id })).key
  }
})
