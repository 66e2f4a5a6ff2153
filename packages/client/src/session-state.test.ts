import type { SessionEvent } from '@countersign/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { foldActions, foldSession, sessionState } from './session-state.ts'
import { emptySession, sampleAction, sampleLog, sampleMessage, snapshotAt } from './testing/log-server.ts'

const empty = () => sessionState(emptySession(), [])
const log = sampleLog()
const whole = log.reduce(foldSession, empty())

test('a folded log is the state: messages in order, actions by id, nothing left streaming', () => {
  expect(whole.messages.map((message) => message.content)).toEqual([
    'Process two orders',
    'I will set both. ✓',
    'One is done, one was declined.',
  ])
  expect(Object.values(whole.actions).map(({ id, state, attempt }) => [id, state, attempt])).toEqual([
    ['act_1', 'succeeded', 1],
    ['act_2', 'declined', 0],
  ])
  expect(whole).toMatchObject({ streaming: [], startedCalls: [], pendingApprovals: [], toFetch: [], runError: null, lastSeq: log.length })
  expect(whole.session?.status).toBe('completed')
})

test('text grows as it streams and the whole message replaces it', () => {
  const midway = log.slice(0, 7).reduce(foldSession, empty())
  expect(midway.streaming).toEqual([{ messageId: 'msg_2', content: 'I will set both. ✓', reasoning: 'Two calls.' }])
  expect(midway.startedCalls.map((call) => call.id)).toEqual(['call_1', 'call_2'])
  expect(log.slice(0, 8).reduce(foldSession, empty()).streaming).toEqual([])
  const late = foldSession(whole, { type: 'delta', seq: 99, data: { messageId: 'msg_3', content: 'again' } })
  expect(late.streaming).toEqual([])
})

test('what waits follows the actions, before the status says so', () => {
  expect(log.slice(0, 10).reduce(foldSession, empty()).pendingApprovals).toEqual(['act_1', 'act_2'])
  expect(log.slice(0, 12).reduce(foldSession, empty()).pendingApprovals).toEqual(['act_2'])
})

test('any order of cuts, repeats and resets gives the same state', () => {
  const step = fc.record({ upTo: fc.nat(log.length), from: fc.nat(log.length), reset: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
      let state = empty()
      for (const { upTo, from, reset } of [...steps, { upTo: log.length, from: 0, reset: false }]) {
        // A reset is a snapshot of the moment; the log after it follows.
        if (reset)
          state = foldSession(state, { type: 'reset', seq: upTo, data: { reason: 'unknown id', ...snapshotAt(log.slice(0, upTo)) } })
        else state = log.slice(Math.min(from, state.lastSeq), upTo).reduce(foldSession, state)
      }
      expect(state).toEqual(whole)
    }),
  )
})

test('an event at or before the last one changes nothing, not even the identity', () => {
  for (const event of log) expect(foldSession(whole, event)).toBe(whole)
})

test('who may write in a session is what was said last, also after a cut', () => {
  const said = (seq: number, ...names: string[]) =>
    ({ type: 'participants', seq, data: { participants: names.map((name) => ({ id: `prn_${name}`, name })) } }) as const
  const after = [said(90, 'Bo'), said(91, 'Bo', 'Eve'), said(90, 'Bo')].reduce(foldSession, whole)
  expect(after.session?.participants.map(({ name }) => name)).toEqual(['Bo', 'Eve'])
  expect(foldSession(after, said(92)).session).toEqual(whole.session)
})

test('an error of a run drops half a message and stays until the session goes on', () => {
  const failed = foldSession(log.slice(0, 5).reduce(foldSession, empty()), {
    type: 'error',
    seq: 6,
    data: { code: 'internal', error: 'No answer' },
  })
  expect(failed).toMatchObject({ streaming: [], runError: { code: 'internal', error: 'No answer' } })
  const on = foldSession(failed, { type: 'session_status', seq: 7, data: { status: 'active', pendingApprovals: [] } })
  expect(on.runError).toBeNull()
})

test('an action is overdue from the reminder to the decision, whichever views of it come, as events or whole, in whatever order', () => {
  const asked = sampleAction()
  const at = ['2026-11-21T10:00:05.000Z', '2026-11-21T10:05:05.000Z', '2026-11-21T10:07:00.000Z']
  const views = at.map((updatedAt, moment) =>
    sampleAction({ updatedAt, overdue: moment === 1, state: moment === 2 ? 'approved' : 'proposed' }),
  )
  const events: SessionEvent[] = [
    { type: 'action_proposed', data: { proposal: asked } },
    { type: 'approval_overdue', data: { actionId: asked.id, waitedMs: 300_000, updatedAt: at[1] } },
    { type: 'action_update', data: { proposalId: asked.id, state: 'approved', revision: 1, updatedAt: at[2] ?? '' } },
  ]
  const step = fc.record({ moment: fc.nat(2), isEvent: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
      let state = sessionState({ ...emptySession(), pendingApprovals: [asked] }, [])
      for (const { moment, isEvent } of steps) {
        const [view, event] = [views[moment], events[moment]]
        if (view && event) state = isEvent ? foldSession(state, event) : foldActions(state, [view])
      }
      const latest = Math.max(0, ...steps.map(({ moment }) => moment))
      expect(state.actions[asked.id]).toEqual(views[latest])
      expect(state.pendingApprovals).toEqual(latest === 2 ? [] : [asked.id])
    }),
  )
})

test('a reminder that does not say when it was, as of an older server, or of an action that is not held has the action fetched', () => {
  const state = sessionState({ ...emptySession(), pendingApprovals: [sampleAction()] }, [])
  const remind = (data: { actionId: string; updatedAt?: string }) =>
    foldSession(state, { type: 'approval_overdue', data: { waitedMs: 300_000, ...data } }).toFetch
  expect(remind({ actionId: 'act_1' })).toEqual(['act_1'])
  expect(remind({ actionId: 'act_7', updatedAt: '2026-11-21T10:05:05.000Z' })).toEqual(['act_7'])
})

test('new arguments are fetched whole, never shown half', () => {
  const state = sessionState({ ...emptySession(), pendingApprovals: [sampleAction()] }, [])
  const update = {
    proposalId: 'act_1',
    state: 'proposed',
    revision: 2,
    digest: 'sha256:bb',
    updatedAt: '2026-11-21T10:00:09.000Z',
  } as const
  const stale = foldSession(state, { type: 'action_update', seq: 1, data: update })
  expect(stale.actions.act_1).toBe(state.actions.act_1)
  expect(stale.toFetch).toEqual(['act_1'])
  const fresh = sampleAction({ revision: 2, digest: 'sha256:bb', arguments: { orderId: 'ORD-002' }, updatedAt: update.updatedAt })
  expect(foldActions(stale, [fresh])).toMatchObject({ toFetch: [], actions: { act_1: fresh }, pendingApprovals: ['act_1'] })
})

test('what is asked anew is applied in place when the update says all of it', () => {
  const state = sessionState(
    { ...emptySession(), pendingApprovals: [sampleAction({ error: { kind: 'refused', message: 'No', retryable: false } })] },
    [],
  )
  const preview = [{ field: 'status', oldValue: 'shipped', newValue: 'processing' }]
  const fresh = sampleAction({ revision: 2, preview, error: null, updatedAt: '2026-11-21T10:00:09.000Z' })
  const { id: proposalId, ...changed } = fresh
  const next = foldSession(state, { type: 'action_update', seq: 1, data: { proposalId, ...changed } })
  expect(next).toMatchObject({ toFetch: [], actions: { act_1: fresh } })
})

test('a message that changes, as a queued one does, keeps its place', () => {
  const queued = sampleMessage({ id: 'msg_9', role: 'user', queued: true, seq: 2 })
  const state = sessionState({ ...emptySession(), lastSeq: 3 }, [sampleMessage({ id: 'msg_8', seq: 3 }), queued])
  const { queued: _, ...sent } = queued
  const next = foldSession(state, { type: 'message', seq: 4, data: { message: sent } })
  expect(next.messages.map(({ id, queued }) => [id, queued])).toEqual([
    ['msg_9', undefined],
    ['msg_8', undefined],
  ])
})
