import { expect, test } from 'vitest'
import { STORES } from '../../../../verification/testing/temp-store.ts'
import { events, principals, sessions } from '../store/index.ts'
import { writeSession } from './session-writer.ts'

test.each(STORES)(
  'the numbers of a session have no gap and no repeat under 1,000 transactions at once, some of which fail ($database)',
  async ({ database, open }) => {
    await using temp = await open()
    const { store, committed } = temp
    const ids = ['ses_a', 'ses_b', 'ses_c']
    await store.transact(function* () {
      yield* principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }, 1)
      for (const id of ids) yield* sessions.insertSession.run({ id, agent: 'desk', title: '', owner_id: 'prn_ana', now: 1 })
    })
    const results = await Promise.allSettled(
      Array.from({ length: 1_000 }, async (_, n) => {
        // In several turns of the event loop, so that batches of many sizes come together.
        for (let turns = n % 7; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve))
        await store.transact(function* (outbox) {
          const writer = yield* writeSession(outbox, ids[n % ids.length] ?? '', 1)
          for (let said = 0; said <= n % 3; said++) writer.event({ type: 'delta', data: { messageId: `msg_${n}`, content: String(said) } })
          yield* writer.message({ id: `msg_${n}`, role: 'user', content: String(n), inHistory: true })
          yield* n % 2 === 0 ? writer.save() : writer.finish()
          if (n % 10 === 9) throw new Error('on second thoughts')
        })
      }),
    )
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(100)

    for (const id of ids) {
      const last = (await store.read(() => sessions.findSession.first({ id })))?.last_seq ?? 0
      const counted = Array.from({ length: last }, (_, index) => index + 1)
      const rows = await store.read(() => events.sessionRowsAfter.all({ session_id: id, after: 0, limit: 10_000 }))
      const stored = rows.flatMap(events.readEvents)
      expect(last).toBeGreaterThanOrEqual(600)
      expect(stored.map(({ seq }) => seq)).toEqual(counted)
      expect(stored.map(({ id: place }) => place)).toEqual(stored.map(({ id: place }) => place).toSorted((a, b) => a - b))
      const live = committed.flatMap((outbox) => outbox.events.filter(({ sessionId }) => sessionId === id))
      // On Postgres commits are told as their answers arrive; who follows a session reads its rows.
      if (database === 'postgres') live.sort((a, b) => a.id - b.id)
      expect(live).toEqual(stored)
    }
  },
)
