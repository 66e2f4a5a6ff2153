import { expect, test } from 'vitest'
import { createLog } from '../log.ts'
import { createDispatch, type Work } from './in-process.ts'

const sessions = (...ids: string[]) => ({ sessions: new Set(ids), actions: new Set<string>() })

/** Work that goes on only when it is told to, and remembers what was begun. */
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

const open = () => ({ dispatch: createDispatch(createLog('silent')), ...openWork() })

test('a session that is asked for three times while it is at work is taken up once more, never twice at a time', async () => {
  const { dispatch, begun, gates, work } = open()
  dispatch.start(work)
  for (let asked = 0; asked < 4; asked++) dispatch.take(sessions('a'))
  expect(begun).toEqual(['advance a'])
  gates[0]?.resolve()
  await gates[0]?.promise
  await Promise.resolve()
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

test('work that fails holds nothing else up, and its session can be taken up again', async () => {
  const { dispatch, begun, gates, work } = open()
  dispatch.start(work)
  dispatch.take(sessions('a', 'b'))
  gates[0]?.reject(new Error('broken'))
  gates[1]?.resolve()
  await dispatch.idle()
  dispatch.take(sessions('a'))
  expect(begun).toEqual(['advance a', 'advance b', 'advance a'])
  gates[2]?.resolve()
  await dispatch.idle()
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
  await new Promise((resolve) => setImmediate(resolve))
  expect(isIdle).toBe(false)
  gates[0]?.resolve()
  await idle
  expect(begun).toEqual(['advance a'])
})
