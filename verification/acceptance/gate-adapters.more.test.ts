import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Action } from '@countersign/core'
import { tool as langchainTool } from '@langchain/core/tools'
import { tool as agentsTool } from '@openai/agents-core'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { gate as gateAiSdk } from '../../packages/client/src/gate/ai-sdk.ts'
import { gate as gateLangchain } from '../../packages/client/src/gate/langchain.ts'
import { gate as gateMastra } from '../../packages/client/src/gate/mastra.ts'
import { gate as gateAgents } from '../../packages/client/src/gate/openai-agents.ts'
import { createClient } from '../../packages/client/src/index.ts'
import { COMPILE_CACHE } from '../testing/compile-cache.ts'
import { FRAMEWORKS, importMastra, type RunAgent, type RunOptions, type ScriptedCall, SET } from '../testing/gate-frameworks.ts'
import { type GateServer, openGateServer, openLedger } from '../testing/gate-server.ts'

const SHIP = { order: 'ORD-1', status: 'shipped' }
const CALL = { id: 'call_1', name: 'setStatus', args: SHIP } as const

type Name = keyof typeof FRAMEWORKS
/** Runs an agent that makes one call; resolves with what its model was told. */
type RunOne = (
  desk: GateServer,
  ledger: ReturnType<typeof openLedger>,
  call: ScriptedCall,
  options?: RunOptions,
) => Promise<string | undefined>

const runOne =
  (run: RunAgent): RunOne =>
  async ({ client }, ledger, call, options) =>
    (await run(client, ledger, [call], options))[call.id]

const NAMES = Object.keys(FRAMEWORKS) as Name[]

/** Every framework does the same. */
const each = test.each(NAMES.map((name): [Name, RunOne] => [name, runOne(FRAMEWORKS[name])]))

each('%s: a read that policy allows runs by itself', async (_, run) => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  expect(await run(desk, ledger, { id: 'call_1', name: 'readOrder', args: { order: 'ORD-1' } })).toBe(
    '{"order":"ORD-1","status":"pending"}',
  )
  expect(ledger.ran).toEqual([{ read: 'ORD-1' }])
})

each('%s: an approved write runs once, also when the same call comes again, and the model gets its output', async (_, run) => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  const both = Promise.all([run(desk, ledger, CALL), run(desk, ledger, CALL)])
  await desk.decide(await desk.nextWaiting(), 'approve')
  expect(await both).toEqual(['{"done":"shipped"}', '{"done":"shipped"}'])
  expect(await run(desk, ledger, CALL)).toBe('{"done":"shipped"}')
  expect(ledger.ran).toEqual([SHIP])
})

each('%s: what a person changed is what runs, and the model is told', async (_, run) => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  const running = run(desk, ledger, CALL)
  const changed = { order: 'ORD-1', status: 'cancelled' }
  await desk.decide(await desk.nextWaiting(), 'approve', { arguments: changed })
  expect(await running).toMatch(/"done":"cancelled".*changed the arguments before approving/)
  expect(ledger.ran).toEqual([changed])
})

test.each(NAMES.filter((name) => name !== 'functions'))(
  '%s: where only a shown value changed before the approval, the model gets the output',
  async (name) => {
    let status = 'pending'
    await using desk = await openGateServer({ status: () => status })
    const ledger = openLedger()
    const running = runOne(FRAMEWORKS[name])(desk, ledger, CALL)
    const first = await desk.nextWaiting()
    status = 'paid'
    await desk.decide(await desk.readAgain(first), 'approve')
    expect(await running).toBe('{"done":"shipped"}')
    expect(ledger.ran).toEqual([SHIP])
  },
)

each('%s: a declined call never runs, and the reason reaches the model', async (_, run) => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  const running = run(desk, ledger, CALL)
  await desk.decide(await desk.nextWaiting(), 'decline', { reason: 'The customer has not paid.' })
  expect(await running).toMatch(/^A person declined this .* They said: The customer has not paid\.$/)
  expect(ledger.ran).toEqual([])
})

each('%s: what nobody decides about in time never runs, and the model is told', async (_, run) => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  expect(await run(desk, ledger, CALL, { expiresIn: 'PT1S' })).toMatch(/^Nobody decided about this in time/)
  expect(ledger.ran).toEqual([])
})

each('%s: of two calls in one step the approved one runs although the other is declined, and each is told its own end', async (name) => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  const refuse = { id: 'call_2', name: 'setStatus', args: { order: 'ORD-2', status: 'lost' } } as const
  const running = FRAMEWORKS[name](desk.client, ledger, [CALL, refuse])
  const waiting = async () => (await desk.all()).filter(({ state }) => state === 'proposed')
  await expect.poll(async () => (await waiting()).length).toBe(2)
  for (const action of await waiting()) await desk.decide(action, action.arguments.order === 'ORD-1' ? 'approve' : 'decline')
  expect(await running).toEqual({ call_1: '{"done":"shipped"}', call_2: expect.stringContaining('A person declined this') })
  expect(ledger.ran).toEqual([SHIP])
})

each('%s: a cancelled run withdraws its call, which never runs', async (_, run) => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  const stop = new AbortController()
  const running = run(desk, ledger, CALL, { signal: stop.signal })
  const { id } = await desk.nextWaiting()
  stop.abort(new Error('enough'))
  await expect(running).rejects.toThrow()
  await expect.poll(async () => (await desk.server.admin.get(`/api/actions/${id}`)).outcome?.status).toBe('withdrawn')
  expect(ledger.ran).toEqual([])
})

each('%s: a server that restarts while people think is found again', async (_, run) => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  const running = run(desk, ledger, CALL)
  await desk.nextWaiting()
  await desk.server.restart()
  await desk.decide(await desk.nextWaiting(), 'approve')
  expect(await running).toBe('{"done":"shipped"}')
  expect(ledger.ran).toEqual([SHIP])
})

const PROCESS = fileURLToPath(new URL('../testing/gate-agent-process.ts', import.meta.url))

/** Starts the agent in a process of its own. */
function startAgent(framework: string, { server, key }: GateServer, environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', PROCESS, framework], {
    env: { ...COMPILE_CACHE, ...environment, URL: server.url, KEY: key },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const words = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    /** The next thing it says; undefined once it has ended. */
    nextWord: async (): Promise<string | undefined> => (await words.next()).value,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

each('%s: an agent that is killed while it waits goes on when it starts again, and runs once', async (framework) => {
  await using desk = await openGateServer()
  {
    await using _first = startAgent(framework, desk)
    await desk.nextWaiting()
  }
  const action = await desk.nextWaiting()
  await desk.decide(action, 'approve')
  await using second = startAgent(framework, desk)
  expect(await second.nextWord()).toBe('ran')
  expect(await second.nextWord()).toBe(`heard ${JSON.stringify('{"done":"shipped"}')}`)
  expect(await desk.all()).toMatchObject([{ id: action.id, state: 'succeeded', attempt: 1 }])
})

each('%s: an agent that is killed while its tool runs never runs it again, and its model is told that nobody knows', async (framework) => {
  await using desk = await openGateServer()
  let action: Action
  {
    await using first = startAgent(framework, desk, { HANGS: '1' })
    action = await desk.nextWaiting()
    await desk.decide(action, 'approve')
    expect(await first.nextWord()).toBe('ran')
  }
  await desk.endHold(action)
  await using second = startAgent(framework, desk)
  expect(await second.nextWord()).toMatch(/^heard "It is not known whether this was carried out/)
  expect(await desk.all()).toMatchObject([{ state: 'outcome_unknown', attempt: 1 }])
})

/** A schema that makes something else of its own output. The server's declaration of the tool says nothing of that. */
const STRESSED = { schema: SET.schema.extend({ status: z.string().overwrite((status) => `${status}!`) }) }
const stressed = (status: string) => ({ order: 'ORD-1', status })

/** Of the frameworks that give a tool what its schema made, so that people see that. */
const afterSchema = test.each(['ai-sdk', 'openai-agents'] as const)

afterSchema('%s: a schema that transforms is applied once: what people approved is what runs', async (name) => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  const running = runOne(FRAMEWORKS[name])(desk, ledger, CALL, { set: STRESSED })
  const action = await desk.nextWaiting()
  expect(action.arguments).toEqual(stressed('shipped!'))
  await desk.decide(action, 'approve')
  expect(await running).toBe('{"done":"shipped!"}')
  expect(ledger.ran).toEqual([stressed('shipped!')])
})

afterSchema('%s: what a person changed does not run where the schema would make something else of it', async (name) => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  const running = runOne(FRAMEWORKS[name])(desk, ledger, CALL, { set: STRESSED })
  await desk.decide(await desk.nextWaiting(), 'approve', { arguments: stressed('lost') })
  expect(await running).toContain("The tool's own schema makes other values of the approved arguments")
  expect(ledger.ran).toEqual([])
})

test('mastra: in a run, which applies a schema twice, a call does not run where the second time changes what people approved', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  const running = runOne(FRAMEWORKS.mastra)(desk, ledger, CALL, { set: STRESSED })
  const action = await desk.nextWaiting()
  expect(action.arguments).toEqual(stressed('shipped!'))
  await desk.decide(action, 'approve')
  expect(await running).toContain("The tool's own schema makes other values of the approved arguments")
  expect(ledger.ran).toEqual([])
})

test('mastra: a tool that is called outside of a run applies its schema once to what people approved', async () => {
  await using desk = await openGateServer()
  const { createTool } = await importMastra()
  const ledger = openLedger()
  const given = createTool({ id: 'setStatus', ...SET, inputSchema: STRESSED.schema, execute: ledger.setStatus })
  const tool = gateMastra(desk.client, given) as { execute?(input: typeof SHIP): Promise<unknown> }
  const running = tool.execute?.(SHIP)
  const action = await desk.nextWaiting()
  expect(action.arguments).toEqual(SHIP)
  await desk.decide(action, 'approve')
  expect(await running).toEqual({ done: 'shipped!' })
  expect(ledger.ran).toEqual([stressed('shipped!')])
})

test('langchain: a schema that transforms is applied once, with a tool call of the model and without', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  const tool = gateLangchain(desk.client, langchainTool(ledger.setStatus, { name: 'setStatus', ...SET, ...STRESSED }))

  const called = tool.invoke({ type: 'tool_call', id: 'call_1', name: 'setStatus', args: SHIP })
  const said = await desk.nextWaiting()
  expect(said.arguments).toEqual(SHIP)
  await desk.decide(said, 'approve')
  await called

  const running = tool.invoke(SHIP)
  const made = await desk.nextWaiting()
  expect(made.arguments).toEqual(stressed('shipped!'))
  await desk.decide(made, 'approve')
  await running
  expect(ledger.ran).toEqual([stressed('shipped!'), stressed('shipped!')])
})

test('langchain: a tool keeps its artifact where people changed the arguments, and without a run there is none', async () => {
  await using desk = await openGateServer()
  const work = async (args: typeof SHIP) => [`It is ${args.status}.`, { set: args }]
  const setStatus = gateLangchain(desk.client, langchainTool(work, { name: 'setStatus', ...SET, responseFormat: 'content_and_artifact' }))
  const run = (id: string) => setStatus.invoke({ type: 'tool_call', id, name: 'setStatus', args: SHIP })

  const running = run('call_1')
  await desk.decide(await desk.nextWaiting(), 'approve')
  expect(await running).toMatchObject({ content: 'It is shipped.', artifact: { set: SHIP } })

  const changing = run('call_2')
  const changed = { order: 'ORD-1', status: 'cancelled' }
  await desk.decide(await desk.nextWaiting(), 'approve', { arguments: changed })
  expect(await changing).toMatchObject({ content: expect.stringContaining('changed the arguments'), artifact: { set: changed } })

  const refused = run('call_3')
  await desk.decide(await desk.nextWaiting(), 'decline')
  expect((await refused).artifact).toBeUndefined()
})

test('what could not be held back is refused when it is wrapped', async () => {
  const client = createClient({ baseUrl: 'http://127.0.0.1:9', key: 'cs_1' })
  const byProvider = { type: 'provider', id: 'openai.web_search', args: {} }
  expect(() => gateAiSdk(client, { search: byProvider })).toThrow(
    'search has no execute, so it cannot be put behind the gate: leave it out',
  )
  const finished = agentsTool({ name: 'look', description: 'Looks.', parameters: z.object({}), execute: () => 'x' })
  expect(() => gateAgents(client, finished as never)).toThrow('gate() takes the function tool of the OpenAI Agents SDK')
  expect(() => gateLangchain(client, { name: 'look' })).toThrow('gate() takes a tool of LangChain')
})
