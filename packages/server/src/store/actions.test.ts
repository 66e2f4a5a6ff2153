import { ACTION_STATES, type ActionEvent, type ActionState, AFTER } from '@countersign/core'
import { expect, test } from 'vitest'
import * as actions from './actions.ts'
import * as principals from './principals.ts'
import type { Tx } from './query.ts'
import type { ActionRow } from './schema.ts'
import { openTempStore } from './testing/temp-store.ts'

const anAction = (id: string, state: ActionState): ActionRow => ({
  id,
  session_id: null,
  run_id: null,
  message_id: null,
  tool_call_id: null,
  position: 0,
  tool: 'refund',
  effect: 'write',
  destination: 'local',
  definition_hash: 'aa',
  arguments: '{}',
  digest: 'sha256:aa',
  revision: 1,
  description: 'Refund',
  preview: null,
  preview_error: null,
  previewed_at: null,
  risk: '{}',
  state,
  policy: '{}',
  requires: '{}',
  requested_by: 'prn_ana',
  agent: null,
  agent_says: null,
  executor: 'server',
  attempt: 0,
  epoch: 0,
  told: 0,
  runner: null,
  due_at: null,
  resolution: null,
  cached_from: null,
  reusable_until: null,
  idempotency_key: `${id}.1`,
  result: null,
  result_url: null,
  error: null,
  expires_at: null,
  created_at: 1,
  archived_at: null,
  updated_at: 1,
})

const settle = (id: string, to: ActionState): Tx<number> =>
  actions.settleAction.change({ id, epoch: 0, to, result: null, result_url: null, error: null, told: 1, now: 2 })

/** The guarded update behind each event, and the states it moves from. `succeed` and `fail` of an unknown outcome have no update yet. */
const UPDATES: Partial<Record<ActionEvent, { from: ActionState[]; update(id: string): Tx<number> }>> = {
  approve: { from: ['proposed'], update: (id) => actions.decideAction.change({ id, revision: 1, to: 'approved', told: 0, now: 2 }) },
  decline: { from: ['proposed'], update: (id) => actions.decideAction.change({ id, revision: 1, to: 'declined', told: 1, now: 2 }) },
  cancel: { from: ['proposed', 'approved'], update: (id) => actions.cancelAction.change({ id, now: 2 }) },
  start: { from: ['approved'], update: (id) => actions.startAction.change({ id, now: 2 }) },
  succeed: { from: ['executing'], update: (id) => settle(id, 'succeeded') },
  fail: { from: ['executing'], update: (id) => settle(id, 'failed') },
  lose: { from: ['executing'], update: (id) => settle(id, 'outcome_unknown') },
  retry: { from: ['failed'], update: (id) => actions.retryAction.change({ id, idempotency_key: `${id}.2`, now: 2 }) },
  resend: { from: ['outcome_unknown'], update: (id) => actions.resendAction.change({ id, now: 2 }) },
}

test('a guarded update moves an action where the lifecycle table says, from nowhere else', async () => {
  await using temp = await openTempStore()
  const { store } = temp
  await store.transact(() => principals.upsertPrincipal.run({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: '[]', now: 1 }))
  for (const [event, { from, update }] of Object.entries(UPDATES) as [ActionEvent, NonNullable<(typeof UPDATES)[ActionEvent]>][]) {
    for (const state of ACTION_STATES) {
      const id = `act_${event}_${state}`
      await store.transact(() => actions.insertAction.run(anAction(id, state)))
      const changed = await store.transact(() => update(id))
      const after = (await store.read(() => actions.findAction.first({ id })))?.state
      expect([event, state, changed, after]).toEqual(
        from.includes(state) ? [event, state, 1, AFTER[state][event]] : [event, state, 0, state],
      )
    }
  }
})

test('a settlement with the epoch of an earlier attempt changes nothing', async () => {
  await using temp = await openTempStore()
  const { store } = temp
  await store.transact(function* () {
    yield* principals.upsertPrincipal.run({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: '[]', now: 1 })
    yield* actions.insertAction.run(anAction('act_1', 'approved'))
    yield* actions.startAction.change({ id: 'act_1', now: 2 })
  })
  expect(await store.transact(() => settle('act_1', 'succeeded'))).toBe(0)
  expect(await store.read(() => actions.findAction.first({ id: 'act_1' }))).toMatchObject({ state: 'executing', epoch: 1, attempt: 1 })
})

test('the database itself refuses two actions with one idempotency key', async () => {
  await using temp = await openTempStore()
  const { store } = temp
  await store.transact(() => principals.upsertPrincipal.run({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: '[]', now: 1 }))
  await store.transact(() => actions.insertAction.run(anAction('act_1', 'proposed')))
  const second = { ...anAction('act_2', 'proposed'), idempotency_key: 'act_1.1' }
  await expect(store.transact(() => actions.insertAction.run(second))).rejects.toThrow(/UNIQUE.*idempotency_key/)
})
