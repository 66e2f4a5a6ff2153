import type { Action, AuditEntryView } from '@countersign/core'
import { expect, onTestFinished, test } from 'vitest'
import { decide, waiting } from '../testing/decisions.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

// Coding agents that run a call although nobody allowed it here: their hook was killed, or somebody allowed it at the keyboard.

const CALL = { tool_name: 'run_shell_command', tool_input: { command: 'npm run deploy' } }

async function startDesk() {
  const server = await startTestServer({ config: { tools: { host: { 'coding-agent': {} } }, policy: { rules: [] } } })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const { key } = await server.makeKey({ name: 'coder', kind: 'agent', agent: 'coder', roles: ['agent'] })
  const post = (host: string, body: object, signal?: AbortSignal) =>
    fetch(`${server.url}/hooks/${host}?limit=60`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ session_id: 's1', cwd: '/home/ana/shop', ...body }),
      ...(signal && { signal }),
    })
  return {
    server,
    ask: (host: string, body: object, signal?: AbortSignal) =>
      post(host, { hook_event_name: host === 'gemini' ? 'BeforeTool' : 'PreToolUse', ...body }, signal),
    async report(host: string, body: object) {
      const event = host === 'gemini' ? { hook_event_name: 'AfterTool' } : { hook_event_name: 'PostToolUse' }
      expect((await post(host, { ...event, tool_response: { llmContent: 'deployed' }, ...body })).status).toBe(200)
    },
  }
}

const rowsOf = async ({ admin }: TestServer, { id }: Action): Promise<AuditEntryView[]> =>
  (await admin.get(`/api/audit?action=${id}&kind=ran_elsewhere`)).items

test('a call whose hook was killed and that ran all the same: nothing says that it was not carried out, and the record has the report', async () => {
  const desk = await startDesk()
  const killed = new AbortController()
  const asked = desk.ask('gemini', CALL, killed.signal)
  const { id } = await waiting(desk.server)
  killed.abort()
  await expect(asked).rejects.toThrow()
  const left: Action = await desk.server.admin.get(`/api/actions/${id}?wait=60&until=settled`)
  expect(left).toMatchObject({ state: 'cancelled', outcome: { status: 'withdrawn' } })
  // Gemini CLI runs a call whose hook is killed: that it did not run is not known here.
  expect(left.outcome?.text).not.toContain('Nothing was carried out')
  await desk.report('gemini', CALL)
  const ran: Action = await desk.server.admin.get(`/api/actions/${id}`)
  expect(ran).toMatchObject({ state: 'cancelled', attempt: 0, error: { kind: 'ran_elsewhere' }, outcome: { status: 'withdrawn' } })
  expect(ran.outcome?.text).toContain('Gemini CLI says that it ran this')
  const [row, ...others] = await rowsOf(desk.server, ran)
  expect(others).toEqual([])
  expect(row).toMatchObject({ actor: { name: 'coder' }, data: { ranBy: 'Gemini CLI', report: { llmContent: 'deployed' } } })
  // The same report again changes nothing.
  await desk.report('gemini', CALL)
  expect(await rowsOf(desk.server, ran)).toHaveLength(1)
})

test.each(['declined', 'answered at the keyboard'])(
  'a call that ran although it was %s here keeps how it ended, beside the report',
  async (how) => {
    const desk = await startDesk()
    const call = { tool_name: 'Bash', tool_input: { command: 'npm run deploy' }, tool_use_id: 'toolu_1' }
    const asked = desk.ask('claude', call)
    const card = await waiting(desk.server)
    if (how === 'declined') await decide(desk.server, card, { verdict: 'decline', reason: 'Not today' })
    await desk.report('claude', call)
    expect(JSON.stringify(await (await asked).json())).toContain('"permissionDecision":"deny"')
    const ran: Action = await desk.server.admin.get(`/api/actions/${card.id}`)
    expect(ran.error?.kind).toBe('ran_elsewhere')
    expect(ran.outcome?.status).toBe(how === 'declined' ? 'declined' : 'withdrawn')
    expect(ran.outcome?.text).toContain('Claude Code says that it ran this')
    expect(ran.outcome?.text).not.toContain('Nothing was carried out')
    expect(await rowsOf(desk.server, ran)).toMatchObject([{ data: { ranBy: 'Claude Code' } }])
  },
)

test('a report of a failure after a denial does not show that anything ran: the action stays declined, and says nothing else', async () => {
  const desk = await startDesk()
  const call = { tool_name: 'Bash', tool_input: { command: 'npm run deploy' }, tool_use_id: 'toolu_2' }
  const asked = desk.ask('claude', call)
  const card = await waiting(desk.server)
  await decide(desk.server, card, { verdict: 'decline' })
  await asked
  await desk.report('claude', { ...call, hook_event_name: 'PostToolUseFailure', error: 'denied by a hook' })
  const action: Action = await desk.server.admin.get(`/api/actions/${card.id}`)
  expect(action).toMatchObject({ state: 'declined', error: null })
  expect(action.outcome?.text).toContain('Nothing was carried out')
  expect(await rowsOf(desk.server, action)).toEqual([])
})

test('a report without an id that comes twice is about the call that was allowed, not about an earlier one that was declined', async () => {
  const desk = await startDesk()
  const first = desk.ask('gemini', CALL)
  const declined = await waiting(desk.server)
  await decide(desk.server, declined, { verdict: 'decline' })
  await first
  const second = desk.ask('gemini', CALL)
  const allowed = await waiting(desk.server)
  await decide(desk.server, allowed, { verdict: 'approve' })
  expect(await (await second).json()).toMatchObject({ decision: 'allow' })
  await desk.report('gemini', CALL)
  await desk.report('gemini', CALL)
  expect(await desk.server.admin.get(`/api/actions/${allowed.id}`)).toMatchObject({ state: 'succeeded' })
  expect(await desk.server.admin.get(`/api/actions/${declined.id}`)).toMatchObject({ state: 'declined', error: null })
})
