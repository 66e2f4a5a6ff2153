import { type Effect, type JsonValue, type PreviewField, type Principal, RegisterToolBody } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ALIVE, savePersons } from '../../../../../verification/testing/bare-gate.ts'
import { ana, ben, hurriedClock, openGate } from '../../../../../verification/testing/open-gate.ts'
import { STORES } from '../../../../../verification/testing/temp-store.ts'
import { openTools } from '../../../../toolkit/src/open-tools.ts'
import { createRefusals } from '../../audit/index.ts'
import { createConcurrencyLimiter } from '../../dispatch/index.ts'
import { compilePolicy, fixedPolicies } from '../../policy/index.ts'
import { openRegisteredTools } from '../../registered/index.ts'
import { principals } from '../../store/index.ts'
import { createGate, createStartFailures } from '../index.ts'

test('a target is read at most once a second for one action, however many ask for a fresh preview', async () => {
  let reads = 0
  let balance = 1
  const pay = defineTool({
    name: 'pay',
    description: 'Pay',
    input: z.object({ to: z.string() }),
    effect: 'write',
    preview: () => {
      reads++
      return [{ field: 'balance', oldValue: balance, newValue: 0 }]
    },
    execute: () => undefined,
  })
  let nowMs = Date.now()
  const clock = { ...hurriedClock, nowMs: () => nowMs }
  await using gate = await openGate([pay], { clock })
  const { propose, refresh } = gate.engine.gate
  const [first, second] = [
    await propose({ tool: 'own.pay', arguments: { to: 'bo' } }, { principal: ana }),
    await propose({ tool: 'own.pay', arguments: { to: 'cy' } }, { principal: ana }),
  ]
  reads = 0
  balance = 2
  const many = await Promise.all(Array.from({ length: 20 }, (_, n) => refresh(first.id, { principal: n % 2 ? ana : ben })))
  expect(reads).toBe(1)
  expect(new Set(many.map(({ revision }) => revision))).toEqual(new Set([2]))
  await refresh(second.id, { principal: ben })
  expect(reads, 'another action is read for itself').toBe(2)
  nowMs += 999
  await refresh(first.id, { principal: ben })
  expect(reads).toBe(2)
  nowMs += 1
  await refresh(first.id, { principal: ben })
  expect(reads).toBe(3)
})

/** A gate with a tool whose preview shows a balance, and a clock that stands still. */
async function openTill() {
  const till = { balance: 1 }
  const pay = defineTool({
    name: 'pay',
    description: 'Pay',
    input: z.object({ to: z.string() }),
    effect: 'write',
    preview: ({ to }) => [
      { field: 'balance', oldValue: till.balance, newValue: 0 },
      { field: 'to', newValue: to },
    ],
    execute: () => undefined,
  })
  const nowMs = Date.now()
  const gate = await openGate([pay], { clock: { ...hurriedClock, nowMs: () => nowMs } })
  return { ...gate, till, [Symbol.asyncDispose]: () => gate[Symbol.asyncDispose]() }
}

test('a fresh preview right after an edit is one of the edited call: the edit stays', async () => {
  await using gate = await openTill()
  const { propose, refresh, decide } = gate.engine.gate
  const { id, digest } = await propose({ tool: 'own.pay', arguments: { to: 'bo' } }, { principal: ana })
  await refresh(id, { principal: ben })
  // The editor was shown another balance, so the edit waits for a vote.
  gate.till.balance = 2
  const edited = await decide(id, { verdict: 'approve', revision: 1, digest, arguments: { to: 'cy' } }, { principal: ben })
  expect(edited).toMatchObject({ state: 'proposed', revision: 2, arguments: { to: 'cy' } })
  const fresh = await refresh(id, { principal: ana })
  expect(fresh).toMatchObject({
    revision: 2,
    digest: edited.digest,
    arguments: { to: 'cy' },
    preview: [{ oldValue: 2 }, { newValue: 'cy' }],
  })
  expect(fresh.revised).toMatchObject({ why: 'edit' })
})

test('a fresh preview right after a start sent the action back does not bring an earlier reading back', async () => {
  await using gate = await openTill()
  const { propose, refresh, decide } = gate.engine.gate
  const { id, digest } = await propose({ tool: 'own.pay', arguments: { to: 'bo' } }, { principal: ana })
  await refresh(id, { principal: ben })
  gate.till.balance = 2
  await decide(id, { verdict: 'approve', revision: 1, digest }, { principal: ben })
  const asked = await gate.until(id, ({ state, revision }) => state === 'proposed' && revision === 2)
  expect(asked.preview).toMatchObject([{ oldValue: 2 }, {}])
  expect(await refresh(id, { principal: ben })).toMatchObject({ revision: 2, digest: asked.digest, preview: [{ oldValue: 2 }, {}] })
})

test('a fresh preview shows every value as it is now, also one that the decision does not rest on', async () => {
  let mergeable: JsonValue = 'not known yet'
  const merge = defineTool({
    name: 'merge',
    description: 'Merge',
    input: z.object({}),
    effect: 'write',
    preview: () => [{ field: 'can be merged', oldValue: mergeable }],
    precondition: () => 'head 7fd1',
    execute: () => undefined,
  })
  let nowMs = Date.now()
  await using gate = await openGate([merge], { clock: { ...hurriedClock, nowMs: () => nowMs } })
  const { propose, refresh } = gate.engine.gate
  const { id, digest } = await propose({ tool: 'own.merge', arguments: {} }, { principal: ana })
  mergeable = false
  nowMs += 1_000
  const fresh = await refresh(id, { principal: ben })
  expect(fresh).toMatchObject({
    ...{ revision: 2, digest, previewedAt: new Date(nowMs).toISOString() },
    preview: [{ field: 'can be merged', oldValue: false }],
    revised: { why: 'preview', reason: expect.stringContaining('can be merged was "not known yet" and is false now') },
  })
  nowMs += 1_000
  expect(await refresh(id, { principal: ben })).toMatchObject({ revision: 2, previewedAt: new Date(nowMs).toISOString() })
})

test('what a fresh preview says has changed tells two long values apart, and calls nothing approved that nobody approved', async () => {
  const target = { note: `${'x'.repeat(90)} one`, name: 'Ada' }
  const pay = defineTool({
    name: 'pay',
    description: 'Pay',
    input: z.object({}),
    effect: 'write',
    preview: () => ({ fields: [{ field: 'note', oldValue: target.note, newValue: 'paid' }], headline: `Pay ${target.name}` }),
    execute: () => undefined,
  })
  let nowMs = Date.now()
  await using gate = await openGate([pay], { clock: { ...hurriedClock, nowMs: () => nowMs } })
  const { propose, refresh } = gate.engine.gate
  const { id } = await propose({ tool: 'own.pay', arguments: {} }, { principal: ana })
  const reasonOf = async () => (await refresh(id, { principal: ben })).revised?.reason
  target.note = `${'x'.repeat(90)} two`
  nowMs += 1_000
  expect(await reasonOf()).toBe('The values changed since this was shown: note is another one now, after its first 80 characters.')
  target.name = 'Bo'
  nowMs += 1_000
  expect(await reasonOf()).toBe('What this rests on has changed since it was shown.')
})

test('another diff of the same change, as a busy server draws it, is no new revision; the diff of another change is', async () => {
  const [short, whole] = ['@@ -1,2 +1,2 @@\n one\n-two\n+2\n', '@@ -1,2 +1,2 @@\n-one\n-two\n+one\n+2\n']
  const file = (hunk: string, name: string) => ({ field: name, diff: `--- a/${name}\n+++ b/${name}\n${hunk}` })
  let fields: PreviewField[] = [file(short, 'a.txt'), file(short, 'b.txt')]
  const patch = defineTool({
    name: 'patch',
    description: 'Patch',
    input: z.object({}),
    effect: 'write',
    preview: () => fields,
    precondition: () => 'files 7fd1',
    execute: () => undefined,
  })
  let nowMs = Date.now()
  await using gate = await openGate([patch], { clock: { ...hurriedClock, nowMs: () => nowMs } })
  const { propose, refresh } = gate.engine.gate
  const { id, digest } = await propose({ tool: 'own.patch', arguments: {} }, { principal: ana })
  const shown = fields
  for (const drawn of [
    [file(whole, 'a.txt'), file(short, 'b.txt')],
    [file(short, 'a.txt'), { field: 'b.txt', oldValue: 'one\ntwo\n', newValue: 'one\n2\n' }],
  ]) {
    fields = drawn
    nowMs += 1_000
    const fresh = await refresh(id, { principal: ben })
    expect(fresh).toMatchObject({ revision: 1, digest, preview: shown, previewedAt: new Date(nowMs).toISOString() })
  }
  fields = [file(whole, 'a.txt'), file(short.replace('+2', '+3'), 'b.txt')]
  nowMs += 1_000
  expect(await refresh(id, { principal: ben })).toMatchObject({
    revision: 2,
    revised: { reason: 'b.txt is not what it was when this was shown: the diff is another one now.' },
  })
})

test('an edit counts where only the diff of what its editor saw is drawn in another way by now, and not where the text is another one', async () => {
  const texts = { oldValue: 'one\ntwo\n', newValue: 'one\n2\n' }
  const diff = '--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n'
  let drawn: Omit<PreviewField, 'field'> = { diff }
  let head = 'head 7fd1'
  const commit = defineTool({
    name: 'commit',
    description: 'Commit',
    input: z.object({ message: z.string() }),
    effect: 'write',
    preview: ({ message }) => [
      { field: 'message', newValue: message },
      { field: 'a.txt', ...drawn },
    ],
    precondition: () => head,
    execute: () => undefined,
  })
  await using gate = await openGate([commit])
  const { propose, decide } = gate.engine.gate
  const edited = async (before: typeof drawn, after: typeof drawn, moved = head) => {
    drawn = before
    const { id, digest } = await propose({ tool: 'own.commit', arguments: { message: 'Fix' } }, { principal: ana })
    drawn = after
    head = moved
    const edit = { verdict: 'approve', revision: 1, digest, arguments: { message: 'Fix it' } } as const
    const { revision, votes } = await decide(id, edit, { principal: ben })
    expect(revision).toBe(2)
    return votes.length
  }
  expect([await edited({ diff }, texts), await edited(texts, { diff }), await edited(texts, texts)]).toEqual([1, 1, 1])
  expect([await edited({ diff }, { ...texts, oldValue: 'one\n3\n' }), await edited({ ...texts, oldValue: 'one\n3\n' }, { diff })]).toEqual([
    0, 0,
  ])
  expect(await edited({ diff }, texts, 'head 9ab2')).toBe(0)
})

const bot: Principal = { id: 'prn_bot', kind: 'agent', name: 'bot', roles: ['agent'] }
const definition = (name: string, description: string, effect: Effect = 'write'): RegisterToolBody =>
  RegisterToolBody.parse({ name, description, input: { type: 'object', properties: { cents: { type: 'integer' } } }, effect })

for (const { database, open } of STORES) {
  test(`an action on a registered tool is read again as the tool is now, whichever process it was registered at (${database})`, async () => {
    await using temp = await open()
    const { store } = temp
    await savePersons(store)
    await store.transact(() => principals.savePrincipal(bot, 1))
    const log = pino({ level: 'silent' })
    const rule = { name: 'low', match: { tool: 'pay.*' }, verdict: 'ask', risk: 'low' } as const
    const openProcess = async (processId: string) => {
      const registered = await openRegisteredTools({ store, clock: hurriedClock, log, configured: openTools({}) })
      const gate = createGate({
        ...{ store, log, processId, clock: hurriedClock, refusals: createRefusals({ store, clock: hurriedClock, log }) },
        ...{ tools: registered.tools, refreshTool: registered.refresh, background: () => undefined },
        policies: fixedPolicies(compilePolicy({ default: 'ask', rules: [rule] }, 1)),
        life: ALIVE,
        stopped: new AbortController().signal,
        agentStopsOnDecline: () => false,
        limiter: createConcurrencyLimiter(4),
        startFailures: createStartFailures(),
        executionsPerSession: 8,
      })
      return { gate, register: (body: RegisterToolBody) => registered.register(body, { principal: bot }) }
    }
    const [one, two] = [await openProcess('prc_1'), await openProcess('prc_2')]
    await one.register(definition('pay.send', 'Pays a supplier'))
    await two.register(definition('pay.send', 'Pays anybody at once'))
    const asked = await two.gate.propose({ tool: 'pay.send', arguments: { cents: 5 } }, { principal: bot })
    const { revision, digest, preview } = await one.gate.refresh(asked.id, { principal: ben })
    expect({ revision, digest, preview }).toEqual({ revision: 1, digest: asked.digest, preview: asked.preview })
    await two.register(definition('pay.new', 'Is known there alone'))
    await two.register(definition('pay.other', 'Is known there alone, too', 'read'))
    const propose = (tool: string) => two.gate.propose({ tool, arguments: { cents: 5 } }, { principal: bot })
    expect(await one.gate.refresh((await propose('pay.new')).id, { principal: ben })).toMatchObject({ revision: 1 })
    expect(await one.gate.suggestGrant((await propose('pay.other')).id, { principal: ben })).toMatchObject({ refusal: null })
  })
}
