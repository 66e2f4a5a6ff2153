import type { Principal } from '@countersign/core'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { rowOf } from '../../../../../verification/testing/bare-gate.ts'
import { bot, both, fay, gil, hal, openFinance, person, root, vic, wil } from '../../../../../verification/testing/finance-gate.ts'
import { raw } from '../../../../../verification/testing/temp-store.ts'
import { delegations, newId, principals } from '../../store/index.ts'
import { listWaitingFor } from '../read/inbox-query.ts'
import { viewVotes } from '../read/view.ts'
import { lenderIdsOf } from './rights.ts'

test('a delegate votes with the right of the person in whose place they are, and the vote says for whom', async () => {
  await using desk = await openFinance({})
  const id = await desk.propose()
  expect(await desk.vote(id, vic)).toBe('forbidden')
  await desk.lend(fay, vic)
  const action = await desk.gate.decide(id, { verdict: 'approve', reason: 'Fay asked me to' }, { principal: vic })
  expect(action).toMatchObject({ state: 'approved', votes: [{ by: { id: vic.id }, for: { id: fay.id }, verdict: 'approve' }] })
  expect(await desk.vote(await desk.propose(), vic, 'decline')).toBe('declined')
})

test('a delegation ends: by its time, by who gave it, with the role of who gave it', async () => {
  await using desk = await openFinance({})
  const lent = await desk.lend(fay, vic)
  expect(await desk.gate.endDelegation(lent.id, { principal: vic }).catch((error) => error.code), 'not by whom it was given to').toBe(
    'forbidden',
  )
  expect(await desk.gate.endDelegation(lent.id, { principal: wil }).catch((error) => error.code), 'not by others').toBe('not_found')
  await desk.gate.endDelegation(lent.id, { principal: fay })
  expect(await desk.vote(await desk.propose(), vic)).toBe('forbidden')
  await desk.lend(fay, vic, root)
  desk.pass(86_400_000)
  expect(await desk.vote(await desk.propose(), vic)).toBe('forbidden')
  await desk.lend(fay, vic)
  await desk.store.transact(() => principals.savePrincipal({ ...fay, roles: ['viewer'] }, 1))
  expect(await desk.vote(await desk.propose(), vic)).toBe('forbidden')
})

test('a delegation is one’s own, or an admin’s to give; never an agent’s, never to oneself or an agent, and it never chains', async () => {
  await using desk = await openFinance({})
  const code = (work: Promise<unknown>) =>
    work.then(
      () => 'done',
      (error) => error.code,
    )
  expect(await code(desk.lend(fay, vic, gil))).toBe('forbidden')
  expect(await code(desk.lend(fay, fay))).toBe('bad_request')
  expect(await code(desk.lend(fay, bot))).toBe('not_found')
  expect(await code(desk.lend(bot, vic, root))).toBe('not_found')
  expect(await code(desk.lend(bot, vic, bot))).toBe('forbidden')
  await desk.lend(fay, vic)
  await desk.lend(vic, wil)
  expect(await desk.vote(await desk.propose(), wil), 'what vic was lent is not vic’s to lend').toBe('forbidden')
})

test('who asked approves by no delegation, their own or another’s', async () => {
  await using desk = await openFinance({ notRequester: true })
  const id = await desk.propose()
  expect(await desk.vote(id, fay), 'her own agent asked').toBe('forbidden')
  await desk.lend(fay, vic)
  expect(await desk.vote(id, vic), 'in her place').toBe('forbidden')
  await desk.lend(gil, fay)
  expect(await desk.vote(id, fay), 'in another’s place').toBe('forbidden')
  expect(await desk.vote(id, gil)).toBe('approved')
})

test('who asked or edited votes in nobody’s place, also where the rule lets those vote who asked', async () => {
  await using desk = await openFinance({})
  const mia = person('mia', 'member')
  const agent: Principal = { id: 'prn_mias', kind: 'agent', name: 'mias', roles: ['agent'], personId: mia.id }
  await desk.store.transact(function* () {
    for (const one of [mia, agent]) yield* principals.savePrincipal(one, 1)
  })
  await desk.lend(fay, mia)
  for (const by of [mia, agent]) {
    const id = await desk.propose(by)
    expect(await desk.vote(id, mia), by.name).toBe('forbidden')
    expect(await desk.vote(id, vic, 'decline'), by.name).toBe('forbidden')
    expect(await desk.store.read(() => listWaitingFor(mia, { limit: 10 }, desk.nowMs()))).toEqual([])
    expect(await desk.vote(id, fay), 'she did not ask').toBe('approved')
  }
  const id = await desk.propose()
  const { digest } = await rowOf(desk.store, id)
  const edit = { verdict: 'approve', revision: 1, digest, arguments: { cents: 9 } } as const
  expect(await desk.gate.decide(id, edit, { principal: mia })).toMatchObject({ state: 'proposed', revision: 2, votes: [] })
  const approval = { verdict: 'approve', revision: 2, digest: (await rowOf(desk.store, id)).digest } as const
  await expect(desk.gate.decide(id, approval, { principal: mia }), 'she has no vote on it any more').rejects.toMatchObject({
    code: 'not_found',
  })
  expect(await desk.gate.decide(id, approval, { principal: fay })).toMatchObject({ state: 'approved', votes: [{ by: { id: fay.id } }] })
  expect(await desk.vote(await desk.propose(), mia), 'what fay’s agent asked she may approve, and so may her delegate').toBe('approved')
})

test('a vote in the place of another does not count of whom asked for the action after it', async () => {
  await using desk = await openFinance({ quorum: 2 })
  await desk.lend(fay, vic)
  const id = await desk.propose()
  expect(await desk.vote(id, vic)).toBe('proposed')
  await desk.store.transact(() => raw(sql`update action set requesters = ${JSON.stringify([bot.id, vic.id])} where id = ${id}`))
  const row = await rowOf(desk.store, id)
  expect(await desk.store.read(() => viewVotes(row, desk.nowMs()))).toMatchObject([{ by: { id: vic.id }, counts: false }])
  expect(await desk.vote(id, gil)).toBe('proposed')
  await desk.lend(fay, wil)
  expect(await desk.vote(id, wil), 'it uses nobody’s right').toBe('approved')
})

test('a key that leaves out a role is told that this is why it votes in nobody’s place', async () => {
  await using desk = await openFinance({})
  const id = await desk.propose()
  const refusal = (by: Principal) => desk.gate.decide(id, { verdict: 'approve' }, { principal: by }).catch((error) => error.message)
  const half = { ...both, roles: ['viewer'] }
  expect(await refusal(half)).toContain('the role finance is needed')
  await desk.lend(fay, both)
  expect(await refusal(half)).toContain("their key leaves out legal, so it votes in nobody's place")
  const offered = (by: Principal) => desk.store.read(() => listWaitingFor(by, { limit: 10 }, desk.nowMs()))
  expect([await offered(half), await offered(both)]).toMatchObject([[], [{ id }]])
  expect(await desk.vote(id, both)).toBe('approved')
})

test('a delegate reads again what an action would change, as whoever may vote does', async () => {
  await using desk = await openFinance({})
  const id = await desk.propose()
  const refresh = () => desk.gate.refresh(id, { principal: vic })
  await expect(refresh()).rejects.toMatchObject({ code: 'forbidden' })
  const lent = await desk.lend(fay, vic)
  expect(await refresh()).toMatchObject({ id, state: 'proposed', revision: 1 })
  await desk.gate.endDelegation(lent.id, { principal: fay })
  await expect(refresh()).rejects.toMatchObject({ code: 'forbidden' })
})

test('many delegations of one person hide nobody else’s: each lender counts once', async () => {
  await using desk = await openFinance({})
  const id = await desk.propose()
  // As many as an earlier version took.
  await desk.store.transact(function* () {
    for (let at = 0; at < 1_001; at++) {
      yield* delegations.insertDelegation.run({
        id: newId('del', desk.nowMs()),
        ...{ from_id: both.id, to_id: wil.id, made_by: both.id, reason: null },
        ...{ created_at: desk.nowMs(), expires_at: desk.nowMs() + 86_400_000, revoked_at: null, revoked_by: null },
      })
    }
  })
  desk.pass(1)
  await desk.lend(fay, wil)
  expect(await desk.vote(id, wil)).toBe('approved')
  expect(await desk.store.read(() => lenderIdsOf(wil, desk.nowMs()))).toEqual([both.id, fay.id])
})

test('at most ten delegations from one person to another are in force, and only ones in force count', async () => {
  await using desk = await openFinance({})
  const lent = []
  for (let at = 0; at < 10; at++) lent.push(await desk.lend(fay, vic))
  const refused = { code: 'bad_request', message: '10 delegations from fay to vic are in force: end one of them first' }
  await expect(desk.lend(fay, vic)).rejects.toMatchObject(refused)
  await expect(desk.lend(fay, vic, root), 'nor by an admin').rejects.toMatchObject(refused)
  await desk.lend(gil, vic)
  await desk.lend(fay, wil)
  await desk.gate.endDelegation(lent[0]?.id ?? '', { principal: fay })
  await desk.lend(fay, vic)
  await expect(desk.lend(fay, vic)).rejects.toMatchObject(refused)
  desk.pass(86_400_000)
  await desk.lend(fay, vic)
})

test('nothing is granted by a vote in the place of another', async () => {
  await using desk = await openFinance({})
  await desk.lend(gil, vic)
  const id = await desk.propose()
  const remember = { scope: 'agent', expiresIn: 'P1D', exact: true } as const
  await expect(desk.gate.decide(id, { verdict: 'approve', remember }, { principal: vic })).rejects.toMatchObject({ code: 'forbidden' })
  expect((await rowOf(desk.store, id)).state).toBe('proposed')
})

test('what has an unknown outcome is assigned to who may say what came of it: to no delegate, and to nobody who asked', async () => {
  // The agent acts for Fay.
  await using desk = await openFinance({ notRequester: true })
  await desk.lend(gil, vic)
  const id = await desk.propose()
  const assigned = (to: Principal) =>
    desk.gate.assign(id, { to: { person: to.id } }, { principal: hal }).then(
      ({ assignment }) => assignment && 'person' in assignment && assignment.person.name,
      (error) => error.code,
    )
  expect([await assigned(vic), await assigned(fay), await assigned(gil)]).toEqual(['vic', 'bad_request', 'gil'])
  await desk.store.transact(() => raw(sql`update action set state = 'outcome_unknown' where id = ${id}`))
  expect([await assigned(vic), await assigned(fay), await assigned(hal)]).toEqual(['bad_request', 'bad_request', 'hal'])
})
