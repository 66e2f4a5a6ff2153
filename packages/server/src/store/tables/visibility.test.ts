import { expect, test } from 'vitest'
import { STORES } from '../../../../../verification/testing/temp-store.ts'
import { anAction } from '../testing/an-action.ts'
import { insertAction, listActions } from './actions.ts'
import { savePrincipal } from './principals.ts'
import { deleteSession } from './session-deletion.ts'
import { insertSession, listSessions } from './sessions.ts'
import { seesActionOf, seesSessionOf } from './visibility.ts'
import { castVote } from './votes.ts'

const ASKED = '{"verdict":"ask","rule":"r"}'
const asks = (...roles: string[]) => JSON.stringify({ quorum: 1, roles, notRequester: false })
const reader = (id: string, ...roles: string[]) => ({ id: `prn_${id}`, personId: `prn_${id}`, roles })

test.each(STORES)('lists, one action and one session agree on who sees what ($database)', async ({ open }) => {
  await using temp = await open()
  const { store } = temp
  await store.transact(function* () {
    for (const name of ['ana', 'ben', 'eve']) yield* savePrincipal({ id: `prn_${name}`, kind: 'person', name, roles: [] }, 1)
    yield* savePrincipal({ id: 'prn_bot', kind: 'agent', name: 'bot', roles: [], personId: 'prn_eve' }, 1)
    for (const id of ['ses_1', 'ses_2', 'ses_3']) yield* insertSession.run({ id, agent: 'desk', title: '', owner_id: 'prn_ana', now: 1 })
    const rows = [
      anAction('act_1', { session_id: 'ses_1', policy: ASKED, requires: asks('approver') }),
      anAction('act_2', { session_id: 'ses_1', policy: ASKED, requires: asks('finance') }),
      anAction('act_3', { session_id: 'ses_2', policy: '{"verdict":"allow"}', requires: asks('approver', 'roles') }),
      anAction('act_5', { session_id: 'ses_3', policy: ASKED, requires: asks('legal') }),
      anAction('act_6', { session_id: 'ses_3', policy: ASKED, requires: asks('other') }),
      anAction('act_4', { policy: ASKED, requires: asks('finance', 'legal'), requested_by: 'prn_bot' }),
    ]
    for (const [i, row] of rows.entries()) yield* insertAction.run({ ...row, idempotency_key: `key ${i}` })
    // Eve had a role when she voted.
    const vote = { action_id: 'act_1', revision: 1, principal_id: 'prn_eve', for_id: null, verdict: 'approve', reason: null } as const
    yield* castVote.run({ ...vote, created_at: 1, counts: null })
    yield* deleteSession({ id: 'ses_3', last: 0, now: 2 })
  })
  const table: [
    who: ReturnType<typeof reader> | (Omit<ReturnType<typeof reader>, 'personId'> & { personId: null }),
    actions: number[],
    sessions: number[],
  ][] = [
    [reader('ben', 'approver'), [1, 2], [1]],
    [reader('ben', 'legal'), [4, 5], []],
    [reader('ben', 'quorum', 'notRequester'), [], []],
    [reader('ben'), [], []],
    [reader('ana'), [1, 2, 3, 5, 6], [1, 2]],
    [reader('eve'), [1, 4], []],
    [{ id: 'prn_bot', personId: null, roles: [] }, [4], []],
  ]
  for (const [who, wanted, sessions] of table) {
    const what = `${who.id} ${who.roles}`
    const listed = await store.read(() => listActions({ reader: who, limit: 10 }))
    expect(listed.map(({ id }) => Number(id.slice(4))).sort(), what).toEqual(wanted)
    for (const nth of [1, 2, 3, 4, 5, 6]) expect(await store.read(() => seesActionOf(who, `act_${nth}`)), what).toBe(wanted.includes(nth))
    const found = await store.read(() => listSessions({ reader: who, statuses: [], before: undefined, limit: 10 }))
    expect(found.map(({ id }) => Number(id.slice(4))).sort(), what).toEqual(sessions)
    for (const nth of [1, 2]) expect(await store.read(() => seesSessionOf(who, `ses_${nth}`)), what).toBe(sessions.includes(nth))
  }
})
