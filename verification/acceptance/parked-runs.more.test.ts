// Runs that their framework stops at a call, in its own way: stored, and gone on with later. The tools are gated, so that a call runs once
// with the arguments that people approved, whatever the stored run says.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tool } from '@langchain/core/tools'
import { Command, interrupt, isInterrupted, MemorySaver } from '@langchain/langgraph'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { createAgent, humanInTheLoopMiddleware } from 'langchain'
import { expect, test } from 'vitest'
import { answerActionRequests, gate } from '../../packages/client/src/gate/langchain.ts'
import { MODELS, READ, type ScriptedCall, SET } from '../testing/gate-frameworks.ts'
import { openGateServer, openLedger } from '../testing/gate-server.ts'
import { PARKINGS, type Parking, type ParkingRun } from '../testing/parked-runs.ts'
import { startReceiver } from '../testing/receiver.ts'
import { runModule } from '../testing/run-command.ts'

const SHIP = { order: 'ORD-1', status: 'shipped' }
const CALL = { id: 'call_1', name: 'setStatus', args: SHIP } as const
const SECOND = { id: 'call_2', name: 'setStatus', args: { order: 'ORD-2', status: 'lost' } } as const

const GO = { messages: [{ role: 'user', content: 'go' }] }

const each = test.each(Object.entries(PARKINGS))

async function start(parking: Parking, run: ParkingRun, calls: readonly ScriptedCall[] = [CALL]): Promise<string> {
  const { saved } = await parking.start(run, calls)
  if (saved === undefined) throw new Error('the run was not stopped')
  return saved
}

async function openRun(options?: ParkingRun['options']) {
  const desk = await openGateServer()
  const ledger = openLedger()
  return {
    desk,
    ledger,
    run: { client: desk.client, work: ledger, ...(options && { options }) } satisfies ParkingRun,
    [Symbol.asyncDispose]: () => desk[Symbol.asyncDispose](),
  }
}

each('%s: a stored run goes on once people approved its call, which runs once, also when the run is resumed again', async (_, parking) => {
  await using place = await openRun()
  const { desk, ledger, run } = place
  const saved = await start(parking, run)
  expect(ledger.ran).toEqual([])
  const both = Promise.all([parking.resume(run, saved, 'wait'), parking.resume(run, saved, 'wait')])
  await desk.decide(await desk.nextWaiting(), 'approve')
  const told = { call_1: '{"done":"shipped"}' }
  expect(await both).toEqual([{ told }, { told }])
  expect(await parking.resume(run, saved, 'wait')).toEqual({ told })
  expect(ledger.ran).toEqual([SHIP])
  expect(await desk.all()).toMatchObject([{ state: 'succeeded', attempt: 1 }])
})

each('%s: a read of a stored run, which policy allows, runs by itself', async (_, parking) => {
  await using place = await openRun()
  const { ledger, run } = place
  const first = await parking.start(run, [{ id: 'call_1', name: 'readOrder', args: { order: 'ORD-1' } }])
  const ended = first.told ? first : await parking.resume(run, first.saved, 'wait')
  expect(ended).toEqual({ told: { call_1: '{"order":"ORD-1","status":"pending"}' } })
  expect(ledger.ran).toEqual([{ read: 'ORD-1' }])
})

each('%s: a stored run that its framework was told is approved still waits for people', async (_, parking) => {
  await using place = await openRun()
  const { desk, ledger, run } = place
  const forging = parking.resume(run, await start(parking, run), 'forge')
  await desk.decide(await desk.nextWaiting(), 'decline')
  await forging
  expect(ledger.ran).toEqual([])
  expect(await desk.all()).toMatchObject([{ state: 'declined', attempt: 0 }])
})

each('%s: a stored run that waits finds a server that restarted', async (_, parking) => {
  await using place = await openRun()
  const { desk, ledger, run } = place
  const resumed = parking.resume(run, await start(parking, run), 'wait')
  await desk.nextWaiting()
  await desk.server.restart()
  await desk.decide(await desk.nextWaiting(), 'approve')
  expect(await resumed).toEqual({ told: { call_1: '{"done":"shipped"}' } })
  expect(ledger.ran).toEqual([SHIP])
})

const PROCESS = fileURLToPath(new URL('../testing/parked-run-process.ts', import.meta.url))

each('%s: a run whose process ended while it waited goes on in the next one, once, and a third one runs nothing', async (name) => {
  await using desk = await openGateServer()
  const folder = mkdtempSync(join(tmpdir(), 'parked-'))
  const startProcess = async () => {
    const { code, stdout, stderr } = await runModule([PROCESS, name, join(folder, 'run')], { URL: desk.server.url, KEY: desk.key })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return stdout.trim().split('\n')
  }
  try {
    expect(await startProcess()).toEqual(['stored'])
    await desk.decide(await desk.nextWaiting(), 'approve')
    expect(await startProcess()).toEqual(['ran', 'heard {"done":"shipped"}'])
    expect(await startProcess()).toEqual(['heard {"done":"shipped"}'])
    expect(await desk.all()).toMatchObject([{ state: 'succeeded', attempt: 1 }])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

each('%s: a stored run goes on from the callback that says it was decided', async (_, parking) => {
  await using place = await openRun()
  const { desk, ledger, run } = place
  await using receiver = await startReceiver()
  await desk.server.admin.post('/api/webhooks', { url: receiver.url, events: [], callbacks: true })
  const called = { ...run, options: { callback: receiver.url } }
  const { saved = '' } = await parking.resume(called, await start(parking, called), 'look')
  await desk.decide(await desk.nextWaiting(), 'approve')
  await expect.poll(() => receiver.types()).toEqual(['action.decided approved'])
  expect(await parking.resume(called, saved, 'look')).toEqual({ told: { call_1: '{"done":"shipped"}' } })
  expect(ledger.ran).toEqual([SHIP])
})

each('%s: a stored run that is resumed too early stops again, and nothing runs', async (_, parking) => {
  await using place = await openRun()
  const { desk, ledger, run } = place
  const first = await parking.resume(run, await start(parking, run), 'look')
  const action = await desk.nextWaiting()
  const again = await parking.resume(run, first.saved ?? '', 'look')
  expect(ledger.ran).toEqual([])
  expect(await desk.all()).toHaveLength(1)
  await desk.decide(action, 'approve')
  expect(await parking.resume(run, again.saved ?? '', 'look')).toEqual({ told: { call_1: '{"done":"shipped"}' } })
  expect(ledger.ran).toEqual([SHIP])
})

each('%s: what a person changed is what a stored run carries out, and the model is told', async (_, parking) => {
  await using place = await openRun()
  const { desk, ledger, run } = place
  const resumed = parking.resume(run, await start(parking, run), 'wait')
  const changed = { order: 'ORD-1', status: 'cancelled' }
  await desk.decide(await desk.nextWaiting(), 'approve', { arguments: changed })
  expect((await resumed).told?.call_1).toMatch(/"done":"cancelled".*changed the arguments before approving/)
  expect(ledger.ran).toEqual([changed])
})

each('%s: a declined call of a stored run never runs, and the reason reaches the model', async (_, parking) => {
  await using place = await openRun()
  const { desk, ledger, run } = place
  const saved = await start(parking, run)
  const resumed = parking.resume(run, saved, 'wait')
  await desk.decide(await desk.nextWaiting(), 'decline', { reason: 'The customer has not paid.' })
  expect((await resumed).told?.call_1).toMatch(/A person declined this .* They said: The customer has not paid\./)
  expect((await parking.resume(run, saved, 'wait')).told?.call_1).toMatch(/A person declined this/)
  expect(ledger.ran).toEqual([])
})

each('%s: a call of a stored run that nobody decides about in time never runs, and the model is told', async (_, parking) => {
  await using place = await openRun({ expiresIn: 'PT1H' })
  const { desk, ledger, run } = place
  const resumed = parking.resume(run, await start(parking, run), 'wait')
  // In another order, a slow machine would end the call before its run is stored.
  await desk.endHold(await desk.nextWaiting())
  expect((await resumed).told?.call_1).toMatch(/Nobody decided about this in time/)
  expect(ledger.ran).toEqual([])
})

each(
  '%s: of two calls of a stored run the approved one runs although the other is declined, and each is told its own end',
  async (_, parking) => {
    await using place = await openRun()
    const { desk, ledger, run } = place
    const resumed = parking.resume(run, await start(parking, run, [CALL, SECOND]), 'wait')
    const waiting = async () => (await desk.all()).filter(({ state }) => state === 'proposed')
    await expect.poll(async () => (await waiting()).length).toBe(2)
    for (const action of await waiting()) await desk.decide(action, action.arguments.order === 'ORD-1' ? 'approve' : 'decline')
    expect((await resumed).told).toEqual({ call_1: '{"done":"shipped"}', call_2: expect.stringContaining('A person declined this') })
    expect(ledger.ran).toEqual([SHIP])
  },
)

each('%s: of two calls of a stored run one may be decided later, and each runs once', async (_, parking) => {
  await using place = await openRun()
  const { desk, ledger, run } = place
  const first = await parking.resume(run, await start(parking, run, [CALL, SECOND]), 'look')
  // A graph stops at the first call that waits. The other may still be on its way to the server.
  await expect.poll(() => desk.all()).toHaveLength(2)
  const [one, two] = (await desk.all()).sort((a, b) => String(a.arguments.order).localeCompare(String(b.arguments.order)))
  if (!one || !two) throw new Error('two calls were expected')
  await desk.decide(one, 'approve')
  const second = await parking.resume(run, first.saved ?? '', 'look')
  expect(second.told).toBeUndefined()
  await desk.decide(two, 'approve')
  expect(await parking.resume(run, second.saved ?? '', 'look')).toEqual({
    told: { call_1: '{"done":"shipped"}', call_2: '{"done":"lost"}' },
  })
  // A framework may run both at once: which of them begins first is open.
  expect(ledger.ran).toHaveLength(2)
  expect(ledger.ran).toEqual(expect.arrayContaining([SHIP, SECOND.args]))
})

test('LangGraph: a call that still runs when another one stops its graph runs once, and its output is kept', async () => {
  await using place = await openRun()
  const { desk, ledger, run } = place
  const begun = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<void>()
  const work: ParkingRun['work'] = {
    ...ledger,
    async readOrder(order) {
      begun.resolve()
      await finish.promise
      return ledger.readOrder(order)
    },
  }
  const saved = await start(PARKINGS.langgraph, { ...run, work }, [{ id: 'call_2', name: 'readOrder', args: { order: 'ORD-2' } }, CALL])
  // The graph may have stopped before that.
  await begun.promise
  expect(ledger.ran).toEqual([])
  finish.resolve()
  const resumed = PARKINGS.langgraph.resume(run, saved, 'wait')
  await desk.decide(await desk.nextWaiting(), 'approve')
  expect(await resumed).toEqual({ told: { call_1: '{"done":"shipped"}', call_2: '{"order":"ORD-2","status":"pending"}' } })
  expect(ledger.ran).toEqual([{ read: 'ORD-2' }, SHIP])
})

test('LangGraph: without a checkpointer, or without the id of a tool call, nothing runs', async () => {
  await using place = await openRun()
  const { desk, ledger } = place
  const setStatus = gate(desk.client, tool(ledger.setStatus, { name: 'setStatus', ...SET }), { interrupt })
  const agent = createReactAgent({ llm: MODELS.langgraph(CALL), tools: [setStatus] })
  const { messages } = await agent.invoke(GO)
  expect(JSON.stringify(messages)).toContain('No checkpointer set')
  await expect(setStatus.invoke(SHIP)).rejects.toThrow('setStatus was called without a tool call id')
  expect(await desk.all()).toHaveLength(1)
  expect(ledger.ran).toEqual([])
})

test('LangChain: when its own middleware rejects one of two calls the approved one never runs', async () => {
  const ledger = openLedger()
  const agent = createAgent({
    model: MODELS.langchain(CALL, SECOND),
    tools: [tool(ledger.setStatus, { name: 'setStatus', ...SET })],
    middleware: [humanInTheLoopMiddleware({ interruptOn: { setStatus: { allowedDecisions: ['approve', 'reject'] } } })],
    checkpointer: new MemorySaver(),
  })
  const thread = { configurable: { thread_id: 'conv-1' } }
  expect(isInterrupted(await agent.invoke(GO, thread))).toBe(true)
  await agent.invoke(new Command({ resume: { decisions: [{ type: 'approve' }, { type: 'reject' }] } }), thread)
  expect(ledger.ran).toEqual([])
})

test('answerActionRequests of LangChain answers for gated tools only, and proposes nothing where it cannot answer', async () => {
  await using place = await openRun()
  const { desk, ledger } = place
  const [setStatus, readOrder] = [
    tool(ledger.setStatus, { name: 'setStatus', ...SET }),
    tool(ledger.readOrder, { name: 'readOrder', ...READ }),
  ]
  const tools = [gate(desk.client, setStatus), readOrder]
  const read = { id: 'call_2', name: 'readOrder', args: { order: 'ORD-2' } } as const
  const stopAt = (interruptOn: Record<string, boolean>) => {
    const middleware = [humanInTheLoopMiddleware({ interruptOn })]
    const agent = createAgent({ model: MODELS.langchain(CALL, read), tools, middleware, checkpointer: new MemorySaver() })
    return agent.invoke(GO, { configurable: { thread_id: 'conv-1' } })
  }
  const both = await stopAt({ setStatus: true, readOrder: true })
  await expect(answerActionRequests(tools, both)).rejects.toThrow('readOrder is not behind the gate')
  await expect(answerActionRequests(tools, { messages: both.messages })).rejects.toThrow('that humanInTheLoopMiddleware stopped')
  expect(await desk.all()).toEqual([])
  const one = await stopAt({ setStatus: true })
  const answering = answerActionRequests(tools, one)
  await desk.decide(await desk.nextWaiting(), 'decline')
  expect(await answering).toEqual({ decisions: [{ type: 'approve' }] })
  expect(ledger.ran).toEqual([])
})
