import { Client } from 'pg'
import { expect, inject, test } from 'vitest'
import type { ApiAnswer, ApiClient } from '../testing/api-client.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { openServerDatabase } from '../testing/test-database.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

// Rights are changed at the moment they are used, many times over. On Postgres the two sides come in through two servers.

const ROUNDS = 25

/**
 * One server on SQLite, two on one Postgres, where transactions that wait in a circle wait until the server gives up: after a second the
 * database would find most circles, and end them without anybody seeing more than a slow answer.
 */
async function startDesk() {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const database = stack.use(await openServerDatabase())
  const folder = stack.use(temporaryFolder())
  const isShared = inject('database') === 'postgres'
  if (isShared) {
    const url = database.environment.DATABASE_URL ?? ''
    await using client = Object.assign(new Client({ connectionString: url }), { [Symbol.asyncDispose]: () => client.end() })
    await client.connect()
    await client.query(`alter database ${client.escapeIdentifier(new URL(url).pathname.slice(1))} set deadlock_timeout = '1h'`)
  }
  const start = async () =>
    stack.use(
      await startTestServer({
        config: { agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } }, tools: toolsOf(target) },
        scripts: { desk: [{ text: 'Done.' }] },
        place: { dataDir: folder.path, environment: database.environment },
      }),
    )
  const here = await start()
  const there = isShared ? await start() : here
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
  return {
    ...{ target, here, there },
    /** Somebody with a key of their own, who comes in at either server. */
    async made(body: Parameters<typeof here.makeKey>[0]) {
      const { key, id, principal } = await here.makeKey(body)
      return { id, principal, here: here.with(bearer(key)), there: there.with(bearer(key)) }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

const refused = (answers: readonly ApiAnswer[]) => answers.flatMap(({ status, body }) => (status < 300 ? [] : [body]))
const propose = (who: ApiClient, what: string) => who.send('POST', '/api/actions', { body: { tool: 'keyed', arguments: { what } } })
const decide = (who: ApiClient, id: string) => who.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } })

test('a host makes tokens while an admin changes roles: nobody waits in a circle', async () => {
  await using desk = await startDesk()
  const portal = await desk.made({ name: 'portal', kind: 'service', person: null, scopes: ['embed'], embedRoles: ['approver', 'finance'] })
  const { principal } = await desk.made({ name: 'Ben', kind: 'person', roles: ['approver'] })
  const mint = (person: string, role: string) => portal.there.send('POST', '/api/embed-tokens', { body: { person, roles: [role] } })
  const give = (...roles: string[]) => desk.here.admin.send('PATCH', `/api/people/${principal.id}`, { body: { roles } })
  for (let round = 0; round < ROUNDS; round++) {
    const role = round % 2 === 0 ? 'finance' : 'approver'
    // A person who is new, and one whose roles changed: both are written by the same request that makes the token.
    const answers = await Promise.all([mint(`new-${round}`, role), give(role), mint('known', role), give('viewer')])
    expect(refused(answers), `round ${round}`).toEqual([])
  }
})

test('an agent repeats what it asked while people decide and an admin changes roles: nobody waits in a circle', async () => {
  await using desk = await startDesk()
  const bot = await desk.made({ name: 'bot', kind: 'agent' })
  const ana = await desk.made({ name: 'Ana', kind: 'person', roles: ['approver'] })
  const { principal } = await desk.made({ name: 'Ben', kind: 'person', roles: ['approver'] })
  const give = (role: string) => desk.here.admin.send('PATCH', `/api/people/${principal.id}`, { body: { roles: [role] } })
  for (let round = 0; round < ROUNDS; round++) {
    const what = `round ${round}`
    const { body } = await propose(bot.here, what)
    const role = round % 2 === 0 ? 'viewer' : 'approver'
    const answers = await Promise.all([propose(bot.here, what), decide(ana.there, body.id), give(role), propose(bot.there, what)])
    expect(refused(answers), `round ${round}`).toEqual([])
  }
})
