import { expect, inject, test } from 'vitest'
import { openSeveralServers } from '../testing/several-servers.ts'

// Only Postgres allows several processes on one database.
const onPostgres = test.skipIf(inject('database') !== 'postgres')

onPostgres('once a save is answered, no process decides by the version before', { timeout: 600_000 }, async () => {
  await using it = await openSeveralServers({ speak: () => ({ text: '' }), answer: () => ({ status: 200, body: { id: 6 } }) })
  const [one, other] = await Promise.all([it.start(), it.start()])
  const servers = [one, other]
  const propose = (nth: number) =>
    servers.map((server) => server.admin.post('/api/actions', { tool: 'keyed', arguments: { what: `${nth}` } }))
  for (let nth = 1; nth <= 6; nth++) {
    const saver = nth % 2 === 0 ? one : other
    const { version } = await saver.admin.get('/api/policy')
    const verdict = nth % 2 === 0 ? 'ask' : 'deny'
    // A proposal made during the save is decided by exactly one version.
    const meanwhile = Promise.all(propose(nth))
    const saved = await saver.admin.send('PUT', '/api/policy', {
      body: { document: { rules: [{ name: `nth ${nth}`, match: {}, verdict }] }, reason: 'changed' },
      headers: { 'if-match': `"${version}"` },
    })
    expect(saved.body.version).toBe(version + 1)
    for (const action of await Promise.all(propose(nth))) {
      expect(action.policy).toMatchObject({ verdict, rule: `nth ${nth}`, version: version + 1 })
    }
    for (const { policy, state } of await meanwhile) {
      const said = policy.version === 1 ? ['ask', 'default'] : [policy.version % 2 === 0 ? 'deny' : 'ask', `nth ${policy.version - 1}`]
      expect([policy.verdict, policy.rule]).toEqual(said)
      expect(state).toBe(policy.verdict === 'deny' ? 'declined' : 'proposed')
    }
  }
})
