import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { openBareGate, rowOf, savePersons } from '../../../../../verification/testing/bare-gate.ts'
import { ana, ben } from '../../../../../verification/testing/open-gate.ts'
import { STORES } from '../../../../../verification/testing/temp-store.ts'
import { compilePolicy, fixedPolicies } from '../../policy/index.ts'

const tool = defineTool({ name: 'send', description: 'Send', input: { type: 'object' }, effect: 'write', executor: 'client' })
const asAna = { principal: ana }
const asBen = { principal: ben }

for (const { database, open } of STORES) {
  test(`${database}: an approved action that no client has claimed is taken back, then declined and redacted; after a claim it is not`, async () => {
    await using temp = await open()
    await savePersons(temp.store)
    const [here, there] = [openBareGate(temp.store, [tool], 'prc_1'), openBareGate(temp.store, [tool], 'prc_2')]
    const { id } = await here.approved('send')
    await expect(here.decide(id, { verdict: 'decline' }, asBen)).rejects.toMatchObject({ code: 'already_decided' })
    await expect(here.redact(id, { reason: 'asked' }, asAna)).rejects.toMatchObject({ code: 'illegal_transition' })
    const undone = await there.undo(id, asBen)
    expect(undone).toMatchObject({
      state: 'proposed',
      revision: 2,
      votes: [],
      expiresAt: null,
      revised: { why: 'undone', by: { name: ben.name } },
    })
    expect(await there.undo(id, asBen)).toEqual(undone)
    await expect(here.claim(id, {}, asAna)).rejects.toMatchObject({ code: 'illegal_transition', extra: { action: { state: 'proposed' } } })
    const { revision, digest } = undone
    expect(await here.decide(id, { verdict: 'decline', revision, digest }, asBen)).toMatchObject({ state: 'declined' })
    expect(await here.redact(id, { reason: 'asked' }, asAna)).toMatchObject({ redactedAt: expect.any(String) })

    const { id: claimed } = await here.approved('send')
    await there.claim(claimed, {}, asAna)
    await expect(here.undo(claimed, asBen)).rejects.toMatchObject({
      code: 'illegal_transition',
      message: expect.stringContaining('has started'),
    })
    expect(await rowOf(temp.store, claimed)).toMatchObject({ state: 'executing', revision: 1 })
  })

  test(`${database}: of a claim and an undo at the same time, one wins: what was taken back is handed out to nobody`, async () => {
    await using temp = await open()
    await savePersons(temp.store)
    const [here, there] = [openBareGate(temp.store, [tool], 'prc_1'), openBareGate(temp.store, [tool], 'prc_2')]
    let undone = 0
    for (let round = 0; round < 12; round++) {
      const { id } = await here.approved('send')
      const both = [() => here.claim(id, {}, asAna), () => there.undo(id, asBen)]
      const ended = await Promise.allSettled((round % 2 ? both : both.reverse()).map((act) => act()))
      const refused = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
      const { state, revision, claimed_by } = await rowOf(temp.store, id)
      expect(refused).toMatchObject([{ code: 'illegal_transition', extra: { action: { id } } }])
      expect([state, revision, claimed_by]).toEqual(state === 'executing' ? ['executing', 1, ana.id] : ['proposed', 2, null])
      if (state === 'proposed') undone++
    }
    expect(undone).toBeGreaterThan(0)
  })

  test(`${database}: what policy allowed to a client has no approval to take back`, async () => {
    await using temp = await open()
    await savePersons(temp.store)
    const rule = { name: 'r', match: { tool: 'own.send' }, verdict: 'allow' } as const
    const policies = fixedPolicies(compilePolicy({ default: 'ask', rules: [rule] }, 1))
    const gate = openBareGate(temp.store, [tool], 'prc_1', { policies })
    const { id } = await gate.propose({ tool: 'own.send', arguments: {} }, asAna)
    await expect(gate.undo(id, asAna)).rejects.toMatchObject({
      code: 'illegal_transition',
      message: expect.stringContaining('no approval to take back'),
    })
  })
}
