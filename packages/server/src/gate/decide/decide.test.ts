import type { PolicyDocument, Principal } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { openBareGate, rowOf } from '../../../../../verification/testing/bare-gate.ts'
import { ana, ben } from '../../../../../verification/testing/open-gate.ts'
import { openTempSqlite } from '../../../../../verification/testing/temp-store.ts'
import { compilePolicy, fixedPolicies } from '../../policy/index.ts'
import { principals } from '../../store/index.ts'

const agent: Principal = { id: 'prn_bot', kind: 'agent', name: 'bot', roles: ['approver'] }
const viewer: Principal = { id: 'prn_vera', kind: 'person', name: 'Vera', roles: ['viewer'] }
const nobody: Principal = { id: 'prn_noa', kind: 'person', name: 'Noa', roles: [] }
const cy: Principal = { id: 'prn_cy', kind: 'person', name: 'Cy', roles: ['approver'] }

async function open(rule: Partial<PolicyDocument['rules'][number]> = {}) {
  const temp = await openTempSqlite()
  const pay = defineTool({ name: 'pay', description: 'Pay', input: { type: 'object' }, effect: 'write', execute: () => null })
  const document: PolicyDocument = { default: 'ask', rules: [{ name: 'asks', match: {}, verdict: 'ask', ...rule }] }
  let aheadMs = 0
  const options = { policies: fixedPolicies(compilePolicy(document, 1)), nowMs: () => Date.now() + aheadMs }
  const gate = openBareGate(temp.store, [pay], 'prc_1', options)
  await temp.store.transact(function* () {
    for (const one of [ana, ben, cy, agent, viewer, nobody]) yield* principals.savePrincipal(one, 1)
  })
  return {
    gate,
    pass(ms: number) {
      aheadMs += ms
    },
    row: (id: string) => rowOf(temp.store, id),
    propose: (args = {}) => gate.propose({ tool: 'own.pay', arguments: args }, { principal: agent }),
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  }
}

const approve = { verdict: 'approve' } as const
const decline = { verdict: 'decline' } as const
const by = (principal: Principal) => ({ principal })
const votes = { quorum: 2, declineQuorum: 2 }

test('repeating one’s own decision answers the action; any other decision hears who was first, and changes nothing', async () => {
  await using it = await open()
  for (const [first, other, word] of [
    [approve, decline, 'approved'],
    [decline, approve, 'declined'],
  ] as const) {
    const { id } = await it.propose({ word })
    await it.gate.decide(id, first, by(ben))
    expect(await it.gate.decide(id, first, by(ben))).toMatchObject({ id, votes: [{ by: { id: ben.id } }] })
    for (const [who, late] of [
      [ben, other],
      [ana, other],
      [ana, first],
    ] as const) {
      await expect(it.gate.decide(id, late, by(who))).rejects.toMatchObject({
        code: 'already_decided',
        message: expect.stringContaining(`was already ${word} by Ben at`),
        extra: { action: { id, votes: [{ verdict: first.verdict }] } },
      })
    }
  }
})

test('a decision about another revision or digest than the present one decides nothing', async () => {
  await using it = await open()
  const { id, digest } = await it.propose()
  for (const body of [
    { ...approve, revision: 2 },
    { ...approve, revision: 1, digest: 'sha256:other' },
    { ...decline, digest: 'sha256:other' },
  ]) {
    await expect(it.gate.decide(id, body, by(ben))).rejects.toMatchObject({ code: 'revision_mismatch', extra: { action: { id } } })
  }
  expect(await it.row(id)).toMatchObject({ state: 'proposed' })
  expect(await it.gate.decide(id, { ...approve, revision: 1, digest }, by(ben))).toMatchObject({ state: 'approved' })
})

test('what only an approval can have is refused with a decline, and nothing is stored', async () => {
  await using it = await open()
  const { id } = await it.propose()
  const remember = { scope: 'agent', expiresIn: 'PT1H', exact: true } as const
  await expect(it.gate.decide(id, { ...decline, remember }, by(ben))).rejects.toMatchObject({ code: 'bad_request' })
  await expect(it.gate.decide(id, { ...decline, startAfter: 'PT1M' }, by(ben))).rejects.toMatchObject({ code: 'bad_request' })
  expect(await it.row(id)).toMatchObject({ state: 'proposed' })
})

test('of two votes that are needed a person gives one, may change it until the last, and a repeat counts once', async () => {
  await using it = await open({ requires: votes })
  const { id } = await it.propose()
  const once = await it.gate.decide(id, approve, by(ben))
  expect(once).toMatchObject({ state: 'proposed', votes: [{ verdict: 'approve' }] })
  it.pass(5_000)
  expect(await it.gate.decide(id, approve, by(ben))).toEqual(once)
  const changed = await it.gate.decide(id, { ...decline, reason: ' Too much. ' }, by(ben))
  expect(changed).toMatchObject({ state: 'proposed', votes: [{ by: { id: ben.id }, verdict: 'decline', reason: 'Too much.' }] })
  expect(changed.votes).toHaveLength(1)
  // Votes of one millisecond are in the order of their persons' ids.
  it.pass(1)
  expect(await it.gate.decide(id, approve, by(ana))).toMatchObject({ state: 'proposed' })
  it.pass(1)
  expect(await it.gate.decide(id, decline, by(cy))).toMatchObject({
    state: 'declined',
    votes: [{ verdict: 'decline' }, { verdict: 'approve' }, { verdict: 'decline' }],
  })
})

test('programs never decide, whatever their roles; who lacks the role is told which; who may not see it is told of none', async () => {
  await using it = await open({ requires: { roles: ['approver', 'finance'] } })
  const { id } = await it.propose()
  const refusals = [
    [agent, 'forbidden', 'only persons decide'],
    [viewer, 'forbidden', 'the role approver or finance is needed'],
    [nobody, 'not_found', ''],
    [{ ...ben, scopes: ['read'] }, 'forbidden', 'limited to something else'],
  ] as const
  for (const [who, code, why] of refusals) {
    await expect(it.gate.decide(id, approve, by(who as Principal)), who.name).rejects.toMatchObject({
      code,
      message: expect.stringContaining(why),
    })
  }
  expect(await it.row(id)).toMatchObject({ state: 'proposed' })
})

test('with notRequester, who asked for an action does not decide about it, and somebody else does', async () => {
  await using it = await open({ requires: { notRequester: true } })
  const { id } = await it.gate.propose({ tool: 'own.pay', arguments: {} }, by(ben))
  await expect(it.gate.decide(id, approve, by(ben))).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('they asked for it themselves'),
  })
  expect(await it.gate.decide(id, approve, by(cy))).toMatchObject({ state: 'approved' })
})

test('a decision that comes after the deadline expires the action and is told so', async () => {
  await using it = await open({ expires: 'PT1H' })
  const { id } = await it.propose()
  it.pass(3_600_001)
  await expect(it.gate.decide(id, approve, by(ben))).rejects.toMatchObject({
    code: 'already_decided',
    message: expect.stringContaining('nobody had decided by then'),
  })
  expect(await it.row(id)).toMatchObject({ state: 'expired' })
})

test('an action that ended before enough had voted is never called approved', async () => {
  await using it = await open({ requires: { quorum: 2 }, expires: 'PT1H' })
  const [expired, withdrawn] = [await it.propose({ n: 1 }), await it.propose({ n: 2 })]
  for (const { id } of [expired, withdrawn]) await it.gate.decide(id, approve, by(ben))
  await it.gate.withdraw(withdrawn.id, {}, by(agent))
  const late = (id: string) => it.gate.decide(id, approve, by(ana)).catch(({ message }) => message)
  expect(await late(withdrawn.id)).toContain('was already withdrawn at')
  it.pass(3_600_001)
  expect(await late(expired.id)).toContain('nobody had decided by then')
})

test('a vote of somebody whose credential ended, or whose roles changed, while it was under way is not counted', async () => {
  await using it = await open()
  const { id } = await it.propose()
  const standing = (found: Principal | undefined) => ({
    principal: ben,
    // biome-ignore lint/correctness/useYield: it asks nothing
    *standingIn() {
      return found && { principal: found }
    },
  })
  await expect(it.gate.decide(id, approve, standing(undefined))).rejects.toMatchObject({ code: 'unauthenticated' })
  await expect(it.gate.decide(id, approve, standing({ ...ben, roles: [] }))).rejects.toMatchObject({ code: 'busy' })
  expect(await it.row(id)).toMatchObject({ state: 'proposed' })
  expect(await it.gate.decide(id, approve, standing(ben))).toMatchObject({ state: 'approved' })
})
