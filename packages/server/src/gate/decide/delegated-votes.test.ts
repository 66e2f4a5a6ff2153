import type { Principal, Vote } from '@countersign/core'
import { expect, test } from 'vitest'
import { rowOf } from '../../../../../verification/testing/bare-gate.ts'
import { fay, gil, hal, openFinance, root, vic, wil } from '../../../../../verification/testing/finance-gate.ts'
import { actions, events, principals } from '../../store/index.ts'
import { isWaitingFor, listWaitingFor } from '../read/inbox-query.ts'
import { viewVotes } from '../read/view.ts'

test('a right counts once, however many use it, and its owner’s own vote before the others', async () => {
  await using desk = await openFinance({ quorum: 2, declineQuorum: 2 })
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
  await using desk = await openFinance({ quorum: 2 })
  const lent = await desk.lend(fay, vic)
  const id = await desk.propose()
  expect(await desk.vote(id, vic)).toBe('proposed')
  await desk.gate.endDelegation(lent.id, { principal: fay })
  expect(await desk.vote(id, gil)).toBe('proposed')
  expect(await desk.vote(id, fay)).toBe('approved')
})

test('a vote that does not count any more, because its delegation ended, stands in the way of no other delegate', async () => {
  await using desk = await openFinance({ quorum: 2 })
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
  await using desk = await openFinance({ quorum: 2 })
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
  await using desk = await openFinance({ quorum: 4, declineQuorum: 4 })
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
    await using desk = await openFinance({ quorum: 2, declineQuorum: 2 })
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

test('a vote counts by the oldest of several delegations, and no longer than it lasts', async () => {
  await using desk = await openFinance({ quorum: 2 })
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

test('a delegate whose vote counts no more is asked again, in the place of who is still missing', async () => {
  await using desk = await openFinance({ quorum: 2 })
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
