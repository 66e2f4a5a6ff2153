import { expect, onTestFinished, test } from 'vitest'
import { type ClaudeGateClient, gate } from '../../packages/client/src/gate/claude-agent-sdk.ts'
import { type Client, createClient } from '../../packages/client/src/index.ts'
import { decide, settled, waiting } from '../testing/decisions.ts'
import { shiftedClock } from '../testing/shifted-clock.ts'
import { startTestServer, type TestServerOptions } from '../testing/test-server.ts'

// With the shapes of the Claude Agent SDK; `npm run test:agents` drives the SDK itself.

const FOLDER = '/home/ana/shop'
const INPUT = { command: 'npm publish', description: 'Publishes' }

async function start(policy: object = { rules: [] }, more: Pick<TestServerOptions, 'clock'> = {}) {
  const server = await startTestServer({ config: { tools: { host: { 'coding-agent': {} } }, policy }, ...more })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const { key } = await server.makeKey({ name: 'ana sdk', kind: 'agent', agent: 'sdk', roles: ['agent'] })
  return { server, client: createClient({ baseUrl: server.url, key }) }
}

const options = (toolUseID: string, signal = new AbortController().signal) => ({ toolUseID, signal })
const about = (hook_event_name: string, more: object = {}) => ({ hook_event_name, session_id: 's1', cwd: FOLDER, ...more })

test('an approved call is allowed with the approved arguments, and the report of its hook ends the action', async () => {
  const desk = await start()
  const { canUseTool, hooks } = gate(desk.client)
  await hooks.PreToolUse[0]?.hooks[0]?.(about('PreToolUse', { tool_use_id: 't1', tool_name: 'Bash', tool_input: INPUT }))
  const asked = canUseTool('Bash', INPUT, options('t1'))
  const card = await waiting(desk.server)
  expect(card).toMatchObject({ toolCallId: 't1', context: { run: 'claude s1' }, arguments: { folder: FOLDER } })
  await decide(desk.server, card, { verdict: 'approve', arguments: { ...card.arguments, command: 'npm publish --dry-run' } })
  const updatedInput = { ...INPUT, command: 'npm publish --dry-run' }
  expect(await asked).toEqual({ behavior: 'allow', updatedInput })
  const ran = about('PostToolUse', { tool_use_id: 't1', tool_name: 'Bash', tool_input: updatedInput, tool_response: { stdout: 'ok' } })
  await hooks.PostToolUse[0]?.hooks[0]?.(ran)
  expect(await desk.server.admin.get(`/api/actions/${card.id}`)).toMatchObject({ state: 'succeeded', result: { report: { stdout: 'ok' } } })
})

test('an approval that is not in effect yet when a poll ends is not a denial: the next poll gets it', async () => {
  const clock = shiftedClock()
  const rule = { name: 'slowly', match: { effect: 'write' }, verdict: 'ask', requires: { grace: 'PT1H' } }
  const desk = await start({ rules: [rule] }, { clock })
  const ask = (limitSeconds: number) =>
    desk.client.askHook('claude', about('PreToolUse', { tool_use_id: 't1', tool_name: 'Bash', tool_input: INPUT }), {
      limitSeconds,
      park: 'defer',
    })
  const first = ask(1)
  const card = await waiting(desk.server)
  expect((await decide(desk.server, card, { verdict: 'approve' })).startsAt).not.toBeNull()
  expect(await first).toMatchObject({ hookSpecificOutput: { permissionDecision: 'defer' } })
  // The next poll waits for the rest of the hour.
  clock.pass(3_599_000)
  expect(await ask(50)).toMatchObject({ hookSpecificOutput: { permissionDecision: 'allow' } })
})

test('nothing is allowed when it is declined, late, aborted, refused, or when the server cannot be asked', async () => {
  const desk = await start()
  const { canUseTool } = gate(desk.client, { limitSeconds: 1.001 })
  const declined = gate(desk.client).canUseTool('Bash', INPUT, options('t1'))
  await decide(desk.server, await waiting(desk.server), { verdict: 'decline', reason: 'Not on a Friday' })
  expect(await declined).toEqual({ behavior: 'deny', message: expect.stringContaining('Not on a Friday') })

  const late = await canUseTool('Bash', INPUT, options('t2'))
  const card = await waiting(desk.server)
  expect(late).toEqual({ behavior: 'deny', message: expect.stringContaining(card.id) })
  await decide(desk.server, card, { verdict: 'decline' })

  const stop = new AbortController()
  const aborted = gate(desk.client).canUseTool('Bash', INPUT, options('t3', stop.signal))
  const dropped = await waiting(desk.server)
  stop.abort()
  expect(await aborted).toEqual({ behavior: 'deny', message: 'The call was cancelled.' })
  expect((await settled(desk.server, dropped.id)).state).toBe('cancelled')

  // A question to the person at the terminal is not for here; a wrong key, an address where nothing listens, and an answer of another server.
  expect(await canUseTool('AskUserQuestion', {}, options('t4'))).toMatchObject({ behavior: 'deny' })
  const other = { ...desk.client, askHook: async () => ({ ok: true, hookSpecificOutput: { permissionDecision: 'ask' } }) }
  const elsewhere = [createClient({ baseUrl: desk.server.url, key: 'cs_x' }), createClient({ baseUrl: 'http://127.0.0.1:9' }), other]
  for (const client of elsewhere)
    expect(await gate(client, { limitSeconds: 1 }).canUseTool('Bash', INPUT, options('t5'))).toMatchObject({ behavior: 'deny' })
  expect((await desk.server.admin.get('/api/actions?state=executing')).items).toEqual([])
})

/** As behind a proxy that keeps its own connection to the server: the server does not see that the caller hung up. */
function behindProxy({ actions, askHook }: Client): ClaudeGateClient {
  return {
    actions,
    askHook(host, body, { signal, ...ask } = {}) {
      const hungUp = new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }))
      return Promise.race([askHook(host, body, ask), hungUp])
    },
  }
}

test('an aborted call is withdrawn however much of the same key waits: also what is on a later page of the list', async () => {
  const desk = await start({ rules: [], limits: { waitingPerAgent: 1_000 } })
  const stop = new AbortController()
  const aborted = gate(behindProxy(desk.client)).canUseTool('Bash', INPUT, options('t1', stop.signal))
  const mine = await waiting(desk.server)
  // Newer than the call, so that they come before it; a page holds 200 at most.
  const others = Array.from({ length: 210 }, (_, n) =>
    desk.client.actions.propose({
      tool: 'host.shell',
      arguments: { host: 'claude', hostTool: 'Bash', folder: FOLDER, command: `npm publish ${n}`, options: {} },
    }),
  )
  await Promise.all(others)
  stop.abort()
  expect(await aborted).toEqual({ behavior: 'deny', message: 'The call was cancelled.' })
  expect(await desk.server.admin.get(`/api/actions/${mine.id}`)).toMatchObject({ state: 'cancelled' })
  const { items } = await desk.client.actions.list({ state: 'cancelled' })
  expect(items, 'nothing else is withdrawn').toHaveLength(1)
})
