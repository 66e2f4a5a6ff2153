import { expect, test } from 'vitest'
import { STORES } from '../../../../../verification/testing/temp-store.ts'
import { anAction } from '../testing/an-action.ts'
import type { ActionRow } from './action-rows.ts'
import * as actions from './actions.ts'
import * as principals from './principals.ts'
import * as reads from './reads.ts'
import * as sessions from './sessions.ts'

const READ: Partial<ActionRow> = {
  session_id: 'ses_1',
  effect: 'read',
  digest: 'sha256:read',
  state: 'succeeded',
  result: '1',
  reusable_until: 100,
}

test.each(STORES)(
  'a result is given again only while it may be, to the same principal, session and digest ($database)',
  async ({ open }) => {
    await using temp = await open()
    const rows: [id: string, given: Partial<ActionRow>][] = [
      ['act_old', READ],
      ['act_new', READ],
      ['act_other_session', { ...READ, session_id: 'ses_2' }],
      ['act_other_person', { ...READ, requested_by: 'prn_ben' }],
      ['act_other_digest', { ...READ, digest: 'sha256:other' }],
      ['act_failed', { ...READ, state: 'failed' }],
      ['act_plain', { ...READ, reusable_until: null }],
    ]
    await temp.store.transact(function* () {
      for (const id of ['prn_ana', 'prn_ben']) yield* principals.savePrincipal({ id, kind: 'person', name: id, roles: [] }, 1)
      for (const id of ['ses_1', 'ses_2']) yield* sessions.insertSession.run({ id, agent: 'desk', title: '', owner_id: 'prn_ana', now: 1 })
      for (const [i, [id, given]] of rows.entries()) yield* actions.insertAction.run(anAction(`${id}_${i}`, given))
    })
    const read = { session_id: 'ses_1', digest: 'sha256:read', requested_by: 'prn_ana', latest: 100 }
    const find = (now: number, more = {}) => temp.store.read(() => reads.findReusable.first({ ...read, now, ...more }))
    expect((await find(99))?.id).toBe('act_old_0')
    expect(await find(100)).toBeUndefined()
    expect((await find(50, { session_id: 'ses_2' }))?.id).toBe('act_other_session_2')
    expect((await find(50, { requested_by: 'prn_ben' }))?.id).toBe('act_other_person_3')
    expect(await find(50, { digest: 'sha256:none' })).toBeUndefined()
    // It was kept by a clock that was ahead.
    expect(await find(50, { latest: 99 })).toBeUndefined()

    await temp.store.transact(() => reads.endReuse.run({ session_id: 'ses_1', destination: 'elsewhere' }))
    expect(await find(50)).toBeDefined()
    await temp.store.transact(() => reads.endReuse.run({ session_id: 'ses_1', destination: 'local' }))
    expect(await find(50)).toBeUndefined()
    expect(await find(50, { session_id: 'ses_2' })).toBeDefined()
  },
)
