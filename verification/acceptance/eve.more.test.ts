import { beforeAll, expect, test } from 'vitest'
import { buildEve, type EveCall, startEve } from '../testing/eve-agent.ts'
import { openGateServer, openLedger } from '../testing/gate-server.ts'

const SHIP = { order: 'ORD-1', status: 'shipped' }
const CALL: EveCall = { name: 'setStatus', input: SHIP }

beforeAll(buildEve, 600_000)

test('eve: a read that policy allows runs by itself', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  await using eve = await startEve(desk, ledger)
  const told = await eve.toldIn(await eve.begin({ name: 'readOrder', input: { order: 'ORD-1' } }))
  expect(told).toMatchObject([{ output: '{"order":"ORD-1","status":"pending"}' }])
  expect(ledger.ran).toEqual([{ read: 'ORD-1' }])
})

test('eve: an approved write runs once, also when the same call comes again, and the model gets its output', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  await using eve = await startEve(desk, ledger)
  const again = { ...CALL, id: 'call_1' }
  const sessions = [await eve.begin(again), await eve.begin(again)]
  const action = await desk.nextWaiting()
  await desk.decide(action, 'approve')
  await desk.decide(action, 'approve')
  for (const session of sessions) expect(await eve.toldIn(session)).toMatchObject([{ output: '{"done":"shipped"}' }])
  expect(await eve.toldIn(await eve.begin(again))).toMatchObject([{ output: '{"done":"shipped"}' }])
  expect(ledger.ran).toEqual([SHIP])
  expect(await desk.all()).toMatchObject([{ id: action.id, state: 'succeeded', attempt: 1 }])
})

test('eve: what a person changed is what runs, and the model is told', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  await using eve = await startEve(desk, ledger)
  const session = await eve.begin(CALL)
  const changed = { order: 'ORD-1', status: 'cancelled' }
  await desk.decide(await desk.nextWaiting(), 'approve', { arguments: changed })
  expect(await eve.toldIn(session)).toMatchObject([
    { output: expect.stringMatching(/"done":"cancelled".*changed the arguments before approving/) },
  ])
  expect(ledger.ran).toEqual([changed])
})

test('eve: a declined call never runs, and the reason reaches the model', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  await using eve = await startEve(desk, ledger)
  const session = await eve.begin(CALL)
  await desk.decide(await desk.nextWaiting(), 'decline', { reason: 'The customer has not paid.' })
  expect(await eve.toldIn(session)).toMatchObject([
    { output: expect.stringMatching(/^A person declined this .* They said: The customer has not paid\.$/) },
  ])
  expect(ledger.ran).toEqual([])
})

test('eve: what nobody decides about in time never runs, and the model is told', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  await using eve = await startEve(desk, ledger, { EXPIRES_IN: 'PT1S' })
  expect(await eve.toldIn(await eve.begin(CALL))).toMatchObject([{ output: expect.stringMatching(/^Nobody decided about this in time/) }])
  expect(ledger.ran).toEqual([])
})

test('eve: a server that restarts while people think is found again', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  await using eve = await startEve(desk, ledger)
  const session = await eve.begin(CALL)
  await desk.nextWaiting()
  await desk.server.restart()
  await desk.decide(await desk.nextWaiting(), 'approve')
  expect(await eve.toldIn(session)).toMatchObject([{ output: '{"done":"shipped"}' }])
  expect(ledger.ran).toEqual([SHIP])
})

test('eve: an agent that is killed while it waits goes on when it starts again, and runs once', async () => {
  await using desk = await openGateServer()
  const ledger = openLedger()
  await using eve = await startEve(desk, ledger)
  const session = await eve.begin(CALL)
  const action = await desk.nextWaiting()
  await eve.crashAndRestart()
  await desk.decide(action, 'approve')
  expect(await eve.toldIn(session)).toMatchObject([{ output: '{"done":"shipped"}' }])
  expect(ledger.ran).toEqual([SHIP])
  expect(await desk.all()).toMatchObject([{ id: action.id, state: 'succeeded', attempt: 1 }])
})

test("eve: an approved call that is killed while its tool runs is run again with eve's own approval; behind the gate it never is", async () => {
  await using desk = await openGateServer()
  /** What comes after the effect is what the crash takes away: the first answer of the order system never comes. */
  const openCut = () => {
    const ledger = openLedger()
    let isFirst = true
    const setStatus = async (input: typeof SHIP) => {
      const done = await ledger.setStatus(input)
      if (isFirst) await new Promise<never>(() => (isFirst = false))
      return done
    }
    return { ...ledger, setStatus }
  }
  const before = openCut()
  {
    await using eve = await startEve(desk, before)
    const session = await eve.begin({ ...CALL, name: 'setStatusByEve' })
    await eve.approve(session)
    await expect.poll(() => before.ran.length).toBe(1)
    await eve.crashAndRestart()
    expect(await eve.toldIn(session)).toMatchObject([{ output: { done: 'shipped' } }])
    expect(before.ran).toEqual([SHIP, SHIP])
  }
  const after = openCut()
  await using eve = await startEve(desk, after)
  const session = await eve.begin(CALL)
  const action = await desk.nextWaiting()
  await desk.decide(action, 'approve')
  await expect.poll(() => after.ran.length).toBe(1)
  await eve.crashAndRestart()
  await desk.endHold(action)
  expect(await eve.toldIn(session)).toMatchObject([{ output: expect.stringContaining('It is not known whether this was carried out') }])
  expect(after.ran).toEqual([SHIP])
})
