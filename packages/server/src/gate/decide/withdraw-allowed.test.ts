import { type Principal, personOf } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { openBareGate, rowOf, savePersons } from '../../../../../verification/testing/bare-gate.ts'
import { ana, ben } from '../../../../../verification/testing/open-gate.ts'
import { STORES } from '../../../../../verification/testing/temp-store.ts'
import { compilePolicy, fixedPolicies } from '../../policy/index.ts'
import { principals, type Store } from '../../store/index.ts'

const define = (name: string, executor: 'client' | 'server') =>
  defineTool({
    ...{ name, description: 'Send', input: { type: 'object' }, effect: 'write' },
    ...(executor === 'client' ? { executor } : { execute: () => null }),
  })
const tools = [define('send', 'client'), define('post', 'server')]
/** Ben's agent, and people with nothing to do with it. */
const bot: Principal = { id: 'prn_bot', kind: 'agent', name: 'bot', roles: ['agent'], personId: ben.id, agent: 'billing' }
const other: Principal = { id: 'prn_other', kind: 'agent', name: 'other', roles: ['agent', 'admin'] }
const cy: Principal = { id: 'prn_cy', kind: 'person', name: 'Cy', roles: ['approver'] }
const vi: Principal = { id: 'prn_vi', kind: 'person', name: 'Vi', roles: ['viewer'] }
const limited: Principal = { ...ana, scopes: ['decide', 'propose'] }
const embedded: Principal = { ...ana, host: 'shop' }
const by = (principal: Principal) => ({ principal })
const REFUSED = { code: expect.stringMatching(/^(forbidden|not_found)$/) }

function gateThat(verdict: 'allow' | 'ask', store: Store, processId: string, version = 1) {
  const rule = { name: 'all', match: { tool: 'own.*' }, verdict }
  const gate = openBareGate(store, tools, processId, { policies: fixedPolicies(compilePolicy({ default: 'ask', rules: [rule] }, version)) })
  return { ...gate, ask: (tool = 'own.send') => gate.propose({ tool, arguments: {} }, by(bot)) }
}

async function saveAll(store: Store): Promise<void> {
  await savePersons(store)
  await store.transact(function* () {
    for (const one of [cy, bot, other]) yield* principals.savePrincipal(one, 1)
  })
  expect(personOf(bot)).toBe(ben.id)
}

for (const { database, open } of STORES) {
  test(`${database}: what policy allowed to a client that is gone is withdrawn by an admin, or by the person of its agent, and by nobody else`, async () => {
    await using temp = await open()
    await saveAll(temp.store)
    const [here, there] = [gateThat('allow', temp.store, 'prc_1'), gateThat('allow', temp.store, 'prc_2')]
    for (const whoever of [ana, ben, bot]) {
      const { id, state } = await here.ask()
      expect(state).toBe('approved')
      for (const nobody of [cy, other, limited, embedded]) {
        await expect(here.withdraw(id, {}, by(nobody)), nobody.name).rejects.toMatchObject(REFUSED)
      }
      const others = 'only its proposer, the person whose agent asked for it and admins may'
      await expect(here.withdraw(id, {}, by(vi))).rejects.toThrow(`Vi may not withdraw ${id}: ${others}`)
      await expect(here.withdraw(id, {}, by(limited))).rejects.toThrow(
        `this key may not withdraw ${id}: it is limited to decide and propose`,
      )
      const withdrawn = await there.withdraw(id, { reason: 'it is gone' }, by(whoever))
      expect(withdrawn).toMatchObject({ state: 'cancelled', error: { kind: 'withdrawn', message: expect.stringMatching(/it is gone$/) } })
      expect(await here.withdraw(id, {}, by(whoever)), 'a repeat').toEqual(withdrawn)
      await expect(here.claim(id, {}, by(bot))).rejects.toMatchObject({
        code: 'illegal_transition',
        extra: { action: { state: 'cancelled' } },
      })
      expect(await here.redact(id, { reason: 'asked' }, by(ana))).toMatchObject({ redactedAt: expect.any(String) })
    }
  })

  test(`${database}: what a grant allowed to a client that is gone is withdrawn by an admin; the grant stays`, async () => {
    await using temp = await open()
    await saveAll(temp.store)
    const gate = gateThat('ask', temp.store, 'prc_1')
    const { id: first } = await gate.ask()
    await gate.decide(first, { verdict: 'approve', remember: { scope: 'agent', expiresIn: 'P1D', exact: true } }, by(cy))
    const { id, state } = await gate.ask()
    expect([state, (await rowOf(temp.store, id)).grant_id]).toEqual(['approved', expect.any(String)])
    await expect(gate.undo(id, by(ana))).rejects.toMatchObject({ message: expect.stringMatching(/no approval to take back; withdraw it$/) })
    expect(await gate.withdraw(id, {}, by(ana))).toMatchObject({ state: 'cancelled', error: { message: 'Withdrawn by Ana' } })
    expect(await gate.ask()).toMatchObject({ state: 'approved' })
  })

  test(`${database}: what a client has claimed, what people were asked and what the server carries out is withdrawn by its proposer alone`, async () => {
    await using temp = await open()
    await saveAll(temp.store)
    const [allows, asks] = [gateThat('allow', temp.store, 'prc_1'), gateThat('ask', temp.store, 'prc_2', 2)]
    const { id: claimed } = await allows.ask()
    await allows.claim(claimed, {}, by(bot))
    for (const late of [ana, ben]) {
      await expect(allows.withdraw(claimed, {}, by(late))).rejects.toMatchObject({
        code: 'illegal_transition',
        message: expect.stringContaining('has started'),
      })
    }
    const { id: approved } = await asks.ask()
    await asks.decide(approved, { verdict: 'approve' }, by(cy))
    const { id: again } = await allows.ask()
    await expect(asks.claim(again, {}, by(bot)), 'the policy asks by now').rejects.toMatchObject({ code: 'stale_preview' })
    const others = [(await asks.ask()).id, approved, again, (await allows.ask('own.post')).id]
    for (const id of others) {
      for (const nobody of [ana, ben]) await expect(asks.withdraw(id, {}, by(nobody))).rejects.toMatchObject({ code: 'forbidden' })
    }
    expect((await Promise.all(others.map((id) => rowOf(temp.store, id)))).map(({ state }) => state)).toEqual([
      ...['proposed', 'approved', 'proposed', 'approved'],
    ])
  })

  test(`${database}: of a claim and a withdrawal by an admin at the same time, one wins: what was withdrawn is handed out to nobody`, async () => {
    await using temp = await open()
    await saveAll(temp.store)
    const [here, there] = [gateThat('allow', temp.store, 'prc_1'), gateThat('allow', temp.store, 'prc_2')]
    for (let round = 0; round < 12; round++) {
      const { id } = await here.ask()
      const both = [() => here.claim(id, {}, by(bot)), () => there.withdraw(id, {}, by(ana))]
      const ended = await Promise.allSettled((round % 2 ? both : both.reverse()).map((act) => act()))
      const refused = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
      const { state, claimed_by } = await rowOf(temp.store, id)
      expect(refused).toMatchObject([{ code: 'illegal_transition', extra: { action: { id } } }])
      expect([state, claimed_by]).toEqual(state === 'executing' ? ['executing', bot.id] : ['cancelled', null])
    }
  })
}
