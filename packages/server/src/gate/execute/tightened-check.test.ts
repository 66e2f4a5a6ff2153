import { ToolError, type Verification } from '@countersign/core'
import { type CodedTool, defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { openBareGate, rowOf, savePersons } from '../../../../../verification/testing/bare-gate.ts'
import { ana } from '../../../../../verification/testing/open-gate.ts'
import { STORES } from '../../../../../verification/testing/temp-store.ts'
import { compilePolicy, fixedPolicies } from '../../policy/index.ts'
import type { Store } from '../../store/index.ts'

const asAna = { principal: ana }
const ALLOWS = {
  policies: fixedPolicies(compilePolicy({ default: 'ask', rules: [{ name: 'r', match: { tool: 'own.pay' }, verdict: 'allow' }] }, 1)),
}
const lose = () => {
  throw new ToolError('ambiguous', 'No answer.')
}

interface Kind {
  /** Returns whether the tool's check accepts an account. Default: it accepts all. */
  takes?: (iban: string) => boolean
  executor?: 'server' | 'client'
  idempotent?: boolean
  verify?: () => Verification
  execute?: () => string
}

/** A payment with a default and a transform in its schema; a release that changes only `takes` changes nothing of its definition. */
function pay({ takes = () => true, executor = 'server', idempotent = false, ...code }: Kind = {}) {
  const sent: unknown[] = []
  const iban = z
    .string()
    .default('XX9')
    .overwrite((text) => text.trim())
    .refine(takes, 'is no account of ours')
  const tool = defineTool({
    ...{ name: 'pay', description: 'Pays.', input: z.object({ iban }), effect: 'write', idempotent, timeoutMs: 3_600_000 },
    ...(code.verify && { verify: code.verify }),
    ...(executor === 'client'
      ? { executor }
      : {
          execute: (args) => {
            sent.push(args)
            return code.execute?.() ?? 'paid'
          },
        }),
  })
  return { tool, sent }
}

const REFUSES = { takes: () => false }
const WORDS = 'own.pay does not take these arguments any more, so it was not carried out: iban is no account of ours.'
const REFUSED = { kind: 'tool_changed', message: WORDS, retryable: false }
const IN_DOUBT = { kind: 'ambiguous', message: `${WORDS} An earlier send under the same key may have acted.` }

/** The server before the release, and after it. */
const release = (store: Store, before: Kind, after: Kind) => {
  const [old, now] = [pay(before), pay({ ...before, ...after })]
  return { old: openBareGate(store, [old.tool], 'prc_1'), now: openBareGate(store, [now.tool], 'prc_2'), before: old, after: now }
}

for (const { database, open } of STORES) {
  const openStore = async () => {
    const temp = await open()
    await savePersons(temp.store)
    const ended = async (id: string) => {
      const { state, error, claimed_by, attempt } = await rowOf(temp.store, id)
      return { state, claimed_by, attempt, error: error === null ? null : JSON.parse(error) }
    }
    return { store: temp.store, ended, [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose]() }
  }

  test(`${database}: what the tool’s own check refuses since a release is not sent, and fails with the words of the check`, async () => {
    await using db = await openStore()
    const { old, now, after } = release(db.store, {}, REFUSES)
    const { id } = await old.approved('pay')
    await now.execute(id)
    expect(await db.ended(id)).toMatchObject({ state: 'failed', error: REFUSED })
    await now.retry(id, asAna)
    await now.idle()
    expect(await db.ended(id)).toMatchObject({ state: 'failed', error: REFUSED, attempt: 2 })

    // One that policy allowed, and that had no turn before the restart.
    const allowed = await openBareGate(db.store, [pay().tool], 'prc_3', ALLOWS).propose({ tool: 'own.pay', arguments: {} }, asAna)
    expect(allowed.state).toBe('approved')
    await openBareGate(db.store, [after.tool], 'prc_4', ALLOWS).execute(allowed.id)
    expect(await db.ended(allowed.id)).toMatchObject({ state: 'failed', error: REFUSED })
    expect(after.sent).toEqual([])
  })

  test(`${database}: what the check takes still is sent as it was decided, with the defaults and transforms of then`, async () => {
    await using db = await openStore()
    const { old, now, after } = release(db.store, {}, { takes: (iban) => iban === 'DE1' || iban === 'XX9' })
    const { id } = await old.approved('pay')
    const other = await old.propose({ tool: 'own.pay', arguments: { iban: ' XX8 ' } }, asAna)
    await old.decide(other.id, { verdict: 'approve', arguments: { iban: 'DE1' } }, asAna)
    for (const one of [id, other.id]) await now.execute(one)
    expect(after.sent).toEqual([{ iban: 'XX9' }, { iban: 'DE1' }])
  })

  test(`${database}: a client gets no claim of what the tool’s own check refuses by now, and it fails with the words of the check`, async () => {
    await using db = await openStore()
    const { old, now } = release(db.store, { executor: 'client' }, REFUSES)
    const { id } = await old.approved('pay')
    await expect(now.claim(id, {}, asAna)).rejects.toMatchObject({
      code: 'illegal_transition',
      message: expect.stringContaining(WORDS),
      extra: { action: { state: 'failed', error: REFUSED } },
    })
    expect(await db.ended(id)).toMatchObject({ state: 'failed', claimed_by: null })
    expect(await old.claim(id, { retry: true }, asAna)).toMatchObject({ action: { arguments: { iban: 'XX9' } } })
  })

  test(`${database}: a lost send that the check refuses to repeat has not failed: it may have acted, and only a look can tell`, async () => {
    await using db = await openStore()
    for (const [own, end] of [
      [{ idempotent: true }, { state: 'outcome_unknown', error: { ...IN_DOUBT, retryable: false } }],
      [{ idempotent: true, verify: () => ({ done: true }) }, { state: 'succeeded' }],
      [
        { idempotent: true, verify: () => ({ done: 'unknown' }) },
        { state: 'outcome_unknown', error: { ...IN_DOUBT, retryable: true } },
      ],
    ] as [Kind, object][]) {
      let isRefused = false
      const { tool, sent } = pay({
        ...own,
        takes: () => !isRefused,
        // The release comes while the first send has no answer.
        execute: () => {
          isRefused = true
          return lose()
        },
      })
      const gate = openBareGate(db.store, [tool], 'prc_5')
      const { id } = await gate.approved('pay')
      await gate.execute(id)
      expect(await db.ended(id)).toMatchObject({ attempt: 2, ...end })
      expect(sent).toHaveLength(1)
    }
  })

  test(`${database}: what may have been carried out stays of unknown outcome, whoever tries it again while the check refuses it`, async () => {
    await using db = await openStore()
    for (const executor of ['client', 'server'] as const) {
      const { old, now, after } = release(db.store, { executor, idempotent: true, execute: lose }, REFUSES)
      const { id } = await old.approved('pay')
      if (executor === 'server') await old.execute(id)
      else {
        const { epoch } = await old.claim(id, {}, asAna)
        await old.takeClientResult(id, { epoch, error: { kind: 'ambiguous', message: 'No answer.' } }, asAna)
      }
      expect(await db.ended(id)).toMatchObject({ state: 'outcome_unknown' })
      const again = () => (executor === 'server' ? now.verify(id, asAna) : now.claim(id, { retry: true }, asAna))
      if (executor === 'server') await again()
      else await expect(again()).rejects.toMatchObject({ extra: { action: { state: 'outcome_unknown' } } })
      await now.idle()
      expect(await db.ended(id)).toMatchObject({ state: 'outcome_unknown' })

      // A person says that it was not done, and then wants it done.
      await now.resolve(id, { outcome: 'failed', note: 'Not there.' }, asAna)
      if (executor === 'server') await now.retry(id, asAna)
      else await expect(now.claim(id, { retry: true }, asAna)).rejects.toMatchObject({ code: 'illegal_transition' })
      await now.idle()
      expect(await db.ended(id)).toMatchObject({
        state: 'outcome_unknown',
        claimed_by: executor === 'client' ? ana.id : null,
        error: IN_DOUBT,
      })
      expect(after.sent).toEqual([])
    }
  })

  test(`${database}: a check that breaks carries nothing out, and leaves nothing executing`, async () => {
    await using db = await openStore()
    const takes = () => {
      throw new Error('no list of accounts')
    }
    for (const executor of ['server', 'client'] as const) {
      const { old, now, after } = release(db.store, { executor }, { takes })
      const { id } = await old.approved('pay')
      if (executor === 'server') await now.execute(id)
      else await expect(now.claim(id, {}, asAna)).rejects.toMatchObject({ code: 'illegal_transition' })
      expect(await db.ended(id)).toMatchObject({
        state: 'failed',
        error: { kind: 'broken', message: expect.stringMatching(/^own\.pay is broken: .* was not carried out$/), retryable: true },
      })
      expect(now.logged).toContain('tool.prepare_failed')
      expect(after.sent).toEqual([])
    }
  })

  test(`${database}: code that changes what it checks does not change what is sent`, async () => {
    await using db = await openStore()
    const { tool, sent } = pay()
    const check: CodedTool['check'] = (args) => {
      const checked = tool.check(args)
      args.iban = 'XX1'
      return checked
    }
    const gate = openBareGate(db.store, [{ ...tool, check }], 'prc_6')
    const { id } = await gate.approved('pay')
    await gate.execute(id)
    expect(sent).toEqual([{ iban: 'XX9' }])
  })
}
