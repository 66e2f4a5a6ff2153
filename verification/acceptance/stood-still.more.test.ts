import type { Action } from '@countersign/core'
import { expect, inject, test } from 'vitest'
import { openSeveralServers } from '../testing/several-servers.ts'
import type { TargetRequest } from '../testing/target.ts'

const whatOf = ({ body }: TargetRequest): string => (body as { what: string }).what

// Only Postgres allows several processes on one database.
test.skipIf(inject('database') !== 'postgres')(
  'a process that stands still while it carries out many actions and takes decisions: the others notice, nothing is done twice or decided late',
  { timeout: 600_000 },
  async () => {
    const hold = Promise.withResolvers<void>()
    const underKey = new Map<string, number>()
    await using all = await openSeveralServers({
      speak: () => ({ text: 'Hi.' }),
      async answer(request) {
        const key = String(request.headers['idempotency-key'])
        const nth = (underKey.get(key) ?? 0) + 1
        underKey.set(key, nth)
        // The first send of each is answered when its process is back.
        if (nth === 1 && whatOf(request).startsWith('under way')) await hold.promise
        return { status: 200, body: { id: nth } }
      },
    })
    const frozen = await all.start()
    const propose = (tool: string, what: string, more = {}): Promise<Action> =>
      frozen.admin.post('/api/actions', { tool, arguments: { what }, ...more })
    const approve = (id: string, at = frozen) => at.admin.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } })
    const numbers = [1, 2, 3, 4]
    const unkeyed = await Promise.all(numbers.map((n) => propose('unkeyed', `under way, unkeyed ${n}`)))
    const keyed = await Promise.all(numbers.map((n) => propose('keyed', `under way, keyed ${n}`)))
    for (const { id } of [...unkeyed, ...keyed]) expect((await approve(id)).status).toBe(200)
    await expect.poll(() => all.target.writes.length, { interval: 100 }).toBe(8)
    const [decided, declined] = await Promise.all([propose('unkeyed', 'decided meanwhile'), propose('unkeyed', 'declined meanwhile')])
    const expiring = await propose('unkeyed', 'expired meanwhile', { expiresIn: 'PT10S' })
    const other = await all.start()

    process.kill(frozen.pid, 'SIGSTOP')
    // These wait in the sockets of a process that stands still.
    const asked = [expiring, declined, decided]
    // A connection that was idle for too long is ended, which decides nothing.
    const late = asked.map(({ id }) => approve(id).catch(() => undefined))
    const settled = (id: string): Promise<Action> => other.admin.get(`/api/actions/${id}?wait=60&until=settled`)
    expect((await settled(expiring.id)).state).toBe('expired')
    await other.admin.post(`/api/actions/${declined.id}/decision`, { verdict: 'decline', reason: 'No' })
    expect((await approve(decided.id, other)).status).toBe(200)
    expect((await settled(decided.id)).state).toBe('succeeded')
    const taken = await Promise.all([...unkeyed, ...keyed].map(({ id }) => settled(id)))
    expect(taken.map(({ state }) => state)).toEqual([...unkeyed.map(() => 'outcome_unknown'), ...keyed.map(() => 'succeeded')])

    process.kill(frozen.pid, 'SIGCONT')
    hold.resolve()
    const statuses = [409, 409, 200]
    for (const [index, answer] of (await Promise.all(late)).entries()) expect(answer?.status).toBeOneOf([statuses[index], undefined])
    await expect.poll(async () => (await frozen.admin.send('GET', '/readyz')).status, { interval: 100 }).toBe(200)
    expect((await Promise.all(asked.map(({ id }) => approve(id)))).map(({ status }) => status)).toEqual(statuses)
    for (const action of taken) expect(await frozen.admin.get(`/api/actions/${action.id}`)).toEqual(action)
    const after = await propose('unkeyed', 'afterwards')
    expect((await approve(after.id)).status).toBe(200)
    expect((await settled(after.id)).state).toBe('succeeded')
    // One key each: those that the target recognises were sent again under theirs, the others were sent once.
    const sent = all.target.writes.map(whatOf)
    expect(underKey.size).toBe(10)
    for (const { arguments: args } of [...unkeyed, decided, after]) expect(sent.filter((what) => what === args.what)).toHaveLength(1)
    for (const { arguments: args } of keyed) expect(sent.filter((what) => what === args.what)).toHaveLength(2)
  },
)
