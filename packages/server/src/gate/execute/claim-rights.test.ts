import type { Principal } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { type BareGateOptions, openBareGate, rowOf } from '../../../../../verification/testing/bare-gate.ts'
import { manualClock } from '../../../../../verification/testing/manual-clock.ts'
import { ana, ben, openGate } from '../../../../../verification/testing/open-gate.ts'
import { shortWaits } from '../../../../../verification/testing/short-waits.ts'
import { startTarget } from '../../../../../verification/testing/target.ts'
import { openTempSqlite, raw } from '../../../../../verification/testing/temp-store.ts'
import { compilePolicy, fixedPolicies } from '../../policy/index.ts'
import { principals } from '../../store/index.ts'

const agent: Principal = { id: 'prn_bot', kind: 'agent', name: 'bot', roles: [] }
const other: Principal = { id: 'prn_other', kind: 'agent', name: 'other', roles: [] }
const viewer: Principal = { id: 'prn_vera', kind: 'person', name: 'Vera', roles: ['viewer'] }
const approver: Principal = { id: 'prn_cy', kind: 'person', name: 'Cy', roles: ['approver'] }

const PAY = { description: 'Pay', input: { type: 'object' }, effect: 'write' } as const

async function open(options: BareGateOptions = {}) {
  const temp = await openTempSqlite()
  const tools = [
    defineTool({ ...PAY, name: 'pay', executor: 'client', idempotent: true }),
    defineTool({ ...PAY, name: 'serve', execute: () => null }),
  ]
  const gate = openBareGate(temp.store, tools, 'prc_1', options)
  await temp.store.transact(function* () {
    for (const one of [ana, ben, agent, other, viewer, approver]) yield* principals.savePrincipal(one, 1)
  })
  return {
    gate,
    row: (id: string) => rowOf(temp.store, id),
    update: (id: string, set: ReturnType<typeof sql>) => temp.store.transact(() => raw(sql`update action set ${set} where id = ${id}`)),
    async approved(tool = 'pay'): Promise<string> {
      const { id } = await gate.propose({ tool: `own.${tool}`, arguments: {} }, { principal: agent })
      await gate.decide(id, { verdict: 'approve' }, { principal: ana })
      return id
    },
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  }
}

const CLAIMED = { action: { state: 'executing' }, epoch: 1 }

test('who may decide and who asked for an action claim it; nobody else does, and an agent that may not see it is told of none', async () => {
  await using it = await open()
  for (const principal of [ana, ben, approver, agent]) {
    expect(await it.gate.claim(await it.approved(), {}, { principal }), principal.name).toMatchObject(CLAIMED)
  }
  const id = await it.approved()
  await expect(it.gate.claim(id, {}, { principal: viewer })).rejects.toMatchObject({ code: 'forbidden' })
  await expect(it.gate.claim(id, {}, { principal: other })).rejects.toMatchObject({ code: 'not_found' })
  expect(await it.row(id)).toMatchObject({ state: 'approved', claimed_by: null })
})

test('what failed is carried out again by who may decide, and not by the agent that asked for it', async () => {
  await using it = await open()
  const id = await it.approved()
  const { epoch } = await it.gate.claim(id, {}, { principal: agent })
  await it.gate.takeClientResult(id, { epoch, error: { kind: 'refused', message: 'No.' } }, { principal: agent })
  await expect(it.gate.claim(id, {}, { principal: agent })).rejects.toMatchObject({ code: 'illegal_transition' })
  await expect(it.gate.claim(id, { retry: true }, { principal: agent })).rejects.toMatchObject({
    code: 'forbidden',
    message: `bot may not start ${id} again`,
  })
  expect(await it.gate.claim(id, { retry: true }, { principal: ben })).toMatchObject({ action: { state: 'executing', attempt: 2 } })
})

test('where somebody else has to decide, who asked carries it out once, and not again after it failed', async () => {
  const rules = [{ name: 'four eyes', match: { tool: '*' }, verdict: 'ask' as const, requires: { notRequester: true } }]
  await using it = await open({ policies: fixedPolicies(compilePolicy({ default: 'ask', rules }, 1)) })
  const { id } = await it.gate.propose({ tool: 'own.pay', arguments: {} }, { principal: approver })
  await it.gate.decide(id, { verdict: 'approve' }, { principal: ana })
  const { epoch } = await it.gate.claim(id, {}, { principal: approver })
  await it.gate.takeClientResult(id, { epoch, error: { kind: 'refused', message: 'No.' } }, { principal: approver })
  await expect(it.gate.claim(id, { retry: true }, { principal: approver })).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('somebody else has to decide'),
  })
  expect(await it.gate.claim(id, { retry: true }, { principal: ben })).toMatchObject({ action: { state: 'executing', attempt: 2 } })
})

test('what the server carries out is not claimed, and nothing is before its grace period is over', async () => {
  await using it = await open()
  const { id } = await it.gate.propose({ tool: 'own.serve', arguments: {} }, { principal: agent })
  await expect(it.gate.claim(id, {}, { principal: ana })).rejects.toMatchObject({ message: `action ${id} is carried out by the server` })
  const waiting = await it.gate.propose({ tool: 'own.pay', arguments: {} }, { principal: agent })
  await it.gate.decide(waiting.id, { verdict: 'approve', startAfter: 'PT1H' }, { principal: ana })
  await expect(it.gate.claim(waiting.id, {}, { principal: ana })).rejects.toMatchObject({
    code: 'illegal_transition',
    message: expect.stringContaining('until then its approval can be taken back'),
    extra: { action: { state: 'approved' } },
  })
  const past = Date.now() - 1
  await it.update(waiting.id, sql`starts_at = ${past}, due_at = ${past}`)
  expect(await it.gate.claim(waiting.id, {}, { principal: ana })).toMatchObject(CLAIMED)
})

test('a claim that is repeated with its Idempotency-Key gets the same hold, and another key gets none', async () => {
  await using it = await open()
  const id = await it.approved()
  const once = (key: string) => ({ scope: `claim ${id} of ${agent.id}`, key, requestHash: 'same' })
  const first = await it.gate.claim(id, {}, { principal: agent, once: once('a') })
  expect(await it.gate.claim(id, {}, { principal: agent, once: once('a') })).toEqual(first)
  await expect(it.gate.claim(id, {}, { principal: agent, once: once('b') })).rejects.toMatchObject({ code: 'illegal_transition' })
  expect(await it.row(id)).toMatchObject({ epoch: 1, attempt: 1 })
})

test('a person whose role was reduced to looking, or whose key does not propose, carries nothing out that they asked for', async () => {
  await using it = await open()
  const { id } = await it.gate.propose({ tool: 'own.pay', arguments: {} }, { principal: approver })
  await it.gate.decide(id, { verdict: 'approve' }, { principal: ana })
  const looks = { ...approver, roles: ['viewer'] }
  await expect(it.gate.claim(id, {}, { principal: looks })).rejects.toMatchObject({ message: expect.stringContaining('may look, not act') })
  const asks = { ...approver, roles: ['member'] }
  expect(await it.gate.claim(id, {}, { principal: asks })).toMatchObject(CLAIMED)
})

test('the hold of a client that says nothing ends by the clock, without a restart', async () => {
  const clock = manualClock()
  const pay = defineTool({ ...PAY, name: 'pay', executor: 'client', timeoutMs: 60_000 })
  await using gate = await openGate([pay], { clock })
  const { id } = await gate.approve('pay')
  await gate.engine.gate.claim(id, {}, { principal: ana })
  clock.pass(59_000)
  expect(await gate.until(id, () => true)).toMatchObject({ state: 'executing' })
  clock.pass(2_000)
  expect(await gate.until(id)).toMatchObject({ state: 'outcome_unknown' })
})

test('where a client sends the request of a route, the claim has that request, with the version that people saw', async () => {
  await using target = await startTarget(() => ({ status: 200, headers: { etag: '"7"' }, body: { name: 'before' } }))
  const rename = {
    ...{ method: 'PATCH' as const, path: '/things/{id}', executor: 'client' as const, body: { name: '{name}' } },
    input: {
      ...{ type: 'object', required: ['id', 'name'], additionalProperties: false },
      properties: { id: { type: 'string' }, name: { type: 'string' } },
    },
  }
  const versioned = { ...rename, before: { get: '/things/{id}', compare: { name: '{name}' }, ifMatch: true } }
  const tools = { shop: { prefix: false, routes: { baseUrl: target.url, tools: { rename, versioned } } } }
  // A slow machine takes as long as it needs to read the target, for which a gate gives it five seconds.
  await using gate = await openGate([], { tools, clock: shortWaits(5_000) })
  const claim = async (tool: string) => {
    const { id } = await gate.engine.gate.propose({ tool, arguments: { id: '1', name: 'after' } }, { principal: ana })
    await gate.engine.gate.decide(id, { verdict: 'approve' }, { principal: ana })
    return gate.engine.gate.claim(id, {}, { principal: ana })
  }
  const request = { method: 'PATCH', url: `${target.url}/things/1`, body: { name: 'after' } }
  expect((await claim('rename')).request).toEqual(request)
  expect((await claim('versioned')).request).toEqual({ ...request, ifMatch: '"7"' })
})
