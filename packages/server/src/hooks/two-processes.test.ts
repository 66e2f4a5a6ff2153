import type { Principal } from '@countersign/core'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { ana } from '../../../../verification/testing/open-gate.ts'
import { openTestDatabase } from '../../../../verification/testing/test-database.ts'
import { openConfig } from '../config/index.ts'
import { openEngine } from '../engine.ts'
import { hostCalls } from '../store/index.ts'
import { answerHook, type HookDeps, type HookRequest } from './answer-hook.ts'
import { createHolders } from './holders.ts'
import { HOOK_SHAPES } from './shapes/index.ts'

const bot: Principal = { id: 'prn_bot', kind: 'agent', name: 'Gemini CLI', roles: ['agent'] }
const shape = HOOK_SHAPES.gemini

/** The hook of a call that has no id, at a process. */
function ask(deps: HookDeps, command: string) {
  const call = { session_id: 's1', hook_event_name: 'BeforeTool', cwd: '/repo', tool_name: 'run_shell_command', tool_input: { command } }
  return answerHook(deps, {
    request: { principal: bot, standing: async () => ({ principal: bot }) } as unknown as HookRequest['request'],
    caller: { principal: bot, signIn: 'key, hook' },
    shape,
    event: shape.read(call, undefined),
    limitMs: 60_000,
    parks: false,
    hungUp: new AbortController().signal,
    consoleUrl: 'http://localhost',
  })
}

test('one approval lets one of two identical calls without ids run, when each is asked about at another process', async () => {
  await using stack = new AsyncDisposableStack()
  const { url } = stack.use(await openTestDatabase())
  const log = pino({ level: 'silent' })
  const { tools } = await openConfig({ tools: { host: { 'coding-agent': {} } } }, { environment: {}, folder: '/' })
  const open = async () => {
    const policy = { default: 'ask' as const, rules: [] }
    const engine = await openEngine({ database: { kind: 'postgres', url }, agents: [], tools, policy, log })
    stack.defer(async () => {
      await engine.drain(0)
      await engine.close()
    })
    const { store, gate, hub, clock } = engine
    const stopping = new AbortController().signal
    return { engine, deps: { store, gate, hub, clock, stopping, tools, log, holders: createHolders() } satisfies HookDeps }
  }
  const [slow, other] = [await open(), await open()]
  for (const person of [ana, bot]) await slow.engine.savePrincipal(person)
  // The first hook reads its action again when the second one has its answer.
  const waits = Promise.withResolvers<void>()
  const goesOn = Promise.withResolvers<void>()
  const { hub } = slow.deps
  const late = Object.assign(Object.create(hub) as typeof hub, {
    async onAction(id: string, changed: () => void) {
      waits.resolve()
      await goesOn.promise
      return hub.onAction(id, changed)
    },
  })
  const first = ask({ ...slow.deps, hub: late }, './pay.sh 5')
  await Promise.race([waits.promise, first])
  const second = ask(other.deps, './pay.sh 5')
  const [{ id } = { id: '' }] = await other.engine.store.read(() => hostCalls.openCallsOf.all({ requested_by: bot.id }))
  await other.engine.gate.decide(id, { verdict: 'approve' }, { principal: ana })
  expect(await second).toEqual({ decision: 'allow' })
  goesOn.resolve()
  expect(await first).toMatchObject({ decision: 'deny', reason: expect.stringContaining('was allowed once') })
})
