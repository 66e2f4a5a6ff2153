import { mkdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { openForger } from '../testing/forge-record.ts'
import { bodiesOf, type HeldPlace, openHeld, read } from '../testing/held-place.ts'
import { endKey, holdLock } from '../testing/hold-lock.ts'
import type { TargetAnswer } from '../testing/target.ts'

// A copy is accepted while something else happens: somebody else accepts it, its process dies, the right to do so ends. On both databases.

const database = inject('database')
const onPostgres = test.skipIf(database !== 'postgres')
const onSqlite = test.skipIf(database !== 'sqlite')

/** Of what the server before had started nothing is known; what was approved is carried out once. */
async function expectAccepted(place: HeldPlace, server: Parameters<typeof read>[0]): Promise<void> {
  for (const action of place.approved) await expect.poll(() => read(server, action)).toMatchObject({ state: 'succeeded', attempt: 1 })
  for (const action of [place.keyed, place.unkeyed]) {
    expect(await read(server, action)).toMatchObject({ state: 'outcome_unknown', attempt: 1 })
  }
  expect(bodiesOf(place.target).sort()).toEqual(['k1', 'k2', 'u1', 'u2', 'u3'])
  expect((await server.admin.get('/api/audit?kind=copy_accepted')).items).toHaveLength(1)
}

test('people who accept a copy at the same moment hear that it is accepted, and one epoch begins', async () => {
  await using place = await openHeld()
  const { server } = place
  const answers = await Promise.all([1, 2, 3].map(() => server.admin.send('POST', '/api/hold/accept', { body: {} })))
  for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: { held: false, epoch: 2 } })
  await expectAccepted(place, server)
})

onPostgres('when another process accepts the copy first, what then starts is not taken for an attempt from before', async () => {
  const answered = Promise.withResolvers<TargetAnswer>()
  await using place = await openHeld({ answer: () => answered.promise })
  const { server, target, keyed, unkeyed, approved } = place
  const [first] = [keyed.id, unkeyed.id].sort()
  const held = await holdLock(server, first ?? '')
  const accepting = server.admin.send('POST', '/api/hold/accept', { body: {} })
  await held.isWaitedFor()
  {
    await using other = await openForger(server.database)
    await other.run("update action set state = 'outcome_unknown', runner = null where state = 'executing'")
    await other.run("update instance set id = 'another', epoch = epoch + 1, held_at = null, held_why = null")
  }
  await expect.poll(() => bodiesOf(target).length).toBe(5)
  await held.letGo()
  expect(await accepting).toMatchObject({ status: 200, body: { held: false, epoch: 2 } })
  for (const action of approved) expect((await read(server, action)).state).toBe('executing')
  answered.resolve({ status: 200, body: { id: 1 } })
  for (const action of approved) await expect.poll(() => read(server, action)).toMatchObject({ state: 'succeeded', attempt: 1 })
})

onPostgres('an admin whose key ends while they accept a copy changes nothing, not even what is under way', async () => {
  await using place = await openHeld()
  const { server, ada, keyed, unkeyed } = place
  const held = await holdLock(server, 'rights')
  const accepting = server.with({ authorization: `Bearer ${ada.key}` }).send('POST', '/api/hold/accept', { body: {} })
  await held.isWaitedFor()
  await endKey(held, ada.id)
  expect((await accepting).status).toBe(401)
  expect(await server.admin.get('/api/hold')).toMatchObject({ held: true, epoch: 1, open: { executing: 2, outcomeUnknown: 0 } })
  for (const action of [keyed, unkeyed]) expect((await read(server, action)).state).toBe('executing')
})

for (const point of ['accept.attempts_ended', 'accept.stored']) {
  test(`a copy whose server is killed at ${point} is accepted by asking again, and is not held anew`, async () => {
    await using place = await openHeld()
    await place.server.stop()
    const first = await place.startChild({ point, nth: 1 })
    await expect(first.admin.send('POST', '/api/hold/accept', { body: {} })).rejects.toThrow()
    await first.kill()
    const second = await place.startChild()
    const isStored = point === 'accept.stored'
    expect(await second.admin.get('/api/hold')).toMatchObject({ held: !isStored, epoch: isStored ? 2 : 1 })
    expect(await second.admin.send('POST', '/api/hold/accept', { body: {} })).toMatchObject({
      status: 200,
      body: { held: false, epoch: 2 },
    })
    await expectAccepted(place, second)
  })
}

onSqlite('a copy that cannot be accepted for want of its file stays held, and the next attempt holds after a restart', async () => {
  await using place = await openHeld()
  const { server } = place
  const inTheWay = join(server.dataDir, 'instance.new')
  mkdirSync(inTheWay)
  expect((await server.admin.send('POST', '/api/hold/accept', { body: {} })).status).toBe(500)
  expect(await server.admin.get('/api/hold')).toMatchObject({ held: true, epoch: 1 })
  rmdirSync(inTheWay)
  expect(await server.admin.send('POST', '/api/hold/accept', { body: {} })).toMatchObject({ status: 200, body: { held: false, epoch: 2 } })
  await expectAccepted(place, server)
  await server.stop()
  expect(await (await place.start({})).admin.get('/api/hold')).toMatchObject({ held: false, epoch: 2 })
})
