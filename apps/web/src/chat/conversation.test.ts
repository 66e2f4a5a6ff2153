import type { Action, Message } from '@countersign/client'
import { expect, test } from 'vitest'
import { cpuTimeMs } from '../../../../verification/testing/cpu-time.ts'
import { conversation, type Row } from './conversation.ts'

const EMPTY = { messages: [], streaming: [], startedCalls: [], actions: {} }

const message = (id: string, rest: Partial<Message>): Message => ({
  id,
  sessionId: 'ses_1',
  runId: 'run_1',
  role: 'assistant',
  kind: 'text',
  content: id,
  createdAt: '2026-11-21T12:00:00.000Z',
  seq: 1,
  ...rest,
})

const action = (id: string, rest: Partial<Action>): Action => ({
  id,
  sessionId: 'ses_1',
  runId: 'run_1',
  messageId: null,
  toolCallId: null,
  tool: 'updateOrderStatus',
  effect: 'write',
  destination: '',
  credential: 'none',
  arguments: {},
  digest: 'sha256:00',
  revision: 1,
  revised: null,
  description: 'Set order ORD-001 to processing',
  agentSays: null,
  context: null,
  callback: null,
  preview: null,
  previewError: null,
  previewedAt: null,
  precondition: null,
  risk: { level: 'medium', reasons: [], setBy: 'policy' },
  state: 'proposed',
  policy: { verdict: 'ask', rule: 'writes ask', version: 1, reason: '' },
  requires: { quorum: 1, declineQuorum: 1, roles: [], notRequester: false },
  votes: [],
  requestedBy: { id: 'prn_1', kind: 'agent', name: 'desk', roles: [] },
  requesters: [{ id: 'prn_1', kind: 'agent', name: 'desk', roles: [] }],
  agent: 'desk',
  agentVerified: true,
  executor: 'server',
  attempt: 0,
  idempotencyKey: 'k',
  resultUrl: null,
  error: null,
  outcome: null,
  checks: null,
  resolution: null,
  startsAt: null,
  overdue: false,
  cachedFrom: null,
  decidedAt: null,
  startedAt: null,
  settledAt: null,
  expiresAt: null,
  createdAt: '2026-11-21T12:00:00.000Z',
  updatedAt: '2026-11-21T12:00:00.000Z',
  ...rest,
})

const actionIds = (rows: Row[]) => rows.flatMap((row) => (row.kind === 'assistant' ? row.calls.map((call) => call.action?.id) : []))

test('a card stands at the message whose call it is, with the answer of its tool', () => {
  const rows = conversation({
    ...EMPTY,
    messages: [
      message('msg_1', { role: 'user' }),
      message('msg_2', { toolCalls: [{ id: 'call_1', name: 'updateOrderStatus', arguments: {} }] }),
      message('msg_3', { role: 'tool', toolCallId: 'call_1', content: '{"ok":true}' }),
    ],
    actions: { act_1: action('act_1', { toolCallId: 'call_1', messageId: 'msg_2' }) },
  })
  expect(rows.map((row) => [row.kind, row.id])).toEqual([
    ['user', 'msg_1'],
    ['assistant', 'msg_2'],
  ])
  expect(rows[1]).toMatchObject({ calls: [{ id: 'call_1', action: { id: 'act_1' }, result: '{"ok":true}' }] })
})

test('a call that was refused before it became an action says why', () => {
  const calls = ['call_1', 'call_2', 'call_3'].map((id) => ({ id, name: 'refund', arguments: {} }))
  const rows = conversation({
    ...EMPTY,
    messages: [
      message('msg_1', { toolCalls: calls }),
      message('msg_2', { role: 'tool', toolCallId: 'call_1', content: '{"error":"refund: amount is required."}' }),
      message('msg_3', { role: 'tool', toolCallId: 'call_2', content: '{"error":"No","edited":true}' }),
      message('msg_4', { role: 'tool', toolCallId: 'call_3', content: '{"error":"the service refused (422)"}' }),
    ],
    actions: { act_3: action('act_3', { toolCallId: 'call_3', messageId: 'msg_1', state: 'failed' }) },
  })
  const refusals = rows.flatMap((row) => (row.kind === 'assistant' ? row.calls.map(({ refusal }) => refusal) : []))
  expect(refusals).toEqual(['refund: amount is required.', undefined, undefined])
})

test('every action is drawn once, also while its message is still written and where it has none', () => {
  const rows = conversation({
    ...EMPTY,
    messages: [message('msg_1', { toolCalls: [{ id: 'call_1', name: 'refund', arguments: {} }] })],
    streaming: [{ messageId: 'msg_2', content: 'I pro', reasoning: '' }],
    actions: {
      act_1: action('act_1', { toolCallId: 'call_1', messageId: 'msg_1' }),
      act_2: action('act_2', { toolCallId: 'call_2', messageId: 'msg_2' }),
      act_3: action('act_3', { toolCallId: 'call_3', messageId: 'msg_lost' }),
    },
  })
  expect(actionIds(rows)).toEqual(['act_1', 'act_2', 'act_3'])
})

test('a call that only has a name yet is shown, and only until it is proposed', () => {
  const started = { ...EMPTY, startedCalls: [{ id: 'call_1', name: 'refund' }] }
  expect(conversation(started)).toMatchObject([{ calls: [{ id: 'call_1', name: 'refund' }] }])
  const proposed = conversation({ ...started, actions: { act_1: action('act_1', { toolCallId: 'call_1' }) } })
  expect(actionIds(proposed)).toEqual(['act_1'])
})

test('look-ups of a brain stand at its message and are no calls, also when one has the id of a call', () => {
  const lookUps = [{ id: 'call_1', name: 'refund', input: {}, output: 1 }]
  const rows = conversation({
    ...EMPTY,
    messages: [message('msg_1', { lookUps, lookUpsLeftOut: 2 })],
    actions: { act_1: action('act_1', { toolCallId: 'call_1', messageId: 'msg_lost' }) },
  })
  expect(rows).toMatchObject([
    { id: 'msg_1', calls: [], lookedUp: { lookUps, lookUpsLeftOut: 2 } },
    { id: 'unplaced', calls: [{ id: 'call_1', action: { id: 'act_1' } }] },
  ])
})

test('a request asks people to decide only while something of it waits', () => {
  const content = 'I need approval to use pay: Pay 5. Please approve or decline this action.'
  const text = (state: Action['state'], said = content) => {
    const actions = { act_1: action('act_1', { state }) }
    const messages = [message('msg_1', { kind: 'request', actionIds: ['act_1'], content: said })]
    return conversation({ messages, streaming: [], startedCalls: [], actions }).flatMap((row) => (row.kind === 'request' ? [row.text] : []))
  }
  expect(text('proposed')).toEqual([content])
  expect(text('declined')).toEqual(['I need approval to use pay: Pay 5.'])
  expect(text('succeeded', 'I need approval for 2 actions:\n- a\n- b\nPlease approve or reject each.')).toEqual([
    'I need approval for 2 actions:\n- a\n- b',
  ])
  const spaces = `a${' '.repeat(250_000)}b`
  const startedAt = cpuTimeMs()
  expect(text('declined', spaces)).toEqual([spaces])
  expect(cpuTimeMs() - startedAt).toBeLessThan(2_000)
})

test('a request and a note are told apart from what the model said', () => {
  const rows = conversation({
    ...EMPTY,
    messages: [message('msg_1', { kind: 'request' }), message('msg_2', { role: 'system', kind: 'note' }), message('msg_3', {})],
  })
  expect(rows.map((row) => row.kind)).toEqual(['request', 'note', 'assistant'])
})
