import type { Action, PolicyDocument, Principal } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { openBareGate, savePersons } from '../../../../../verification/testing/bare-gate.ts'
import { ana, ben } from '../../../../../verification/testing/open-gate.ts'
import { STORES } from '../../../../../verification/testing/temp-store.ts'
import { compilePolicy, fixedPolicies } from '../../policy/index.ts'
import { principals, type Store } from '../../store/index.ts'

const person = (name: string, ...roles: string[]): Principal => ({ id: `prn_${name}`, kind: 'person', name, roles })
const [fay, flo, tia, lea] = [person('fay', 'finance'), person('flo', 'finance'), person('tia', 'treasury'), person('lea', 'leads')]
const bot: Principal = { id: 'prn_bot', kind: 'agent', name: 'bot', roles: ['agent', 'admin'] }
const pay = defineTool({
  name: 'pay',
  description: 'Pay',
  input: z.object({ cents: z.int() }),
  effect: 'write',
  executor: 'client',
})

type Rule = Partial<PolicyDocument['rules'][number]>

/** The gate of a process under a version of the policy, where `role` decides about payments. */
function gateUnder(store: Store, version: number, role: string, { requires, ...more }: Rule = {}, nowMs = () => Date.now()) {
  const rule = { name: 'money', match: { tool: 'own.pay' }, verdict: 'ask' as const, requires: { roles: [role], ...requires }, ...more }
  const policies = fixedPolicies(compilePolicy({ default: 'ask', rules: [rule] }, version))
  const gate = openBareGate(store, [pay], `prc_${version}`, { policies, nowMs })
  return { ...gate, propose: () => gate.propose({ tool: 'own.pay', arguments: { cents: 5 } }, { principal: bot }) }
}

async function saveAll(store: Store): Promise<void> {
  await savePersons(store)
  await store.transact(function* () {
    for (const one of [fay, flo, tia, lea, bot]) yield* principals.savePrincipal(one, 1)
  })
}

const by = (principal: Principal) => ({ principal })
const approval = ({ revision, digest }: Action) => ({ verdict: 'approve', revision, digest }) as const
const REFUSED = { code: expect.stringMatching(/^(forbidden|not_found)$/) }
const never = new AbortController().signal

for (const { database, open } of STORES) {
  test(`${database}: where another role decides by now, an admin who looks again has that role asked, and gets no vote`, async () => {
    await using temp = await open()
    await saveAll(temp.store)
    const [before, now] = [gateUnder(temp.store, 1, 'finance'), gateUnder(temp.store, 2, 'treasury')]
    const { id } = await before.propose()
    expect(await before.refresh(id, by(ana)), 'the same policy changes nothing').toMatchObject({ revision: 1, revised: null })
    const limited: Principal[] = [
      { ...ana, scopes: ['manage'] },
      { ...ana, scopes: ['decide', 'propose'] },
    ]
    for (const nobody of [ben, tia, bot, ...limited, { ...ana, host: 'shop' }]) {
      await expect(now.refresh(id, by(nobody)), nobody.name).rejects.toMatchObject(REFUSED)
    }
    const asked = await now.refresh(id, by(ana))
    expect(asked).toMatchObject({
      ...{ state: 'proposed', revision: 2, requires: { roles: ['treasury'], quorum: 1 }, votes: [] },
      revised: { why: 'policy', reason: 'The policy says otherwise now who has to decide.', by: { name: 'Ana' } },
    })
    expect(await now.refresh(id, by(ana)), 'once').toMatchObject({ revision: 2 })
    for (const nobody of [ana, ben, fay]) {
      await expect(now.decide(id, approval(asked), by(nobody)), nobody.name).rejects.toMatchObject(REFUSED)
    }
    expect(await now.decide(id, approval(asked), by(tia))).toMatchObject({ state: 'approved', revision: 2 })
  })

  test(`${database}: what waits for another role by now starts without votes: no vote of before counts`, async () => {
    await using temp = await open()
    await saveAll(temp.store)
    const [before, now] = [
      gateUnder(temp.store, 1, 'finance', { requires: { quorum: 2 } }),
      gateUnder(temp.store, 2, 'treasury', { requires: { quorum: 2 } }),
    ]
    const { id, ...first } = await before.propose()
    await before.decide(id, approval({ id, ...first }), by(fay))
    const asked = await now.refresh(id, by(flo))
    expect(asked).toMatchObject({ revision: 2, requires: { roles: ['treasury'], quorum: 2 }, votes: [] })
    expect(await now.decide(id, approval(asked), by(tia))).toMatchObject({ state: 'proposed' })
  })

  test(`${database}: roles that an escalation added are no other policy, and are asked along with another role`, async () => {
    await using temp = await open()
    await saveAll(temp.store)
    let nowMs = Date.now() - 600_000
    const escalate = { after: 'PT1M', roles: ['leads'] }
    const gates = ['finance', 'finance', 'treasury'].map((role, at) => gateUnder(temp.store, at + 1, role, { escalate }, () => nowMs))
    const [before, same, now] = gates as [(typeof gates)[0], (typeof gates)[0], (typeof gates)[0]]
    const { id } = await before.propose()
    nowMs += 100_000
    await before.doWhatIsDue(never)
    expect(await same.refresh(id, by(ana))).toMatchObject({ revision: 1, requires: { roles: ['finance', 'leads'] } })
    const asked = await now.refresh(id, by(ana))
    expect(asked).toMatchObject({ revision: 2, requires: { roles: ['treasury'], escalation: { roles: ['leads'] } } })
    await now.doWhatIsDue(never)
    nowMs += 2_000
    expect(await now.refresh(id, by(ana))).toMatchObject({ revision: 2, requires: { roles: ['treasury', 'leads'] } })
    expect(await now.decide(id, approval(asked), by(lea))).toMatchObject({ state: 'approved' })

    nowMs = Date.now()
    const early = await now.refresh((await before.propose()).id, by(ana))
    expect(early.requires, 'nobody is asked before it is time').toMatchObject({ roles: ['treasury'], escalation: { isDone: false } })
    await now.doWhatIsDue(never)
    await expect(now.decide(early.id, approval(early), by(lea))).rejects.toMatchObject({ code: 'not_found' })
  })

  test(`${database}: what waits for another role by now is escalated as the policy says by now`, async () => {
    await using temp = await open()
    await saveAll(temp.store)
    let nowMs = Date.now() - 600_000
    const escalate = { after: 'PT1M', roles: ['leads'] }
    const before = gateUnder(temp.store, 1, 'finance', {}, () => nowMs)
    const now = gateUnder(temp.store, 2, 'treasury', { escalate }, () => nowMs)
    const { id } = await before.propose()
    const asked = await now.refresh(id, by(ana))
    expect(asked.requires).toMatchObject({ roles: ['treasury'], escalation: { roles: ['leads'], isDone: false } })
    nowMs += 61_000
    await now.doWhatIsDue(never)
    expect(await now.decide(id, approval(asked), by(lea))).toMatchObject({ state: 'approved' })
  })

  test(`${database}: what the policy allows by now goes on waiting for those who were asked`, async () => {
    await using temp = await open()
    await saveAll(temp.store)
    const [before, now] = [gateUnder(temp.store, 1, 'finance'), gateUnder(temp.store, 2, 'finance', { verdict: 'allow' })]
    const { id } = await before.propose()
    expect(await now.refresh(id, by(ana))).toMatchObject({ state: 'proposed', revision: 1, requires: { roles: ['finance'] } })
    expect((await now.propose()).state, 'a new call').toBe('approved')
  })

  test(`${database}: an edited action goes on waiting for those of before its edit, whoever looks again`, async () => {
    await using temp = await open()
    await saveAll(temp.store)
    const requires = { quorum: 2, notRequester: true }
    const [before, now] = [
      gateUnder(temp.store, 1, 'finance', { requires }),
      gateUnder(temp.store, 2, 'treasury', { requires: { quorum: 1 } }),
    ]
    const { id, ...first } = await before.propose()
    const edited = await before.decide(id, { ...approval({ id, ...first }), arguments: { cents: 4 } }, by(fay))
    expect(edited).toMatchObject({ state: 'proposed', revision: 2, arguments: { cents: 4 } })
    expect(await now.refresh(id, by(ana))).toMatchObject({ revision: 2, requires: { roles: ['finance'], ...requires } })
  })
}
