import { defineTool } from '@countersign/toolkit'
import { validateUIMessages } from 'ai'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { CALL, startAiSdk } from '../testing/ai-sdk-server.ts'
import { expireWaiting } from '../testing/end-deadline.ts'
import { orderTool } from '../testing/target.ts'

test('a read runs, a write parks with a native approval, and approved it runs once and the answer follows in the same message', async () => {
  await using it = await startAiSdk([{ calls: [{ tool: 'look', arguments: { what: 'x' } }, CALL] }, { text: 'Done.' }])
  const page = it.open()
  await page.chat.sendMessage({ text: 'Do it' })
  expect(page.chat.status).toBe('ready')
  expect(page.finished).toEqual(['tool-calls'])
  const [read, write] = page.calls
  expect(read).toMatchObject({ type: 'tool-look', state: 'output-available', output: { id: 4 } })
  expect(write).toMatchObject({ type: 'tool-keyed', state: 'approval-requested', input: { what: 'x' } })
  expect(write?.approval?.descriptor).toMatchObject({ description: 'Do x', digest: expect.stringContaining('sha256:') })
  expect(it.target.writes).toEqual([])

  await page.chat.addToolApprovalResponse({ id: write?.approval?.id ?? '', approved: true })
  await expect.poll(() => page.finished).toEqual(['tool-calls', 'stop'])
  expect(page.chat.messages).toHaveLength(2)
  expect(page.calls.map(({ state }) => state)).toEqual(['output-available', 'output-available'])
  expect(page.chat.lastMessage?.parts.at(-1)).toMatchObject({ type: 'text', text: 'Done.' })
  expect(it.target.writes).toHaveLength(1)
  const [action] = (await it.server.admin.get('/api/actions?tool=keyed')).items
  expect(action).toMatchObject({ state: 'succeeded', votes: [{ by: { id: it.principal.id }, verdict: 'approve' }] })
})

test('declined with a reason: nothing runs, the card says so, and the agent goes on', async () => {
  await using it = await startAiSdk([{ calls: [CALL] }, { text: 'I see.' }])
  const page = it.open()
  await page.chat.sendMessage({ text: 'Do it' })
  await page.chat.addToolApprovalResponse({ id: page.calls[0]?.approval?.id ?? '', approved: false, reason: 'not today' })
  await expect.poll(() => page.finished).toEqual(['tool-calls', 'stop'])
  expect(page.calls).toMatchObject([{ state: 'output-denied', approval: { approved: false, reason: 'not today' } }])
  expect(page.text).toBe('I see.')
  expect(it.target.writes).toEqual([])
})

test('two calls of one step: one approved, one declined, each ends as decided', async () => {
  await using it = await startAiSdk([{ calls: [CALL, { tool: 'keyed', arguments: { what: 'y' } }] }, { text: 'Half done.' }])
  const page = it.open()
  await page.chat.sendMessage({ text: 'Do both' })
  const [first, second] = page.calls
  await page.chat.addToolApprovalResponse({ id: first?.approval?.id ?? '', approved: true })
  expect(page.requests).toHaveLength(1)
  await page.chat.addToolApprovalResponse({ id: second?.approval?.id ?? '', approved: false })
  await expect.poll(() => page.finished).toEqual(['tool-calls', 'stop'])
  expect(page.calls.map(({ state }) => state)).toEqual(['output-available', 'output-denied'])
  expect(it.target.writes).toHaveLength(1)
})

test('what policy denies is shown as an automatic refusal, in one stream', async () => {
  await using it = await startAiSdk([{ calls: [CALL] }, { text: 'It is not allowed.' }], {
    rules: [{ name: 'frozen', match: { tool: 'keyed' }, verdict: 'deny', reason: 'Books are closed' }],
  })
  const page = it.open()
  await page.chat.sendMessage({ text: 'Do it' })
  expect(page.finished).toEqual(['stop'])
  expect(page.calls).toMatchObject([
    { state: 'output-denied', approval: { isAutomatic: true, approved: false, reason: expect.stringContaining('Books are closed') } },
  ])
  expect(page.text).toBe('It is not allowed.')
})

test('edited elsewhere: the card shows what ran', async () => {
  await using it = await startAiSdk([{ calls: [CALL] }, { text: 'Done.' }])
  const page = it.open()
  await page.chat.sendMessage({ text: 'Do it' })
  const [{ id, revision, digest }] = await it.waiting()
  await it.server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest, arguments: { what: 'better' } })
  await it.server.settle()
  // The browser still has the old card, and answers it: too late, and harmless.
  await page.chat.addToolApprovalResponse({ id: page.calls[0]?.approval?.id ?? '', approved: true })
  await expect.poll(() => page.finished).toEqual(['tool-calls', 'stop'])
  expect(page.calls).toMatchObject([{ state: 'output-available', input: { what: 'better' } }])
  expect(it.target.writes).toHaveLength(1)
})

test('a call that was edited elsewhere and is done stays done on the page when the next one is approved', async () => {
  await using it = await startAiSdk([{ calls: [CALL] }, { calls: [{ tool: 'keyed', arguments: { what: 'y' } }] }, { text: 'Done.' }])
  const page = it.open()
  await page.chat.sendMessage({ text: 'Do it' })
  const [{ id, revision, digest }] = await it.waiting()
  await it.server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest, arguments: { what: 'better' } })
  await page.chat.addToolApprovalResponse({ id: page.calls[0]?.approval?.id ?? '', approved: true })
  await expect.poll(() => page.finished).toEqual(['tool-calls', 'tool-calls'])
  await page.chat.addToolApprovalResponse({ id: page.calls[1]?.approval?.id ?? '', approved: true })
  await expect.poll(() => page.finished).toEqual(['tool-calls', 'tool-calls', 'stop'])
  expect(page.calls).toMatchObject([
    { state: 'output-available', input: { what: 'better' }, approval: { approved: true } },
    { state: 'output-available', input: { what: 'y' }, approval: { approved: true } },
  ])
  await validateUIMessages({ messages: page.chat.messages })
  expect(it.target.writes).toHaveLength(2)
})

test('edited, taken back and approved elsewhere below a message that waited: the card shows what ran', async () => {
  await using it = await startAiSdk([{ calls: [CALL] }, { text: 'Done.' }, { text: 'It is sunny.' }])
  const page = it.open()
  await page.chat.sendMessage({ text: 'Do it' })
  await page.chat.sendMessage({ text: 'How is the weather?' })
  const asked = page.calls[0]?.approval?.id ?? ''
  const [{ id }] = await it.waiting()
  const decide = (body: object) => it.server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', ...body })
  await decide({ arguments: { what: 'better' }, startAfter: 'PT1H' })
  const { revision, digest } = await it.server.admin.post(`/api/actions/${id}/undo`)
  await decide({ revision, digest })
  await it.server.settle()
  // The browser still has the first card, and answers it: too late, and harmless.
  await page.chat.addToolApprovalResponse({ id: asked, approved: true })
  await expect.poll(() => page.finished).toEqual(['tool-calls', 'tool-calls', 'stop'])
  expect(page.calls).toMatchObject([{ state: 'output-available', input: { what: 'better' }, approval: { approved: true } }])
  expect(page.calls[0]?.approval?.id).not.toBe(asked)
  expect(it.target.writes.map(({ body }) => body)).toMatchObject([{ what: 'better' }])
})

test('what a tool fills in is on the page before anybody approves it, and where policy alone allows it', async () => {
  const { orders, tools } = orderTool()
  const allowed = { name: 'some run', match: { tool: 'own.order', when: "args.what == 'free'" }, verdict: 'allow' }
  const call = (what: string) => ({ calls: [{ tool: 'own.order', arguments: { what } }] })
  await using it = await startAiSdk([call('free'), call('x'), { text: 'Done.' }], { rules: [allowed] }, tools)
  const page = it.open()
  await page.chat.sendMessage({ text: 'Do it' })
  const free = { state: 'output-available', input: { what: 'free', times: 2 } }
  expect(page.calls).toMatchObject([free, { state: 'approval-requested', input: { what: 'x', times: 2 } }])
  await page.chat.addToolApprovalResponse({ id: page.calls[1]?.approval?.id ?? '', approved: true })
  await expect.poll(() => page.finished).toEqual(['tool-calls', 'stop'])
  expect(page.calls).toMatchObject([free, { state: 'output-available', input: { what: 'x', times: 2 }, approval: { approved: true } }])
  expect(orders).toEqual([
    { what: 'free', times: 2 },
    { what: 'x', times: 2 },
  ])
})

/** Reads whose results are larger than a request to the server may be, in bytes or in values. */
const largeReads = {
  picture: { content: 'Taken.', media: [{ type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo'.repeat(60_000) }] },
  text: 'ü'.repeat(400_000),
  rows: Array.from({ length: 2_100 }, (_, id) => ({ id, a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8 })),
}

test('after large results the page can approve: it is sent them without the data of media, and cut where they are long', async () => {
  const reads = Object.entries(largeReads).map(([name, result]) =>
    defineTool({ name, description: name, input: z.object({}), effect: 'read', execute: () => result }),
  )
  const looks = Object.keys(largeReads).map((name) => ({ tool: `own.${name}`, arguments: {} }))
  await using it = await startAiSdk([{ calls: [...looks, CALL] }, { text: 'Done.' }], undefined, { own: { tools: reads } })
  const page = it.open()
  await page.chat.sendMessage({ text: 'Do it' })
  const media = [{ type: 'image', mimeType: 'image/png', bytes: 495_000 }]
  const cut = expect.stringContaining('shortened; the whole is in the result')
  expect(page.calls.map(({ output }) => output)).toEqual([{ content: 'Taken.', media }, cut, cut, undefined])
  await page.chat.addToolApprovalResponse({ id: page.calls[3]?.approval?.id ?? '', approved: true })
  await expect.poll(() => page.finished).toEqual(['tool-calls', 'stop'])
  expect(page.calls.map(({ state }) => state)).toEqual(Array(4).fill('output-available'))
  expect(it.target.writes).toHaveLength(1)
  const [action] = (await it.server.admin.get('/api/actions?tool=own.text')).items
  expect(action.result).toBe(largeReads.text)
})

test('after any number of results in one message the page can approve, again and again', async () => {
  const list = defineTool({
    ...{ name: 'list', description: 'Lists.', input: z.object({}), effect: 'read' },
    execute: () => Array.from({ length: 4_500 }, () => '€'),
  })
  const reads = Array.from({ length: 12 }, () => ({ tool: 'own.list', arguments: {} }))
  const script = [{ calls: [...reads, CALL] }, { calls: [...reads, { tool: 'keyed', arguments: { what: 'y' } }] }, { text: 'Done.' }]
  await using it = await startAiSdk(script, undefined, { own: { tools: [list] } })
  const page = it.open()
  await page.chat.sendMessage({ text: 'Do it' })
  for (const round of [1, 2]) {
    await expect.poll(() => page.finished).toEqual(Array(round).fill('tool-calls'))
    const approval = page.calls.find(({ state }) => state === 'approval-requested')?.approval
    await page.chat.addToolApprovalResponse({ id: approval?.id ?? '', approved: true })
  }
  await expect.poll(() => page.finished).toEqual(['tool-calls', 'tool-calls', 'stop'])
  expect(page.calls.filter(({ output }) => Array.isArray(output))).toHaveLength(1)
  expect(page.calls.map(({ state }) => state)).toEqual(Array(26).fill('output-available'))
  expect(it.target.writes).toHaveLength(2)
})

test('the same decision twice, as after a broken connection, runs nothing twice', async () => {
  await using it = await startAiSdk([{ calls: [CALL] }, { text: 'Done.' }])
  const page = it.open()
  await page.chat.sendMessage({ text: 'Do it' })
  await page.chat.addToolApprovalResponse({ id: page.calls[0]?.approval?.id ?? '', approved: true })
  await expect.poll(() => page.finished).toEqual(['tool-calls', 'stop'])
  const headers = { authorization: `Bearer ${it.key}`, 'content-type': 'application/json' }
  for (const body of page.requests) {
    const again = await fetch(`${it.server.url}/api/ai-sdk/chat`, { method: 'POST', headers, body })
    expect((await again.text()).trimEnd().endsWith('data: [DONE]')).toBe(true)
  }
  expect(it.target.writes).toHaveLength(1)
  expect((await it.server.admin.get('/api/actions')).items).toHaveLength(1)
})

test('a person who may not decide is told so, and the card is open again', async () => {
  await using it = await startAiSdk([{ calls: [CALL] }, { text: 'Done.' }])
  const { key } = await it.server.makeKey({ name: 'Mel', kind: 'person', roles: ['member'] })
  const page = it.open({ key })
  await page.chat.sendMessage({ text: 'Do it' })
  await page.chat.addToolApprovalResponse({ id: page.calls[0]?.approval?.id ?? '', approved: true })
  await expect.poll(() => page.chat.status).toBe('error')
  expect(page.chat.error?.message).toContain('Mel may not decide')
  expect(page.calls).toMatchObject([{ state: 'approval-requested' }])
  expect(it.target.writes).toEqual([])
})

test('a message while an approval waits re-opens the approval below it, and is answered after the decision', async () => {
  await using it = await startAiSdk([{ calls: [CALL] }, { text: 'Done.' }, { text: 'It is sunny.' }])
  const page = it.open()
  await page.chat.sendMessage({ text: 'Do it' })
  await page.chat.sendMessage({ text: 'How is the weather?' })
  expect(page.finished).toEqual(['tool-calls', 'tool-calls'])
  expect(page.chat.messages).toHaveLength(4)
  expect(page.calls).toMatchObject([{ state: 'approval-requested' }])
  await page.chat.addToolApprovalResponse({ id: page.calls[0]?.approval?.id ?? '', approved: true })
  await expect.poll(() => page.finished).toEqual(['tool-calls', 'tool-calls', 'stop'])
  expect(page.calls).toMatchObject([{ state: 'output-available' }])
  expect(page.text).toContain('It is sunny.')
  expect(it.target.writes).toHaveLength(1)
})

test('declined on the page below a message that waited: the call is shown as declined by that person', async () => {
  await using it = await startAiSdk([{ calls: [CALL] }, { text: 'I see.' }, { text: 'It is sunny.' }])
  const page = it.open()
  await page.chat.sendMessage({ text: 'Do it' })
  await page.chat.sendMessage({ text: 'How is the weather?' })
  const [asked] = page.calls
  await page.chat.addToolApprovalResponse({ id: asked?.approval?.id ?? '', approved: false, reason: 'not today' })
  await expect.poll(() => page.finished).toEqual(['tool-calls', 'tool-calls', 'stop'])
  expect(page.calls).toMatchObject([
    { state: 'output-denied', approval: { id: asked?.approval?.id, approved: false, reason: 'not today' } },
  ])
  await validateUIMessages({ messages: page.chat.messages })
  expect(it.target.writes).toEqual([])
})

test('expired while it waited: the card is closed and nothing ran', async () => {
  await using it = await startAiSdk([{ calls: [CALL] }, { text: 'Too late.' }], {
    rules: [{ name: 'soon', match: {}, verdict: 'ask', expires: 'PT1H' }],
  })
  const page = it.open()
  await page.chat.sendMessage({ text: 'Do it' })
  await expireWaiting(it.server)
  await page.chat.addToolApprovalResponse({ id: page.calls[0]?.approval?.id ?? '', approved: true })
  await expect.poll(() => page.finished).toEqual(['tool-calls', 'stop'])
  expect(page.calls).toMatchObject([{ state: 'output-denied', approval: { approved: false } }])
  expect(it.target.writes).toEqual([])
})
