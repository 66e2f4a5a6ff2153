import type { Claim, ClientResultBody, Effect } from '@countersign/core'
import { type ClientToolDefinition, defineTool } from '@countersign/toolkit'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { openBareGate, rowOf, savePersons } from '../../../../../verification/testing/bare-gate.ts'
import { ana, ben } from '../../../../../verification/testing/open-gate.ts'
import { raw, STORES } from '../../../../../verification/testing/temp-store.ts'
import { openTools } from '../../../../toolkit/src/open-tools.ts'
import { systemClock } from '../../clock.ts'
import { compilePolicy, fixedPolicies } from '../../policy/index.ts'
import { type ActionRow, messages, moveAction, sessions } from '../../store/index.ts'
import { insertPrepared, prepareAction, writeSession } from '../index.ts'

const tool = (name: string, own: Partial<ClientToolDefinition<object>> = {}) =>
  defineTool({ name, description: name, input: z.object({}), effect: 'write', executor: 'client', ...own })

/** Held for longer than any test takes. */
const UNKEYED = { timeoutMs: 3_600_000 }

const TOOLS = [
  tool('unkeyed', UNKEYED),
  tool('keyed', { idempotent: true }),
  tool('look', { effect: 'read' }),
  tool('brief', { timeoutMs: 1 }),
  tool('briefLook', { timeoutMs: 1, effect: 'read' }),
  tool('briefKeyed', { timeoutMs: 1, idempotent: true }),
  tool('briefLookable', { timeoutMs: 1, settlesWithin: 60_000, verify: () => ({ done: 'unknown' }) }),
  tool('lookable', { verify: () => ({ done: 'unknown' }) }),
  tool('missing', { timeoutMs: 1, settlesWithin: 60_000, verify: () => ({ done: false }) }),
  tool('found', { timeoutMs: 1, settlesWithin: 60_000, verify: () => ({ done: true, output: 'there' }) }),
]

const error = (kind: 'refused' | 'unreachable' | 'ambiguous' | 'broken', epoch = 1): ClientResultBody => ({
  epoch,
  error: { kind, message: 'The shop said so.' },
})
const ASKS = fixedPolicies(compilePolicy({ default: 'ask' as const, rules: [] }, 1))
const asAna = { principal: ana }
const never = new AbortController().signal
const MINUTE_MS = 60_000

for (const { database, open } of STORES) {
  const openTwo = async () => {
    const temp = await open()
    await savePersons(temp.store)
    const [here, there] = ['prc_1', 'prc_2'].map((processId) => openBareGate(temp.store, TOOLS, processId))
    if (!here || !there) throw new Error('two gates were opened')
    return {
      here,
      there,
      row: (id: string) => rowOf(temp.store, id),
      store: temp.store,
      [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
    }
  }

  test(`${database}: a grace period that outlasts the deadline leaves a client the time to claim, and an undo the deadline`, async () => {
    await using temp = await open()
    await savePersons(temp.store)
    const rule = { name: 'r', match: { tool: 'own.keyed' }, verdict: 'ask', expires: 'PT30M', requires: { grace: 'PT10M' } } as const
    const policies = fixedPolicies(compilePolicy({ default: 'ask', rules: [rule] }, 1))
    const time = { now: Date.now() - 21 * MINUTE_MS }
    const gate = openBareGate(temp.store, [tool('keyed', { idempotent: true })], 'prc_1', { policies, nowMs: () => time.now })
    const asked = await gate.propose({ tool: 'own.keyed', arguments: {} }, asAna)
    time.now = Date.now()
    const first = await gate.decide(asked.id, { verdict: 'approve' }, { principal: ben })
    const startsMs = Date.parse(first.startsAt ?? '')
    expect(Date.parse(first.expiresAt ?? '') - Date.parse(asked.expiresAt ?? '')).toBe(10 * MINUTE_MS)
    expect(Date.parse(first.expiresAt ?? '') - startsMs).toBeGreaterThan(8 * MINUTE_MS)
    const row = await rowOf(temp.store, asked.id)
    expect([row.expires_at, row.due_at]).toEqual(Array(2).fill(Date.parse(first.expiresAt ?? '')))
    await expect(gate.claim(asked.id, {}, asAna)).rejects.toThrow(/starts at/)
    const undone = await gate.undo(asked.id, { principal: ben })
    expect(undone).toMatchObject({ state: 'proposed', revision: 2, expiresAt: asked.expiresAt })
    const { id, revision, digest } = undone
    await gate.decide(id, { verdict: 'approve', revision, digest }, { principal: ben })
    // As ten minutes later: on Postgres its own clock judges.
    const laterMs = 10 * MINUTE_MS
    const later = sql`update action set starts_at = starts_at - ${laterMs}, expires_at = expires_at - ${laterMs} where id = ${id}`
    await temp.store.transact(() => raw(later))
    await gate.doWhatIsDue(never)
    expect((await gate.claim(id, {}, asAna)).action.state).toBe('executing')
  })

  test(`${database}: an extension of the deadline between the reading of an action and its approval stays`, async () => {
    await using gates = await openTwo()
    const { id } = await gates.here.propose({ tool: 'own.keyed', arguments: {}, expiresIn: 'PT1H' }, asAna)
    const read = await gates.row(id)
    await gates.store.transact(() => raw(sql`update action set expires_at = expires_at + ${MINUTE_MS} where id = ${id}`))
    const patch = { due_at: null, starts_at: null, expires_at: read.expires_at }
    await gates.store.transact(() => moveAction(read, 'approve', patch, Date.now()))
    expect((await gates.row(id)).expires_at).toBe((read.expires_at ?? 0) + MINUTE_MS)
  })

  test(`${database}: of eight clients that claim an action, over two processes, one gets it, and the others hear that it has`, async () => {
    await using gates = await openTwo()
    for (let round = 0; round < 10; round++) {
      const { id } = await gates.here.approved('unkeyed')
      const claims = await Promise.allSettled(
        Array.from({ length: 8 }, (_, n) => (n % 2 ? gates.here : gates.there).claim(id, {}, { principal: n % 3 ? ana : ben })),
      )
      const won = claims.flatMap((claim) => (claim.status === 'fulfilled' ? [claim.value] : []))
      expect(won).toHaveLength(1)
      for (const claim of claims) {
        if (claim.status === 'rejected')
          expect(claim.reason).toMatchObject({ code: 'illegal_transition', extra: { action: { state: 'executing' } } })
      }
      const [claim] = won as [Claim]
      expect(claim).toMatchObject({ epoch: 1, idempotencyKey: `${id}.1`, request: null, action: { id, state: 'executing', attempt: 1 } })
      expect(await gates.row(id)).toMatchObject({
        state: 'executing',
        epoch: 1,
        attempt: 1,
        runner: null,
        due_at: Date.parse(claim.holdEndsAt),
      })
    }
  })

  test(`${database}: a claim says whether the server can check an outcome that is not known`, async () => {
    await using gates = await openTwo()
    const claimed = async (tool: string) => gates.here.claim((await gates.here.approved(tool)).id, {}, asAna)
    expect(await claimed('lookable')).toMatchObject({ canVerify: true })
    expect(await claimed('keyed')).not.toHaveProperty('canVerify')
  })

  test(`${database}: the result of an earlier hold is refused and writes nothing; that of the present one settles, once`, async () => {
    await using gates = await openTwo()
    const { here, there } = gates
    const { id } = await here.approved('unkeyed')
    await here.claim(id, {}, asAna)
    expect(await there.takeClientResult(id, error('refused'), asAna)).toMatchObject({
      state: 'failed',
      error: { kind: 'refused', retryable: false },
    })
    const second = await there.claim(id, { retry: true }, asAna)
    expect(second).toMatchObject({ epoch: 2, idempotencyKey: `${id}.2`, action: { attempt: 2, error: null } })
    const held = await gates.row(id)
    for (const stale of [{ epoch: 1, output: 'late' }, error('refused'), { epoch: 3, output: 'early' }]) {
      await expect(here.takeClientResult(id, stale, asAna)).rejects.toMatchObject({
        code: 'illegal_transition',
        extra: { action: { id, state: 'executing', attempt: 2 } },
      })
    }
    await expect(here.takeClientResult(id, { epoch: 2, output: 'x' }, { principal: ben })).rejects.toMatchObject({ code: 'forbidden' })
    expect(await gates.row(id)).toEqual(held)

    const results = await Promise.all(
      Array.from({ length: 6 }, (_, n) => (n % 2 ? here : there).takeClientResult(id, { epoch: 2, output: { id: 7 } }, asAna)),
    )
    for (const result of results) expect(result).toEqual(results[0])
    expect(results[0]).toMatchObject({ state: 'succeeded', result: { id: 7 } })
    await expect(here.takeClientResult(id, { epoch: 2, output: { id: 8 } }, asAna)).rejects.toMatchObject({ code: 'illegal_transition' })
    expect(await gates.row(id)).toMatchObject({ state: 'succeeded', result: '{"id":7}', runner: null, due_at: null })
  })

  test(`${database}: what a client says settles its action as the server’s own attempts settle`, async () => {
    await using gates = await openTwo()
    const ends = async (name: string, body: ClientResultBody) => {
      const { id } = await gates.here.approved(name)
      await gates.here.claim(id, {}, asAna)
      const { state, error } = await gates.here.takeClientResult(id, body, asAna)
      return `${state} ${error?.kind} ${error?.retryable}`
    }
    expect(await ends('unkeyed', error('refused'))).toBe('failed refused false')
    expect(await ends('unkeyed', error('unreachable'))).toBe('failed unreachable true')
    expect(await ends('unkeyed', error('broken'))).toBe('failed broken true')
    expect(await ends('unkeyed', error('ambiguous'))).toBe('outcome_unknown ambiguous false')
    expect(await ends('keyed', error('ambiguous'))).toBe('outcome_unknown ambiguous false')
    expect(await ends('lookable', error('ambiguous'))).toBe('outcome_unknown ambiguous true')
    expect(await ends('look', error('ambiguous'))).toBe('failed ambiguous true')
  })

  test(`${database}: an unknown outcome is claimed again only where the target honours the key, and keeps it; a refusal then settles nothing`, async () => {
    await using gates = await openTwo()
    const { here } = gates
    const unknown = async (name: string) => {
      const { id } = await here.approved(name)
      await here.claim(id, {}, asAna)
      await here.takeClientResult(id, error('ambiguous'), asAna)
      return id
    }
    const unkeyed = await unknown('unkeyed')
    await expect(here.claim(unkeyed, { retry: true }, asAna)).rejects.toMatchObject({ code: 'illegal_transition' })
    await expect(here.retry(unkeyed, asAna)).rejects.toMatchObject({ code: 'illegal_transition' })
    await expect(here.verify(unkeyed, asAna)).rejects.toMatchObject({ code: 'illegal_transition' })
    expect(await gates.row(unkeyed)).toMatchObject({ state: 'outcome_unknown', epoch: 1 })

    const keyed = await unknown('keyed')
    // The client may have sent it again by itself: then the refusal may be because the first send has acted.
    await expect(here.takeClientResult(keyed, error('refused'), asAna)).rejects.toMatchObject({ code: 'illegal_transition' })
    await expect(here.claim(keyed, {}, asAna)).rejects.toMatchObject({ code: 'illegal_transition' })
    expect(await here.claim(keyed, { retry: true }, asAna)).toMatchObject({ epoch: 2, idempotencyKey: `${keyed}.1` })
    expect(await here.takeClientResult(keyed, error('refused', 2), asAna)).toMatchObject({ state: 'outcome_unknown' })
    await here.claim(keyed, { retry: true }, asAna)
    expect(await here.takeClientResult(keyed, { epoch: 3, output: 1 }, asAna)).toMatchObject({ state: 'succeeded', attempt: 3 })
  })

  test(`${database}: a client that carries out again what a person marked as not done gets the same key, and a new one only after a refusal`, async () => {
    await using gates = await openTwo()
    const { here } = gates
    for (const tool of ['keyed', 'unkeyed']) {
      const { id } = await here.approved(tool)
      const say = (epoch: number, kind: 'ambiguous' | 'refused') =>
        here.takeClientResult(id, { epoch, error: { kind, message: 'No answer.' } }, asAna)
      await here.claim(id, {}, asAna)
      expect(await say(1, 'refused')).toMatchObject({ state: 'failed' })
      expect(await here.claim(id, { retry: true }, asAna)).toMatchObject({ idempotencyKey: `${id}.2` })
      expect(await say(2, 'ambiguous')).toMatchObject({ state: 'outcome_unknown' })
      await here.resolve(id, { outcome: 'failed', note: 'Not there.' }, asAna)
      expect(await here.claim(id, { retry: true }, asAna), tool).toMatchObject({ epoch: 3, idempotencyKey: `${id}.2` })
    }
  })

  test(`${database}: a client that is never heard of again leaves an unknown outcome when its hold is over, and may still say what happened`, async () => {
    await using gates = await openTwo()
    const { here, there } = gates
    const untilNothingIsDue = async () => {
      while ((await there.doWhatIsDue(never)) !== undefined);
    }
    const lost = async (name: string) => {
      const { id } = await here.approved(name)
      await here.claim(id, {}, asAna)
      await untilNothingIsDue()
      return id
    }
    const id = await lost('brief')
    expect(await gates.row(id)).toMatchObject({ state: 'outcome_unknown', epoch: 1, due_at: null })
    expect(JSON.parse((await gates.row(id)).error ?? '')).toMatchObject({
      kind: 'ambiguous',
      message: expect.stringContaining('did not say'),
    })
    expect(await gates.row(await lost('briefLook'))).toMatchObject({ state: 'failed' })
    expect(await here.takeClientResult(id, { epoch: 1, output: 'done' }, asAna)).toMatchObject({ state: 'succeeded', result: 'done' })

    const settled = await lost('brief')
    await here.resolve(settled, { outcome: 'failed', note: 'not there' }, { principal: ben })
    await expect(here.takeClientResult(settled, { epoch: 1, output: 'done' }, asAna)).rejects.toMatchObject({
      code: 'illegal_transition',
      extra: { action: { state: 'failed', resolution: { note: 'not there' } } },
    })
  })

  test(`${database}: a client whose hold ended may say late that it failed, where nobody else has carried it out, and a retry keeps the key`, async () => {
    await using gates = await openTwo()
    const { here, there } = gates
    for (const name of ['brief', 'briefKeyed', 'briefLookable']) {
      const { id } = await here.approved(name)
      await here.claim(id, {}, asAna)
      const hasEnded = async () => {
        await there.doWhatIsDue(never)
        return (await gates.row(id)).state
      }
      await expect.poll(hasEnded).toBe('outcome_unknown')
      const failed = { state: 'failed', error: { kind: 'refused', message: 'The shop said so.' } }
      expect(await here.takeClientResult(id, error('refused'), asAna), name).toMatchObject(failed)
      expect(await here.takeClientResult(id, error('refused'), asAna), name).toMatchObject(failed)
      expect(await here.claim(id, { retry: true }, asAna), name).toMatchObject({ idempotencyKey: `${id}.1` })
    }
  })

  test(`${database}: what a client is not heard of and the tool does not find is of unknown outcome and is checked again, not failed`, async () => {
    await using gates = await openTwo()
    const { here, there } = gates
    const lost = async (name: string, isThere: (row: ActionRow) => boolean) => {
      const { id } = await here.approved(name)
      await here.claim(id, {}, asAna)
      // The end of the hold makes a check due, which this begins at once.
      const look = async () => {
        await there.doWhatIsDue(never)
        await there.idle()
        return isThere(await gates.row(id))
      }
      await expect.poll(look).toBe(true)
      return gates.row(id)
    }
    const checked = ({ due_at, checks }: ActionRow) => checks !== null && due_at !== null && due_at >= JSON.parse(checks).since + 5_000
    const missing = await lost('missing', (row) => row.state === 'outcome_unknown' && checked(row))
    expect(missing).toMatchObject({ state: 'outcome_unknown', attempt: 1, in_doubt: 1 })
    // The next check is 5 s after this one, or as long as the outcome has been unknown by then, and not after the time that this one was given.
    const now = systemClock.nowMs()
    expect(missing.due_at).toBeLessThanOrEqual(now + Math.max(now - JSON.parse(missing.checks ?? '').since, 5_000))
    expect(await here.verify(missing.id, asAna)).toMatchObject({
      state: 'outcome_unknown',
      checks: { ended: false, lastAt: expect.any(String), lastFound: 'not_found' },
    })
    expect(await lost('found', ({ state }) => state === 'succeeded')).toMatchObject({ attempt: 1, result: '"there"' })
  })

  test(`${database}: a process that starts or takes over leaves the holds of clients alone`, async () => {
    await using gates = await openTwo()
    const { id } = await gates.here.approved('unkeyed')
    await gates.here.claim(id, {}, asAna)
    const held = await gates.row(id)
    await gates.there.recover()
    await gates.there.recover(['prc_1'])
    await gates.there.execute(id)
    await gates.there.idle()
    expect(await gates.there.doWhatIsDue(never)).toBeGreaterThan(1_000)
    expect(await gates.row(id)).toEqual(held)
    expect(await gates.there.takeClientResult(id, { epoch: 1, output: null }, asAna)).toMatchObject({ state: 'succeeded' })
  })

  test(`${database}: what is no longer what was decided is not handed out: people are asked again, and where its tool is gone it fails`, async () => {
    await using gates = await openTwo()
    for (const change of [{ idempotent: true }, { effect: 'read' as Effect }, { description: 'Something else.' }]) {
      const { id } = await gates.here.approved('unkeyed')
      const after = openBareGate(gates.store, [tool('unkeyed', { ...UNKEYED, ...change })], 'prc_3')
      await expect(after.claim(id, {}, asAna)).rejects.toMatchObject({
        code: 'stale_preview',
        extra: { action: { state: 'proposed', revision: 2, revised: { why: 'tool' }, error: null, ...('effect' in change && change) } },
      })
      expect(await gates.row(id)).toMatchObject({ claimed_by: null, attempt: 0 })
    }
    const { id } = await gates.here.approved('unkeyed')
    await expect(openBareGate(gates.store, [tool('other')], 'prc_3').claim(id, {}, asAna)).rejects.toMatchObject({
      code: 'illegal_transition',
      message: expect.stringContaining('not carried out'),
      extra: { action: { state: 'failed', error: { kind: 'tool_missing', retryable: false } } },
    })
    expect(await gates.row(id)).toMatchObject({ claimed_by: null, due_at: null })
  })

  test(`${database}: in a session, a claim that fails because the tool is gone is told to the model like any failure`, async () => {
    await using gates = await openTwo()
    const { store } = gates
    const changed = openBareGate(store, [tool('other')], 'prc_3')
    const own = openTools({ own: { prefix: true, tools: TOOLS } }).byName('own.unkeyed')
    if (!own) throw new Error('the tool is there')
    const prepared = await prepareAction({
      tool: own,
      arguments: {},
      agent: 'desk',
      session: null,
      requesters: [ana],
      policies: ASKS,
      clock: systemClock,
    })
    const id = await store.transact(function* (outbox) {
      yield* sessions.insertSession.run({ id: 'ses_1', agent: 'desk', title: '', owner_id: ana.id, now: 1 })
      const writer = yield* writeSession(outbox, 'ses_1', 1)
      const placement = { sessionId: 'ses_1', runId: null, messageId: null, toolCallId: 'call_1', position: 0 }
      const asked = { prepared, placement, requestedBy: ana.id, limits: { perAgent: 9, perSession: 9 }, nowMs: 1 }
      const { row } = yield* insertPrepared(outbox, writer, asked)
      yield* writer.finish()
      return row.id
    })
    await changed.decide(id, { verdict: 'approve' }, asAna)
    await expect(changed.claim(id, {}, asAna)).rejects.toMatchObject({ extra: { action: { state: 'failed' } } })
    const said = await store.read(() => messages.listMessages.all({ session_id: 'ses_1', before: 1_000, limit: 9 }))
    expect(said.filter(({ in_history }) => in_history === 1)).toMatchObject([
      { role: 'tool', tool_call_id: 'call_1', content: expect.stringContaining('was not carried out') },
    ])
  })
}
