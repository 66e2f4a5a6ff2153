import type { Action, Principal } from '@countersign/client'

export const ADA: Principal = { id: 'prn_ada', kind: 'person', name: 'Ada', roles: ['approver'] }
export const SAM: Principal = { id: 'prn_sam', kind: 'person', name: 'Sam', roles: ['approver'] }
const DESK: Principal = { id: 'prn_desk', kind: 'agent', name: 'Order desk', roles: ['agent'] }

/** The time of every test: 21 November 2026, 10:45:00 UTC. */
export const NOW_MS = Date.UTC(2026, 10, 21, 10, 45, 0)

/** The moment `seconds` before the tests' now, as the wire has it. */
export const ago = (seconds: number): string => new Date(NOW_MS - seconds * 1000).toISOString()

/** An action that asks to set an order to processing. */
export const sampleAction = (changed: Partial<Action> = {}): Action => ({
  id: 'act_0000000000000000000000001',
  sessionId: 'ses_1',
  runId: 'run_1',
  messageId: 'msg_1',
  toolCallId: 'call_1',
  tool: 'updateOrderStatus',
  effect: 'write',
  destination: 'shop at 127.0.0.1:4400',
  credential: 'none',
  arguments: { orderId: 'ORD-001', newStatus: 'processing' },
  digest: 'sha256:8f14e45fceea167a5a36dedd4bea2543',
  revision: 1,
  revised: null,
  description: 'Set order ORD-001 to processing',
  preview: [{ field: 'status', oldValue: 'pending', newValue: 'processing' }],
  previewError: null,
  previewedAt: ago(31),
  precondition: '6dcd4ce23d88e2ee9568ba546c007c63d9131c1b0a1f5a1e2b0d7a4f7c7b2a11',
  risk: { level: 'medium', reasons: ['changes an order'], setBy: 'policy' },
  state: 'proposed',
  policy: { verdict: 'ask', rule: 'writes ask', version: 3, reason: 'A write needs a person.' },
  requires: { quorum: 1, declineQuorum: 1, roles: ['approver'], notRequester: false },
  votes: [],
  requestedBy: DESK,
  requesters: [DESK],
  agent: 'desk',
  agentVerified: true,
  agentSays: null,
  context: null,
  callback: null,
  executor: 'server',
  attempt: 0,
  idempotencyKey: 'act_0000000000000000000000001',
  resultUrl: null,
  error: null,
  outcome: null,
  checks: null,
  resolution: null,
  startsAt: null,
  overdue: false,
  cachedFrom: null,
  expiresAt: new Date(NOW_MS + 720_000).toISOString(),
  createdAt: ago(30),
  decidedAt: null,
  startedAt: null,
  settledAt: null,
  updatedAt: ago(30),
  ...changed,
})

const approved: Partial<Action> = { votes: [{ by: ADA, verdict: 'approve', at: ago(20) }] }

/** One action per state of the engine, and two more that look different. */
export const ACTION_PER_STATE: Readonly<Record<string, Action>> = {
  proposed: sampleAction(),
  'proposed-critical': sampleAction({
    tool: 'deleteOrder',
    description: 'Delete order ORD-001',
    arguments: { orderId: 'ORD-001' },
    preview: [{ field: 'order', oldValue: { id: 'ORD-001', total: 1240 } }],
    risk: { level: 'critical', reasons: ['irreversible', 'outside the company'], setBy: 'tool' },
  }),
  'proposed-unknown-target': sampleAction({ preview: null, previewError: 'The shop did not answer within 5 s.', previewedAt: null }),
  'proposed-overdue': sampleAction({ overdue: true, createdAt: ago(432), expiresAt: null }),
  approved: sampleAction({ ...approved, state: 'approved' }),
  'approved-client': sampleAction({ ...approved, state: 'approved', executor: 'client' }),
  executing: sampleAction({ ...approved, state: 'executing', attempt: 2, updatedAt: ago(12) }),
  succeeded: sampleAction({
    ...approved,
    state: 'succeeded',
    attempt: 1,
    updatedAt: ago(8),
    resultUrl: '/orders/ORD-001',
    result: { id: 'ORD-001', status: 'processing' },
  }),
  failed: sampleAction({
    ...approved,
    state: 'failed',
    attempt: 1,
    updatedAt: ago(8),
    error: { kind: 'http', message: 'The shop answered 503. Nothing was changed.', retryable: true },
  }),
  declined: sampleAction({
    state: 'declined',
    updatedAt: ago(8),
    votes: [{ by: SAM, verdict: 'decline', at: ago(8), reason: 'Wrong order' }],
  }),
  expired: sampleAction({ state: 'expired', updatedAt: ago(8), expiresAt: ago(8) }),
  cancelled: sampleAction({ state: 'cancelled', updatedAt: ago(8) }),
  outcome_unknown: sampleAction({
    ...approved,
    state: 'outcome_unknown',
    attempt: 1,
    updatedAt: ago(57),
    error: { kind: 'timeout', message: 'The shop stopped answering after the request was sent.', retryable: false },
  }),
}

/** An edit of a file, with its diff. */
export const ACTION_WITH_DIFF: Action = sampleAction({
  tool: 'repo.editFile',
  description: 'Edit notes/orders.md',
  arguments: { path: 'notes/orders.md', edits: [{ oldText: 'recieved', newText: 'received' }] },
  preview: [
    {
      field: 'notes/orders.md',
      diff: '--- a/notes/orders.md\n+++ b/notes/orders.md\n@@ -1,3 +1,3 @@\n # Orders\n-An order is recieved and then packed.\n+An order is received and then packed. \n \tShipping takes two days.\n',
    },
  ],
})
