import { ToolError, type Verification } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { openBareGate, rowOf, savePersons } from '../../../../../verification/testing/bare-gate.ts'
import { ana } from '../../../../../verification/testing/open-gate.ts'
import { STORES } from '../../../../../verification/testing/temp-store.ts'
import { openTools } from '../../../../toolkit/src/open-tools.ts'
import { systemClock } from '../../clock.ts'
import { compilePolicy, fixedPolicies } from '../../policy/index.ts'
import { type ActionRow, audit, type Store, sessions } from '../../store/index.ts'
import { insertPrepared, prepareAction, writeSession } from '../index.ts'
import { isKeyKnown } from './known-key.ts'

const HOUR_MS = 3_600_000
const ASKS = fixedPolicies(compilePolicy({ default: 'ask' as const, rules: [] }, 1))
const asAna = { principal: ana }

/** A service that is down, and what it was sent under which key; by a clock that the test puts forward. */
function openService() {
  const start = systemClock.nowMs()
  const at = { hours: 0, isDown: true, onSend: (): unknown => undefined }
  const nowMs = () => start + at.hours * HOUR_MS
  const sent: string[] = []
  const finding: Verification = { done: true, output: 'there' }
  const base = { input: z.object({}), effect: 'write', idempotent: true } as const
  const execute = async (_: object, { idempotencyKey }: { idempotencyKey: string }) => {
    sent.push(`${at.hours} h ${idempotencyKey.split('.').at(-1)}`)
    await at.onSend()
    if (at.isDown) throw new ToolError('ambiguous', 'The line went dead.')
    return 'paid'
  }
  const tools = [
    defineTool({ ...base, name: 'keyed', description: 'Keyed', execute }),
    defineTool({ ...base, name: 'asked', description: 'Asked', execute, verify: () => finding }),
    defineTool({ ...base, name: 'look', description: 'Look', effect: 'read', execute }),
    defineTool({ ...base, name: 'held', description: 'Held', executor: 'client' }),
  ]
  const open = (store: Store, processId: string) => openBareGate(store, tools, processId, { nowMs })
  return { at, sent, tools, nowMs, open }
}

for (const { database, open } of STORES) {
  const openStore = async () => {
    const temp = await open()
    await savePersons(temp.store)
    return temp
  }

  /** Sends something in a process that is killed while it waits for the answer, and takes that over after so many hours. */
  async function recovered(store: Store, tool: string, hours: number) {
    const service = openService()
    const reached = Promise.withResolvers<void>()
    service.at.onSend = () => {
      reached.resolve()
      return new Promise(() => {})
    }
    const dead = openBareGate(store, service.tools, `prc_dead${hours}${tool}`, { nowMs: service.nowMs, after: () => () => undefined })
    const { id } = await dead.approved(tool)
    void dead.execute(id)
    await reached.promise
    Object.assign(service.at, { hours, isDown: false, onSend: () => undefined })
    const next = service.open(store, `prc_next${hours}${tool}`)
    await next.recover([dead.processId])
    await next.idle()
    return { id, next, service, row: await rowOf(store, id) }
  }

  test(`${database}: a keyed attempt of a process that ended a day ago is not sent again: its target may not know the key any more`, async () => {
    await using temp = await openStore()
    const { store } = temp
    const young = await recovered(store, 'keyed', 19)
    expect([young.row.state, young.service.sent]).toEqual(['succeeded', ['0 h 1', '19 h 1']])

    const { id, next, service, row } = await recovered(store, 'keyed', 24)
    expect([row.state, service.sent]).toEqual(['outcome_unknown', ['0 h 1']])
    expect(JSON.parse(row.error ?? '')).toEqual({
      kind: 'ambiguous',
      message:
        'The server stopped while this was being carried out. It was not sent again, because the service may have forgotten the idempotency key by now.',
      retryable: false,
    })
    await expect(next.verify(id, asAna)).rejects.toMatchObject({ code: 'illegal_transition' })
    // A person's word that it was not done is another matter.
    await next.resolve(id, { outcome: 'failed', note: 'Not on the statement.' }, asAna)
    await next.retry(id, asAna)
    await next.idle()
    expect([(await rowOf(store, id)).state, service.sent]).toEqual(['succeeded', ['0 h 1', '24 h 1']])

    const asked = await recovered(store, 'asked', 24)
    expect([asked.row.state, asked.row.result, asked.service.sent]).toEqual(['succeeded', '"there"', ['0 h 1']])
    const look = await recovered(store, 'look', 24)
    expect([look.row.state, look.service.sent]).toEqual(['succeeded', ['0 h 1', '24 h 1']])
  })

  test(`${database}: a machine that sleeps for a day between two sends does not send a second time`, async () => {
    await using temp = await openStore()
    const service = openService()
    service.at.onSend = () => {
      service.at.hours = 24
    }
    const gate = service.open(temp.store, 'prc_1')
    const { id } = await gate.approved('keyed')
    await gate.execute(id)
    await gate.idle()
    expect([(await rowOf(temp.store, id)).state, service.sent]).toEqual(['outcome_unknown', ['0 h 1']])

    const drowsy = openService()
    const napping = openBareGate(temp.store, drowsy.tools, 'prc_2', {
      nowMs: drowsy.nowMs,
      after(delayMs, callback) {
        // Only the wait before the second send.
        if (delayMs !== 500) return () => undefined
        drowsy.at.hours = 24
        return systemClock.after(0, callback)
      },
    })
    const other = await napping.approved('keyed')
    await napping.execute(other.id)
    await napping.idle()
    expect([(await rowOf(temp.store, other.id)).state, drowsy.sent]).toEqual(['outcome_unknown', ['0 h 1']])
  })

  test(`${database}: "Check again" a day after the first send sends nothing, however often it was sent since`, async () => {
    await using temp = await openStore()
    const service = openService()
    const gate = service.open(temp.store, 'prc_1')
    const { id } = await gate.approved('keyed')
    await gate.execute(id)
    await gate.idle()
    expect(service.sent).toEqual(Array(3).fill('0 h 1'))
    service.at.hours = 19
    await gate.verify(id, asAna)
    await gate.idle()
    expect(service.sent).toHaveLength(4)
    expect(JSON.parse((await rowOf(temp.store, id)).error ?? '')).toMatchObject({ retryable: true })
    service.at.hours = 30
    await expect(gate.verify(id, asAna)).rejects.toMatchObject({
      code: 'illegal_transition',
      message: `${id} is not sent again: its service may have forgotten the idempotency key; say yourself what came of it`,
    })
    expect(service.sent).toHaveLength(4)
    expect(await rowOf(temp.store, id)).toMatchObject({ state: 'outcome_unknown', attempt: 4 })
  })

  test(`${database}: in a session too, a key counts from its first send`, async () => {
    await using temp = await openStore()
    const { store } = temp
    const service = openService()
    const gate = service.open(store, 'prc_1')
    const { id } = await gate.approved('keyed')
    const tool = openTools({ own: { prefix: true, tools: service.tools } }).byName('own.keyed')
    if (!tool) throw new Error('the tool is there')
    const clock = { ...systemClock, nowMs: service.nowMs }
    const asking = { tool, arguments: {}, agent: 'desk', session: null, requesters: [ana], policies: ASKS, clock }
    const prepared = await prepareAction(asking)
    const nowMs = service.nowMs()
    const inSession = await store.transact(function* (outbox) {
      yield* sessions.insertSession.run({ id: 'ses_1', agent: 'desk', title: '', owner_id: ana.id, now: nowMs })
      const writer = yield* writeSession(outbox, 'ses_1', nowMs)
      const placement = { sessionId: 'ses_1', runId: null, messageId: null, toolCallId: 'call_1', position: 0 }
      const limits = { perAgent: 9, perSession: 9 }
      const { row } = yield* insertPrepared(outbox, writer, { prepared, placement, requestedBy: ana.id, limits, nowMs })
      yield* writer.finish()
      return row.id
    })
    await gate.decide(inSession, { verdict: 'approve' }, asAna)
    await gate.execute(inSession)
    await gate.idle()
    service.at.hours = 4
    await gate.execute(id)
    await gate.idle()
    const [first, second] = [await rowOf(store, inSession), await rowOf(store, id)]
    expect([first.session_id, first.attempt, second.session_id, second.attempt]).toEqual(['ses_1', 3, null, 3])
    const sentAfter = async (row: ActionRow) =>
      ((await store.read(() => audit.firstWithKey(row))) ?? 0) - service.nowMs() + service.at.hours * HOUR_MS
    expect([await sentAfter(first), await sentAfter(second)]).toEqual([0, 4 * HOUR_MS])
    service.at.hours = 22
    const knows = (row: ActionRow) => store.read(() => isKeyKnown(row, service.nowMs()))
    expect([await knows(first), await knows(second)]).toEqual([false, true])
  })

  test(`${database}: a key that is new after a failure is known for as long as any other, however old its action is`, async () => {
    await using temp = await openStore()
    const service = openService()
    service.at.onSend = () => {
      throw new ToolError('refused', 'Closed.', { retryable: true })
    }
    const gate = service.open(temp.store, 'prc_1')
    const { id } = await gate.approved('keyed')
    await gate.execute(id)
    await gate.idle()
    expect(await rowOf(temp.store, id)).toMatchObject({ state: 'failed' })
    Object.assign(service.at, { hours: 48, onSend: () => undefined })
    await gate.retry(id, asAna)
    await gate.idle()
    expect(service.sent).toEqual(['0 h 1', '48 h 2', '48 h 2', '48 h 2'])
    service.at.hours = 67
    await gate.verify(id, asAna)
    await gate.idle()
    expect(service.sent.at(-1)).toBe('67 h 2')
    service.at.hours = 69
    await expect(gate.verify(id, asAna)).rejects.toMatchObject({ code: 'illegal_transition' })
  })

  test(`${database}: a client that lost an attempt a day ago does not get it again`, async () => {
    await using temp = await openStore()
    const service = openService()
    const gate = service.open(temp.store, 'prc_1')
    const { id } = await gate.approved('held')
    await gate.claim(id, {}, asAna)
    const lose = (epoch: number) => gate.takeClientResult(id, { epoch, error: { kind: 'ambiguous', message: 'No answer.' } }, asAna)
    await lose(1)
    service.at.hours = 19
    expect(await gate.claim(id, { retry: true }, asAna)).toMatchObject({ epoch: 2, idempotencyKey: `${id}.1` })
    await lose(2)
    service.at.hours = 24
    await expect(gate.claim(id, { retry: true }, asAna)).rejects.toMatchObject({ code: 'illegal_transition' })
    await gate.resolve(id, { outcome: 'failed', note: 'Not there.' }, asAna)
    expect(await gate.claim(id, { retry: true }, asAna)).toMatchObject({ epoch: 3, idempotencyKey: `${id}.1` })
  })
}
