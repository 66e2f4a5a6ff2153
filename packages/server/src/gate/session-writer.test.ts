import fc from 'fast-check'
import { expect, test } from 'vitest'
import { STORES } from '../../../../verification/testing/temp-store.ts'
import { actions, endUnstarted, events, loadSession, principals, readSession, type SessionState, sessions } from '../store/index.ts'
import { anAction } from '../store/testing/an-action.ts'
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

/** The operations on a session that is open for writing. Each number chooses one of the existing rows. */
const step = fc.oneof(
  fc.record({ do: fc.constant('say' as const), as: fc.constantFrom('answered', 'queued', 'held', 'note'), by: fc.nat(2) }),
  fc.record({ do: fc.constantFrom('dequeue' as const, 'unqueue' as const, 'call' as const), at: fc.nat(5) }),
  fc.record({ do: fc.constantFrom('begin' as const, 'count' as const, 'end' as const, 'fail' as const) }),
  fc.record({ do: fc.constantFrom('propose' as const, 'cancel' as const), at: fc.nat(5) }),
)

const inOrder = ({ authors, run, session, known: _known, ...rest }: SessionState) => ({
  ...rest,
  authors: authors.toSorted(),
  // A written row is as old as its last transaction.
  run: run && { ...run, updated_at: 0 },
  session: { ...session, updated_at: 0 },
})

test.each(STORES)('what a session is after any writes is what its rows say ($database)', async ({ open }) => {
  await using temp = await open()
  const { store } = temp
  const people = ['prn_ana', 'prn_ben', 'prn_cy']
  await store.transact(function* () {
    for (const id of people) yield* principals.savePrincipal({ id, kind: 'person', name: id, roles: [] }, 1)
    yield* principals.disablePerson.change({ id: 'prn_cy', by: null, now: 2 })
  })
  let made = 0
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 4 }), async (transactions) => {
      const sessionId = `ses_${String(++made).padStart(4, '0')}`
      const held: number[] = []
      await store.transact(() => sessions.insertSession.run({ id: sessionId, agent: 'desk', title: '', owner_id: 'prn_ana', now: 1 }))
      for (const steps of transactions) {
        const { written, rows, remembered } = await store.transact(function* (outbox) {
          const writer = yield* writeSession(outbox, sessionId, 3)
          for (const one of steps) {
            const { run, queued, open } = writer.state
            const id = `${sessionId}_${String(++made).padStart(6, '0')}`
            if (one.do === 'say') {
              const author = { id: people[one.by] ?? '', name: '' }
              const isHeld = one.as === 'held'
              const message = yield* writer.message({
                ...{ id, role: 'user', content: 'hi', inHistory: one.as === 'answered', queued: isHeld ? 2 : one.as === 'queued' ? 1 : 0 },
                ...(isHeld && { run_id: id }),
                ...(one.as !== 'note' && { author }),
              })
              if (isHeld) held.push(message.seq)
            } else if (one.do === 'call') yield* writer.enqueueHeld(held[one.at % (held.length || 1)] ?? 0)
            else if (one.do === 'dequeue' || one.do === 'unqueue') {
              const next = queued[one.at % (queued.length || 1)]
              if (next && one.do === 'dequeue') yield* writer.dequeue(next, id)
              else if (next) yield* writer.unqueue(next.seq)
            } else if (one.do === 'begin' && run?.state !== 'open') yield* writer.beginRun(id)
            else if (run && one.do === 'count') writer.countStep(run, USAGE)
            else if (run && one.do === 'end') writer.endRun(run.id, 'done')
            else if (run && one.do === 'fail') writer.failRun(run)
            else if (one.do === 'propose') {
              const row = anAction(id, { session_id: sessionId, requested_by: 'prn_ana', idempotency_key: id })
              yield* actions.insertAction.run({ ...row })
              writer.noteAction(row)
            } else if (one.do === 'cancel') {
              const named = open[one.at % (open.length || 1)]
              const moved = named && (yield* endUnstarted(named.id, 'cancel', { error: null, atAnyTime: true }, 3))
              if (moved) writer.noteAction(moved)
            }
          }
          yield* writer.finish()
          return { written: writer.state, rows: yield* readSession(sessionId), remembered: yield* loadSession(sessionId) }
        })
        expect(rows && inOrder(rows)).toEqual(inOrder({ ...written, hasDisabled: rows?.hasDisabled ?? false }))
        expect(remembered && inOrder(remembered)).toEqual(rows && inOrder(rows))
        const isDisabled = written.authors.includes('prn_cy') || written.queued.some(({ author_id }) => author_id === 'prn_cy')
        expect(rows?.hasDisabled).toBe(isDisabled)
      }
    }),
    { numRuns: 60 },
  )
})

const USAGE = { input_tokens: 3, cached_input_tokens: 1, output_tokens: 2, cache_write_tokens: 1, estimated: 1 }
