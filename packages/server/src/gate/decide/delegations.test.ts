import { isCountersignError, type PolicyDocument, type Principal, type Vote } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openBareGate, rowOf } from '../../../../../verification/testing/bare-gate.ts'
import { hurriedClock } from '../../../../../verification/testing/open-gate.ts'
import { openTempSqlite, raw } from '../../../../../verification/testing/temp-store.ts'
import { compilePolicy, fixedPolicies } from '../../policy/index.ts'
import { actions, delegations, events, newId, principals } from '../../store/index.ts'
import { isWaitingFor, listWaitingFor } from '../read/inbox-query.ts'
import { viewVotes } from '../read/view.ts'
import { lenderIdsOf } from './rights.ts'

const person = (name: string, ...roles: string[]): Principal => ({ id: `prn_${name}`, kind: 'person', name, roles })
const [fay, gil, hal, vic, wil, both, root] = [
  person('fay', 'finance'),
  person('gil', 'finance'),
  person('hal', 'finance'),
  person('vic', 'viewer'),
  person('wil', 'viewer'),
  person('both', 'legal', 'viewer'),
  person('root', 'admin'),
]
const bot: Principal = { id: 'prn_bot', kind: 'agent', name: 'bot', roles: ['agent'], personId: fay.id }

const pay = defineTool({ name: 'pay', description: 'Pay', effect: 'write', input: { type: 'object' }, execute: () => null })

async function open(requires: NonNullable<PolicyDocument['rules'][number]['requires']>) {
  const temp = await openTempSqlite()
  let nowMs = Date.UTC(2026, 0, 1)
  const rules = [{ name: 'finance', match: { tool: 'own.pay' }, verdict: 'ask' as const, requires: { roles: ['finance'], ...requires } }]
  const policies = fixedPolicies(compilePolicy({ default: 'deny', rules }, 1))
  const gate = openBareGate(temp.store, [pay], 'prc_1', { ...hurriedClock, nowMs: () => nowMs, policies })
  await temp.store.transact(function* () {
    for (const one of [fay, gil, hal, vic, wil, both, root, bot]) yield* principals.savePrincipal(one, 1)
  })
  return {
    gate,
    store: temp.store,
    propose: async (by = bot) => (await gate.propose({ tool: 'own.pay', arguments: {} }, { principal: by })).id,
    vote: (id: string, by: Principal, verdict: 'approve' | 'decline' = 'approve') =>
      gate.decide(id, { verdict }, { principal: by }).then(
        ({ state }) => state,
        (error: unknown) => {
          if (isCountersignError(error)) return error.code
          throw error
        },
      ),
    lend: (from: Principal, to: Principal, by = from) =>
      gate.createDelegation({ ...(from.id !== by.id && { from: from.id }), to: to.id, expiresIn: 'P1D' }, { principal: by }),
    nowMs: () => nowMs,
    pass: (ms: number) => {
      nowMs += ms
    },
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  }
}

test('a delegate votes with the right of the person in whose place they are, and the vote says for whom', async () => {
  await using desk = await open({})
  const id = await desk.propose()
  expect(await desk.vote(id, vic)).toBe('forbidden')
  await desk.lend(fay, vic)
  const action = await desk.gate.decide(id, { verdict: 'approve', reason: 'Fay asked me to' }, { principal: vic })
  expect(action).toMatchObject({ state: 'approved', votes: [{ by: { id: vic.id }, for: { id: fay.id }, verdict: 'approve' }] })
  expect(await desk.vote(await desk.propose(), vic, 'decline')).toBe('declined')
})

test('a delegation ends: by its time, by who gave it, with the role of who gave it', async () => {
  await using desk = await open({})
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
  await using desk = await open({})
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
  await using desk = await open({ notRequester: true })
  const id = await desk.propose()
  expect(await desk.vote(id, fay), 'her own agent asked').toBe('forbidden')
  await desk.lend(fay, vic)
  expect(await desk.vote(id, vic), 'in her place').toBe('forbidden')
  await desk.lend(gil, fay)
  expect(await desk.vote(id, fay), 'in another’s place').toBe('forbidden')
  expect(await desk.vote(id, gil)).toBe('approved')
})

test('who asked or edited votes in nobody’s place, also where the rule lets those vote who asked', async () => {
  await using desk = await open({})
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
  await using desk = await open({ quorum: 2 })
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
  await using desk = await open({})
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

test('a right counts once, however many use it, and its owner’s own vote before the others', async () => {
  await using desk = await open({ quorum: 2, declineQuorum: 2 })
  await desk.lend(fay, vic)
  await desk.lend(fay, wil)
  const id = await desk.propose()
  expect(await desk.vote(id, vic)).toBe('proposed')
  expect(await desk.vote(id, wil), 'her right is used').toBe('forbidden')
  expect(await desk.vote(id, vic), 'the same again').toBe('proposed')
  expect(await desk.vote(id, fay), 'she says it herself: still one right').toBe('proposed')
  expect((await rowOf(desk.store, id)).state).toBe('proposed')
  expect(await desk.vote(id, fay, 'decline'), 'her own word stands before that of others').toBe('proposed')
  expect(await desk.vote(id, gil), 'one approval: gil’s; vic’s does not count beside hers').toBe('proposed')
  expect(await desk.vote(id, fay)).toBe('approved')
})

test('a vote in the place of another does not count any more when the delegation ended before the last vote', async () => {
  await using desk = await open({ quorum: 2 })
  const lent = await desk.lend(fay, vic)
  const id = await desk.propose()
  expect(await desk.vote(id, vic)).toBe('proposed')
  await desk.gate.endDelegation(lent.id, { principal: fay })
  expect(await desk.vote(id, gil)).toBe('proposed')
  expect(await desk.vote(id, fay)).toBe('approved')
})

test('a vote that does not count any more, because its delegation ended, stands in the way of no other delegate', async () => {
  await using desk = await open({ quorum: 2 })
  const ended = await desk.lend(fay, vic)
  const [id, other] = [await desk.propose(), await desk.propose(root)]
  expect(other).not.toBe(id)
  expect(await desk.vote(id, vic)).toBe('proposed')
  expect(await desk.vote(other, vic)).toBe('proposed')
  await desk.gate.endDelegation(ended.id, { principal: fay })
  await desk.lend(fay, wil)
  expect(await desk.vote(id, wil)).toBe('proposed')
  expect(await desk.vote(id, gil)).toBe('approved')
  desk.pass(1)
  await desk.lend(fay, vic)
  expect(await desk.vote(other, wil), 'what vic said does not count again').toBe('proposed')
})

test('a vote whose delegation ended does not count again by a later one: the delegate says it anew', async () => {
  await using desk = await open({ quorum: 2 })
  const mine = async () => (await desk.store.read(() => listWaitingFor(vic, { limit: 10 }, desk.nowMs()))).map(({ id }) => id)
  const endings = {
    revoked: async (id: string) => void (await desk.gate.endDelegation(id, { principal: fay })),
    expired: async () => desk.pass(86_400_000),
  }
  for (const [how, end] of Object.entries(endings)) {
    const lent = await desk.lend(fay, vic)
    const id = await desk.propose()
    expect(await desk.vote(id, vic)).toBe('proposed')
    expect(await mine(), how).toEqual([])
    await end(lent.id)
    desk.pass(1)
    const again = await desk.lend(fay, vic)
    expect(await desk.vote(id, gil), how).toBe('proposed')
    expect(await mine(), how).toEqual([id])
    expect(await desk.vote(id, vic), how).toBe('approved')
    await desk.gate.endDelegation(again.id, { principal: fay })
    desk.pass(1)
  }
})

test('a vote that does not count says so to everybody who reads the action, and with the next vote, until it counts', async () => {
  await using desk = await open({ quorum: 4, declineQuorum: 4 })
  const id = await desk.propose()
  const shown = (cast: readonly Vote[] = []) => cast.map(({ by, counts }) => `${by.name}${counts === false ? ' does not count' : ''}`)
  const read = async () => shown(await desk.store.read(() => viewVotes(row, desk.nowMs())))
  const row = await rowOf(desk.store, id)
  const announced = async () => {
    const rows = await desk.store.read(() => events.inboxRowsAfter.all({ after: 0, limit: 100, known: 0 }))
    return shown(
      rows
        .flatMap(events.readEvents)
        .flatMap(({ event }) => (event.type === 'action_update' ? [event.data] : []))
        .at(-1)?.votes,
    )
  }
  const endings = {
    'the delegation was ended': async (lent: string) => void (await desk.gate.endDelegation(lent, { principal: fay })),
    'its time passed': async () => desk.pass(86_400_000),
  }
  for (const [how, end] of Object.entries(endings)) {
    const lent = await desk.lend(fay, vic)
    await desk.vote(id, vic)
    expect(await read(), how).toContain('vic')
    await end(lent.id)
    expect(await read(), how).toContain('vic does not count')
    desk.pass(1)
    const again = await desk.lend(fay, vic)
    expect(await read(), 'a new delegation brings no earlier vote back').toContain('vic does not count')
    const answer = await desk.gate.decide(id, { verdict: 'approve' }, { principal: gil })
    expect(shown(answer.votes), how).toContain('vic does not count')
    await desk.vote(id, vic)
    expect([await read(), await announced()], how).toEqual([
      ['gil', 'vic'],
      ['gil', 'vic'],
    ])
    await desk.gate.endDelegation(again.id, { principal: fay })
    await desk.vote(id, gil, 'decline')
    expect(await announced(), how).toContain('vic does not count')
    desk.pass(1)
  }
  await desk.lend(fay, vic)
  await desk.vote(id, vic)
  await desk.vote(id, fay, 'decline')
  expect((await read()).sort(), 'whose own vote takes the place of that of their delegate').toEqual(['fay', 'gil', 'vic does not count'])
  await desk.store.transact(() => principals.savePrincipal({ ...gil, roles: ['viewer'] }, 1))
  expect(await read(), 'without the role').toContain('gil does not count')
})

test('a vote that did not count when the action was decided is void for good, and nobody is told that it decided', async () => {
  for (const verdict of ['approve', 'decline'] as const) {
    await using desk = await open({ quorum: 2, declineQuorum: 2 })
    const id = await desk.propose()
    const vote = (by: Principal, reason?: string) => desk.gate.decide(id, { verdict, ...(reason && { reason }) }, { principal: by })
    const shown = (cast: readonly Vote[] = []) => cast.map(({ by, counts }) => `${by.name}${counts === false ? ' does not count' : ''}`)
    const [ended, lasting] = [await desk.lend(fay, vic), await desk.lend(hal, wil)]
    await vote(vic, 'said without a right')
    await desk.gate.endDelegation(ended.id, { principal: fay })
    desk.pass(1)
    await vote(gil)
    desk.pass(1)
    const decided = await vote(wil)
    expect(shown(decided.votes), verdict).toEqual(['vic does not count', 'gil', 'wil'])
    expect(decided.outcome?.text ?? '').not.toContain('said without a right')
    desk.pass(1)
    // A delegation that ends later changes nothing about earlier decisions.
    await desk.gate.endDelegation(lasting.id, { principal: hal })
    await desk.lend(fay, vic)
    const row = await rowOf(desk.store, id)
    expect(shown(await desk.store.read(() => viewVotes(row, desk.nowMs())))).toEqual(shown(decided.votes))
    const rows = await desk.store.read(() => events.inboxRowsAfter.all({ after: 0, limit: 100, known: 0 }))
    const told = rows.flatMap(events.readEvents).flatMap(({ event }) => (event.type === 'action_update' ? [event.data] : []))
    expect(shown(told.findLast(({ votes }) => votes)?.votes)).toEqual(shown(decided.votes))
    await expect(vote(fay)).rejects.toMatchObject({
      code: 'already_decided',
      message: expect.stringContaining(`${verdict}d by gil and wil at`),
    })
    await vote(gil)
  }
})

test('a delegate reads again what an action would change, as whoever may vote does', async () => {
  await using desk = await open({})
  const id = await desk.propose()
  const refresh = () => desk.gate.refresh(id, { principal: vic })
  await expect(refresh()).rejects.toMatchObject({ code: 'forbidden' })
  const lent = await desk.lend(fay, vic)
  expect(await refresh()).toMatchObject({ id, state: 'proposed', revision: 1 })
  await desk.gate.endDelegation(lent.id, { principal: fay })
  await expect(refresh()).rejects.toMatchObject({ code: 'forbidden' })
})

test('many delegations of one person hide nobody else’s: each lender counts once', async () => {
  await using desk = await open({})
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
  await using desk = await open({})
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

test('a vote counts by the oldest of several delegations, and no longer than it lasts', async () => {
  await using desk = await open({ quorum: 2 })
  const oldest = await desk.lend(fay, vic)
  const id = await desk.propose()
  expect(await desk.vote(id, vic)).toBe('proposed')
  desk.pass(1)
  const newer = await desk.lend(fay, vic)
  const counts = async () => {
    const row = await rowOf(desk.store, id)
    return (await desk.store.read(() => viewVotes(row, desk.nowMs())))?.map((vote) => vote.counts !== false)
  }
  expect(await counts()).toEqual([true])
  await desk.gate.endDelegation(newer.id, { principal: fay })
  expect(await counts()).toEqual([true])
  await desk.lend(fay, vic)
  await desk.gate.endDelegation(oldest.id, { principal: fay })
  expect(await counts(), 'the other one was given after the vote').toEqual([false])
})

test('nothing is granted by a vote in the place of another', async () => {
  await using desk = await open({})
  await desk.lend(gil, vic)
  const id = await desk.propose()
  const remember = { scope: 'agent', expiresIn: 'P1D', exact: true } as const
  await expect(desk.gate.decide(id, { verdict: 'approve', remember }, { principal: vic })).rejects.toMatchObject({ code: 'forbidden' })
  expect((await rowOf(desk.store, id)).state).toBe('proposed')
})

test('a delegate whose vote counts no more is asked again, in the place of who is still missing', async () => {
  await using desk = await open({ quorum: 2 })
  for (const lender of [fay, gil]) await desk.lend(lender, vic)
  const id = await desk.propose()
  const asks = () =>
    desk.store.read(function* () {
      const listed = yield* listWaitingFor(vic, { limit: 10 }, desk.nowMs())
      const delegated = yield* listWaitingFor(vic, { limit: 10, isDelegated: true }, desk.nowMs())
      const row = yield* actions.findAction.first({ id })
      return [listed.length, delegated.length, row !== undefined && (yield* isWaitingFor(row, vic, desk.nowMs()))]
    })
  expect(await asks()).toEqual([1, 1, true])
  desk.pass(1)
  expect(await desk.vote(id, vic)).toBe('proposed')
  expect(await asks(), 'the vote for Fay counts').toEqual([0, 0, false])
  desk.pass(1)
  expect(await desk.vote(id, fay)).toBe('proposed')
  expect(await asks(), 'Fay has voted herself').toEqual([1, 1, true])
  desk.pass(1)
  expect(await desk.vote(id, vic)).toBe('approved')
})

test('what has an unknown outcome is assigned to who may say what came of it: to no delegate, and to nobody who asked', async () => {
  // The agent acts for Fay.
  await using desk = await open({ notRequester: true })
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
