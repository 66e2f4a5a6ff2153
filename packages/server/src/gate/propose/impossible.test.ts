import { isCountersignError, isSettled, ToolError } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openBareGate, rowOf, savePersons } from '../../../../../verification/testing/bare-gate.ts'
import { ana, ben } from '../../../../../verification/testing/open-gate.ts'
import { STORES } from '../../../../../verification/testing/temp-store.ts'
import { actions, audit } from '../../store/index.ts'

/** The result of reading the target: it is fine, the call is impossible, the target cannot be read, the tool is broken. */
const LOOKS = ['fine', 'impossible', 'unreadable', 'broken'] as const
type Revalidation = (typeof LOOKS)[number]

for (const { database, open } of STORES) {
  test(`${database}: whatever the target says when it is looked at: what cannot be done is no action, one row of the record, and never sent`, async () => {
    await using temp = await open()
    const { store } = temp
    await savePersons(store)
    let look: Revalidation = 'fine'
    let version = 0
    const sent: string[] = []
    const tool = defineTool({
      name: 'pay',
      description: 'Pay',
      input: { type: 'object' },
      effect: 'write',
      preview: () => {
        if (look === 'fine') return [{ field: 'version', oldValue: version }]
        if (look === 'broken') throw new Error('broken')
        throw new ToolError('refused', look === 'impossible' ? 'There is no such account.' : 'No.', { impossible: look === 'impossible' })
      },
      execute: (_, { actionId }) => void sent.push(actionId),
    })
    const gate = openBareGate(store, [tool], 'prc_1')
    const refusals = () => store.read(() => audit.listScope('system', { kind: 'impossible' }, undefined, 2_000))
    const seen = { refused: 0, failed: 0, sent: 0 }

    const propose = () =>
      gate.propose({ tool: 'own.pay', arguments: {} }, { principal: ana }).catch((error: unknown) => {
        if (!isCountersignError(error)) throw error
        return error
      })

    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...LOOKS), fc.constantFrom(...LOOKS), fc.boolean(), async (first, second, moves) => {
        look = first
        const before = (await refusals()).length
        const proposed = await propose()
        if (first === 'impossible') {
          expect(proposed).toMatchObject({ code: 'impossible', extra: { tool: 'own.pay', reason: 'There is no such account.' } })
          expect(await refusals()).toHaveLength(before + 1)
          seen.refused++
          return
        }
        expect(await refusals()).toHaveLength(before)
        if (proposed instanceof Error) throw proposed
        const { id, revision, digest } = proposed
        expect(proposed.state).toBe('proposed')
        look = second
        if (moves) version++
        await gate.decide(id, { verdict: 'approve', revision, digest }, { principal: ben })
        await gate.execute(id)
        await gate.idle()
        const row = await rowOf(store, id)
        // A card without values is bound to none: the action starts without a check.
        const isLooked = first === 'fine'
        if (isLooked && second === 'impossible') {
          expect(row).toMatchObject({ state: 'failed', revision: 1, error: expect.stringContaining('There is no such account.') })
          seen.failed++
        } else if (isLooked && second === 'fine' && moves) expect(row).toMatchObject({ state: 'proposed', revision: 2 })
        else expect(isSettled(row.state)).toBe(true)
        expect(sent.filter((sentId) => sentId === id)).toHaveLength(row.state === 'succeeded' ? 1 : 0)
        if (row.state === 'succeeded') seen.sent++
      }),
      { numRuns: 80 },
    )
    expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(3)
  })

  test(`${database}: a request that is repeated under its key is answered as before, although what it asked for was done and cannot be done again`, async () => {
    await using temp = await open()
    await savePersons(temp.store)
    let isThere = true
    const tool = defineTool({
      name: 'remove',
      description: 'Remove',
      input: { type: 'object' },
      effect: 'write',
      preview: () => {
        if (!isThere) throw new ToolError('refused', 'It is not there.', { impossible: true })
        return [{ field: 'it', oldValue: 'there' }]
      },
      execute: () => {
        isThere = false
      },
    })
    const gate = openBareGate(temp.store, [tool], 'prc_1')
    const propose = () =>
      gate.propose({ tool: 'own.remove', arguments: {} }, { principal: ana, once: { scope: 'test', key: 'k', requestHash: 'h' } })
    const first = await propose()
    await gate.decide(first.id, { verdict: 'approve' }, { principal: ben })
    await gate.execute(first.id)
    await gate.idle()
    expect(isThere).toBe(false)
    expect(await propose()).toEqual(first)
    expect(await temp.store.read(() => audit.listScope('system', { kind: 'impossible' }, undefined, 10))).toEqual([])
    expect(await temp.store.read(() => actions.listActions({ states: [], limit: 10 }))).toHaveLength(1)
  })

  test(`${database}: what is impossible only for now is refused unless it was shown before: then its card stays, and its start fails as unreadable`, async () => {
    await using temp = await open()
    await savePersons(temp.store)
    const reason = 'What it would change could not be read in time.'
    let isLate = true
    const sent: string[] = []
    const tool = defineTool({
      name: 'write',
      description: 'Write',
      input: { type: 'object' },
      effect: 'write',
      preview: () => {
        if (isLate) throw new ToolError('refused', reason, { impossible: true, retryable: true })
        return [{ field: 'it', oldValue: 'there' }]
      },
      execute: (_, { actionId }) => void sent.push(actionId),
    })
    const gate = openBareGate(temp.store, [tool], 'prc_1')
    const propose = () => gate.propose({ tool: 'own.write', arguments: {} }, { principal: ana })
    const refused = { code: 'impossible', message: `own.write cannot be done now: ${reason}` }
    await expect(propose()).rejects.toMatchObject(refused)
    isLate = false
    const { id, revision, digest, preview, previewedAt } = await propose()
    isLate = true
    const edit = { verdict: 'approve', revision, digest, arguments: { other: 1 } } as const
    await expect(gate.decide(id, edit, { principal: ben })).rejects.toMatchObject(refused)
    const shown = { state: 'proposed', revision, digest, preview, previewedAt, previewError: reason }
    expect(await gate.refresh(id, { principal: ben })).toMatchObject(shown)
    await gate.decide(id, { verdict: 'approve', revision, digest }, { principal: ben })
    await gate.execute(id)
    await gate.idle()
    const { state, error } = await rowOf(temp.store, id)
    expect(state).toBe('failed')
    expect(JSON.parse(error ?? 'null')).toMatchObject({ kind: 'unreadable', message: expect.stringContaining(reason), retryable: true })
    expect(sent).toEqual([])
  })
}
