import { CountersignError, type Principal } from '@countersign/core'
import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { manualClock } from '../../../../verification/testing/manual-clock.ts'
import { raw, STORES, type TempStore } from '../../../../verification/testing/temp-store.ts'
import { principals, pushSubscriptions, retention } from '../store/index.ts'
import { type ConsoleSessions, createConsoleSessions, ROTATED_EVERY_MS, type SignedInHow } from './console-sessions.ts'

const HOUR = 3_600_000
const ana: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['admin'] }

/** Two processes on one store, whose sign-ins end after 12 idle hours and after 3 days in any case. */
async function openSessions({ store }: TempStore) {
  await store.transact(() => principals.savePrincipal(ana, 1))
  const clock = manualClock()
  const accepted = new Set<SignedInHow>(['local', 'key', 'oidc'])
  const keys = new Map([['hash-of-a-key', { ...ana, roles: [] }]])
  const keyEnds = new Map<string, number>()
  const uses: string[] = []
  const disk = { isFull: false }
  const one = () =>
    createConsoleSessions({
      store: {
        ...store,
        transact: (work) => (disk.isFull ? Promise.reject(new CountersignError('storage_full', 'the disk is full')) : store.transact(work)),
      },
      clock,
      log: pino({ level: 'silent' }),
      limits: { idleMs: 12 * HOUR, maxMs: 3 * 24 * HOUR },
      accepts: (how) => accepted.has(how),
      byKeyHash: async (hash) => {
        uses.push(hash)
        return keys.get(hash)
      },
      // biome-ignore lint/correctness/useYield: a transaction that asks nothing
      keyStanding: function* (hash) {
        const principal = keys.get(hash)
        const endsAt = keyEnds.get(hash)
        return endsAt !== undefined && clock.nowMs() >= endsAt ? undefined : principal && { principal, endsAt }
      },
    })
  /** Resolves when activity of the session has been recorded. */
  const noted = () =>
    expect
      .poll(async () => (await store.read(() => raw<{ at: unknown }>(sql`select max(seen_at) as at from console_session`)))[0]?.at, {
        interval: 2,
      })
      .toSatisfy((at) => Number(at) === clock.nowMs())
  /** Sends a secret back; resolves when that has been recorded. */
  const use = async (sessions: ConsoleSessions, secret: string | undefined) => {
    expect(await sessions.read(secret ?? '')).toBeDefined()
    await expect
      .poll(() => store.read(() => raw(sql`select id from console_session where used_at is null`)), { interval: 2 })
      .toHaveLength(0)
  }
  return { clock, disk, accepted, keys, keyEnds, uses, noted, use, here: one(), there: one() }
}

test.each(STORES)('a session ends after its idle time and after its longest time, whatever is done in it ($database)', async ({ open }) => {
  await using temp = await open()
  const { clock, noted, here, there } = await openSessions(temp)
  const idle = await here.begin({ principal: ana, how: 'oidc' })
  clock.pass(12 * HOUR)
  expect((await there.read(idle))?.principal).toEqual(ana)
  await noted()
  clock.pass(12 * HOUR)
  expect(await here.read(idle)).toBeDefined()
  await noted()
  clock.pass(12 * HOUR + 1)
  expect(await here.read(idle)).toBeUndefined()

  const busy = await here.begin({ principal: ana, how: 'oidc' })
  for (let day = 0; day < 6; day++) {
    expect(await there.read(busy), `half day ${day}`).toBeDefined()
    await noted()
    clock.pass(12 * HOUR)
  }
  clock.pass(1)
  expect(await there.read(busy)).toBeUndefined()
})

test.each(STORES)(
  'the secret changes every hour; the one before is good for a minute after the first use, and neither two give a third ($database)',
  async ({ open }) => {
    await using temp = await open()
    const { clock, use, here, there } = await openSessions(temp)
    const first = await here.begin({ principal: ana, how: 'local' })
    const session = await here.read(first)
    if (!session) throw new Error('the session has begun')
    expect(await here.renew(session)).toBeUndefined()
    clock.pass(ROTATED_EVERY_MS)
    const renewed = await Promise.all([here.renew(session), there.renew(session)])
    const [second, nothing] = renewed[0] === undefined ? renewed.reverse() : renewed
    expect([typeof second, nothing]).toEqual(['string', undefined])
    await use(there, second)
    expect(await there.read(first)).toBeDefined()
    clock.pass(60_001)
    expect(await there.read(first)).toBeUndefined()
    expect((await there.read(second ?? ''))?.id).toBe(session.id)
  },
)

test.each(STORES)(
  'a new secret whose answer was lost signs nobody out: the one before stays good, and gets another an hour later ($database)',
  async ({ open }) => {
    await using temp = await open()
    const { clock, use, here, there } = await openSessions(temp)
    const first = await here.begin({ principal: ana, how: 'local' })
    const renew = async () => {
      const session = await there.read(first)
      return session && there.renew(session)
    }
    clock.pass(HOUR)
    const lost = await renew()
    expect(lost).toEqual(expect.any(String))
    clock.pass(HOUR - 1)
    expect(await renew()).toBeUndefined()
    clock.pass(1)
    const second = await renew()
    expect(second).toEqual(expect.any(String))
    expect(await here.read(lost ?? '')).toBeUndefined()
    await use(here, second)
    clock.pass(60_001)
    expect(await here.read(first)).toBeUndefined()
    expect(await here.read(second ?? '')).toBeDefined()
  },
)

test.each(STORES)('a request with the secret before gets no other once the new one is in use ($database)', async ({ open }) => {
  await using temp = await open()
  const { clock, use, here, there } = await openSessions(temp)
  const first = await here.begin({ principal: ana, how: 'local' })
  clock.pass(HOUR)
  const session = await here.read(first)
  if (!session) throw new Error('the session has begun')
  const second = await here.renew(session)
  clock.pass(HOUR)
  const late = await there.read(first)
  if (!late) throw new Error('the new secret was not used yet')
  await use(here, second)
  expect(await there.renew(late)).toBeUndefined()
  expect(await here.read(second ?? '')).toBeDefined()
})

test.each(STORES)(
  'a new secret that cannot be stored fails no request, and the one before stays good until one can be ($database)',
  async ({ open }) => {
    await using temp = await open()
    const { clock, disk, here } = await openSessions(temp)
    const first = await here.begin({ principal: ana, how: 'local' })
    clock.pass(ROTATED_EVERY_MS)
    const session = await here.read(first)
    if (!session) throw new Error('the session has begun')
    disk.isFull = true
    expect(await here.renew(session)).toBeUndefined()
    disk.isFull = false
    clock.pass(HOUR)
    expect(await here.read(first)).toMatchObject({ id: session.id, newest: session.newest })
    expect(await here.renew(session)).toEqual(expect.any(String))
  },
)

test.each(STORES)(
  'signing out ends it in every process, here or everywhere, and a sign-in ends what the browser had ($database)',
  async ({ open }) => {
    await using temp = await open()
    const { here, there } = await openSessions(temp)
    const [one = '', two = '', three = ''] = [
      await here.begin({ principal: ana, how: 'local' }),
      await here.begin({ principal: ana, how: 'key', keyHash: 'hash-of-a-key' }),
      await here.begin({ principal: ana, how: 'oidc', idToken: 'token' }),
    ]
    const session = await there.read(one)
    if (!session) throw new Error('the session has begun')
    await there.end(session, false)
    expect([await here.read(one), await there.read(one)]).toEqual([undefined, undefined])
    expect(await here.read(two)).toBeDefined()
    const replaced = await there.begin({ principal: ana, how: 'local', replaces: two })
    expect(await here.read(two)).toBeUndefined()
    const last = await here.read(three)
    if (!last) throw new Error('the session has begun')
    expect(await here.end(last, true)).toEqual({ idToken: 'token' })
    expect([await there.read(three), await there.read(replaced)]).toEqual([undefined, undefined])
  },
)

test.each(STORES)('a session is never more than its key, and ends with it and with the way it began ($database)', async ({ open }) => {
  await using temp = await open()
  const { accepted, keys, here } = await openSessions(temp)
  const byKey = await here.begin({ principal: ana, how: 'key', keyHash: 'hash-of-a-key' })
  expect((await here.read(byKey))?.principal.roles).toEqual([])
  keys.clear()
  expect(await here.read(byKey)).toBeUndefined()
  const local = await here.begin({ principal: ana, how: 'local' })
  accepted.delete('local')
  expect(await here.read(local)).toBeUndefined()
})

test.each(STORES)('looking at the sessions of a person is no use of the keys that began them ($database)', async ({ open }) => {
  await using temp = await open()
  const { clock, accepted, keys, uses, here } = await openSessions(temp)
  for (const how of ['local', 'key', 'oidc'] as const) {
    await here.begin({ principal: ana, how, ...(how === 'key' && { keyHash: 'hash-of-a-key' }) })
    clock.pass(1)
  }
  const listed = async () => (await here.list(ana.id, { before: undefined, limit: 10 })).map(({ how, isGood }) => [how, isGood])
  expect(await listed()).toEqual([
    ['oidc', true],
    ['key', true],
    ['local', true],
  ])
  keys.clear()
  accepted.delete('local')
  expect(await listed()).toEqual([
    ['oidc', true],
    ['key', false],
    ['local', false],
  ])
  expect(uses).toEqual([])
})

test.each(STORES)(
  'a sign-in ends the notifications of whoever was signed in there before, also after a weekend; they end with the cookie at last ($database)',
  async ({ open }) => {
    await using temp = await open()
    const { clock, here } = await openSessions(temp)
    const { store } = temp
    const ben: Principal = { id: 'prn_ben', kind: 'person', name: 'Ben', roles: [] }
    await store.transact(() => principals.savePrincipal(ben, 1))
    const limits = { idleMs: 12 * HOUR, maxMs: 3 * 24 * HOUR }
    async function subscribe(id: string): Promise<string> {
      const cookie = await here.begin({ principal: ana, how: 'oidc' })
      const session_id = (await here.read(cookie))?.id ?? ''
      const to = { endpoint: `https://fcm.googleapis.com/${id}`, p256dh: 'p', auth: 'a' }
      await store.transact(() => pushSubscriptions.insertSubscription.change({ id, session_id, ...to, now: clock.nowMs() }))
      return cookie
    }
    async function passes(hours: number): Promise<void> {
      clock.pass(hours * HOUR)
      await store.transact(() => retention.deleteConsoleSessions(limits)(clock.nowMs()))
    }
    const notified = async () =>
      (await store.read(() => pushSubscriptions.listSendable.all({ now: clock.nowMs() }))).map(({ subscription_id }) => subscription_id)
    const cookie = await subscribe('psh_1')
    await passes(60)
    expect(await notified()).toEqual(['psh_1'])
    expect(await here.read(cookie)).toBeUndefined()
    await here.begin({ principal: ben, how: 'oidc', replaces: cookie })
    expect(await notified()).toEqual([])

    await subscribe('psh_2')
    await passes(3 * 24)
    expect(await notified()).toEqual(['psh_2'])
    await passes(1)
    expect(await notified()).toEqual([])
    // Earlier versions left such subscriptions behind.
    await subscribe('psh_3')
    await store.transact(() => raw(sql`delete from console_session`))
    await passes(0)
    expect(await notified()).toEqual([])
  },
)

test.each(STORES)(
  'a session that a key opened is listed with the end of the key, and only valid sessions are counted ($database)',
  async ({ open }) => {
    await using temp = await open()
    const { clock, keyEnds, here } = await openSessions(temp)
    const now = clock.nowMs()
    await here.begin({ principal: ana, how: 'key', keyHash: 'hash-of-a-key' })
    const ends = async () => (await here.list(ana.id, { before: undefined, limit: 10 })).map(({ endsAt }) => Date.parse(endsAt) - now)
    expect(await ends()).toEqual([12 * HOUR])
    keyEnds.set('hash-of-a-key', now + HOUR)
    expect(await ends()).toEqual([HOUR])
    await here.begin({ principal: ana, how: 'local' })
    const count = () => temp.store.read(() => here.countIn(ana.id, clock.nowMs()))
    expect(await count()).toBe(2)
    clock.pass(HOUR)
    expect(await count(), 'its key has expired').toBe(1)
    clock.pass(11 * HOUR + 1)
    expect(await count(), 'nobody was there for 12 hours').toBe(0)
  },
)
