import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { manualClock } from '../../../../../verification/testing/manual-clock.ts'
import { createLog } from '../../log.ts'
import { MODEL_CALLS, type Work } from '../dispatch.ts'
import { createDispatch } from './in-process.ts'

const sessions = (...ids: string[]) => ({ sessions: new Set(ids), actions: new Set<string>() })

/** Work that continues only when the test releases it, and records what was begun. */
function openWork() {
  const begun: string[] = []
  const gates: PromiseWithResolvers<void>[] = []
  const begin = (what: string) => (id: string) => {
    begun.push(`${what} ${id}`)
    const gate = Promise.withResolvers<void>()
    gates.push(gate)
    return gate.promise
  }
  const work: Work = { advance: begin('advance'), execute: begin('execute') }
  return { begun, gates, work }
}

function open(modelCalls = MODEL_CALLS) {
  const clock = manualClock()
  return { clock, dispatch: createDispatch(createLog('silent'), clock, modelCalls), ...openWork() }
}

test('a session that is asked for three times while it is at work is taken up once more, never twice at a time', async () => {
  const { dispatch, begun, gates, work } = open()
  dispatch.start(work)
  for (let asked = 0; asked < 4; asked++) dispatch.take(sessions('a'))
  expect(begun).toEqual(['advance a'])
  gates[0]?.resolve()
  await turn()
  expect(begun).toEqual(['advance a', 'advance a'])
  gates[1]?.resolve()
  await dispatch.idle()
  expect(begun).toHaveLength(2)
})

test('what is asked for before the start is kept and begun then', async () => {
  const { dispatch, begun, gates, work } = open()
  dispatch.take({ sessions: new Set(['a', 'b']), actions: new Set(['x']) })
  expect(begun).toEqual([])
  dispatch.start(work)
  expect(begun.toSorted()).toEqual(['advance a', 'advance b', 'execute x'])
  for (const gate of gates) gate.resolve()
  await dispatch.idle()
})

test('work that fails holds nothing else up; its session is looked at again a little later, and then later', async () => {
  const { clock, dispatch, begun, gates, work } = open()
  dispatch.start(work)
  dispatch.take(sessions('a', 'b'))
  gates[0]?.reject(new Error('the disk is full'))
  gates[1]?.resolve()
  await turn()
  expect(clock.waits).toEqual([100])
  clock.pass(100)
  await turn()
  expect(begun).toEqual(['advance a', 'advance b', 'advance a'])
  gates[2]?.reject(new Error('it still is'))
  await turn()
  expect(clock.waits).toEqual([250])
  clock.pass(250)
  await turn()
  gates[3]?.resolve()
  await dispatch.idle()
  expect(begun).toHaveLength(4)
})

test('stopping waits for no session that is to be looked at again', async () => {
  const { clock, dispatch, begun, gates, work } = open()
  dispatch.start(work)
  dispatch.take(sessions('a'))
  gates[0]?.reject(new Error('the disk is full'))
  await turn()
  dispatch.stop()
  await dispatch.idle()
  expect(clock.waits).toEqual([])
  expect(begun).toEqual(['advance a'])
})

test('after stop nothing more is begun, and idle waits for what is under way', async () => {
  const { dispatch, begun, gates, work } = open()
  dispatch.start(work)
  dispatch.take(sessions('a'))
  dispatch.take(sessions('a'))
  dispatch.stop()
  dispatch.take({ sessions: new Set(['b']), actions: new Set(['x']) })
  let isIdle = false
  const idle = dispatch.idle().then(() => {
    isIdle = true
  })
  await turn()
  expect(isIdle).toBe(false)
  gates[0]?.resolve()
  await idle
  expect(begun).toEqual(['advance a'])
})

test('no more sessions are advanced at once than there is room for; those that wait for a model keep no action from being carried out', async () => {
  const { dispatch, begun, gates, work } = open(2)
  dispatch.start(work)
  dispatch.take(sessions('a', 'b', 'c'))
  dispatch.take({ sessions: new Set(), actions: new Set(['x', 'y']) })
  expect(begun).toEqual(['advance a', 'advance b', 'execute x', 'execute y'])
  gates[0]?.resolve()
  await turn()
  expect(begun.slice(4)).toEqual(['advance c'])
  for (const gate of gates) gate.resolve()
  await dispatch.idle()
})

test('a session that waits for its turn when the process stops is not advanced', async () => {
  const { dispatch, begun, gates, work } = open(1)
  dispatch.start(work)
  dispatch.take(sessions('a', 'b'))
  dispatch.stop()
  for (const gate of gates) gate.resolve()
  await dispatch.drained()
  expect(begun).toEqual(['advance a'])
})
