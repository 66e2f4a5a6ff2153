import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEFAULT_POLICY, type Principal } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTools } from '../../../toolkit/src/open-tools.ts'
import { systemClock } from '../clock.ts'
import { type Engine, openEngine } from '../engine.ts'
import { createLog } from '../log.ts'
import { scriptedModel } from '../models/index.ts'
import { events, type RunRow, type SessionRow, sessions } from '../store/index.ts'
import { createHistories } from './history.ts'
import { failRun } from './outcome.ts'

const ana: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['approver'] }
const caller = { principal: ana }
const log = createLog('silent')
const ship = defineTool({ name: 'ship', description: 'Ships.', effect: 'write', input: { type: 'object' }, execute: () => 'shipped' })
const tools = openTools({ shop: { prefix: false, tools: [ship] } })
const agent = {
  name: 'desk',
  model: scriptedModel({ id: 'scripted/shop', reply: () => ({ text: '', calls: [{ tool: 'ship', arguments: {} }] }) }),
  instructions: '',
  tools: tools.all(),
  maxSteps: 20,
  actionsPerStep: 'many' as const,
  onDecline: 'continue' as const,
  suggestions: [],
}

let folder: string
let engine: Engine
let session: SessionRow
/** As a loop read it that has stood still ever since: the model call after it was made by another one. */
let before: RunRow

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-stale-'))
  engine = await openEngine({ database: { kind: 'sqlite', dataDir: folder }, agents: [agent], tools, policy: DEFAULT_POLICY, log })
  await engine.savePrincipal(ana)
  const { id } = await engine.agentLoop.createSession({}, caller)
  await engine.agentLoop.postMessage(id, 'ship it', caller)
  await engine.idle()
  const found = await engine.store.read(() => sessions.findSession.first({ id }))
  const run = await engine.store.read(() => sessions.newestRun.first({ session_id: id }))
  if (!found || run?.steps !== 1) throw new Error('the run waits behind its first step')
  session = found
  before = { ...run, steps: 0 }
})

afterEach(async () => {
  await engine.close()
  await rm(folder, { recursive: true })
})

test('a loop that stood still does not fail a run that others have gone on with', async () => {
  const parts = { store: engine.store, clock: systemClock, log }
  const stale = { session, run: before, messageId: 'msg_1', text: 'half a', code: 'internal', error: 'No answer' }
  await failRun(parts, stale)
  const after = await engine.store.read(() => sessions.newestRun.first({ session_id: session.id }))
  expect(after).toMatchObject({ state: 'open', steps: 1 })
  const said = (await engine.store.read(() => events.sessionRowsAfter.all({ session_id: session.id, after: 0, limit: 100 }))).flatMap(
    events.readEvents,
  )
  expect(said.map(({ event }) => event.type)).not.toContain('error')

  await failRun(parts, { ...stale, run: { ...before, steps: 1 } })
  expect(await engine.store.read(() => sessions.newestRun.first({ session_id: session.id })), 'one that did not is heard').toMatchObject({
    state: 'failed',
  })
})

test('no model is asked about a step that was made', async () => {
  const histories = createHistories()
  expect(await histories.read(engine.store, before, agent)).toBeUndefined()
  expect((await histories.read(engine.store, { ...before, steps: 1 }, agent))?.messages).toHaveLength(2)
})
