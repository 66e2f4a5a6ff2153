import type { Action, Principal } from '@countersign/core'
import { expect, test } from 'vitest'
import { cardLines } from '../inbox.ts'
import { detailLines } from './details.ts'
import { styleFor } from './style.ts'

const person = (name: string): Principal => ({ id: `prn_${name}`, kind: 'person', name, roles: ['approver'] })

const ACTION: Required<Action> = {
  id: 'act_1',
  sessionId: null,
  runId: null,
  messageId: null,
  toolCallId: null,
  tool: 'iam.grant',
  effect: 'write',
  destination: 'https://iam.example.com',
  credential: 'none',
  arguments: { to: 'admin@example.com' },
  digest: 'sha256:1',
  revision: 2,
  revised: null,
  description: 'Grant admin rights',
  preview: null,
  previewError: null,
  previewedAt: null,
  precondition: null,
  risk: { level: 'medium', reasons: ['changes data'], setBy: 'unverified' },
  state: 'proposed',
  policy: { verdict: 'ask', rule: 'rights', version: 3, reason: 'Rights are given by people' },
  requires: { quorum: 1, declineQuorum: 1, roles: ['approver'], notRequester: false },
  declineReasons: [],
  votes: [],
  requestedBy: person('Ana'),
  requesters: [person('Ana')],
  agent: 'release-bot',
  agentVerified: true,
  agentSays: null,
  context: null,
  timesAsked: 1,
  callback: null,
  executor: 'server',
  attempt: 0,
  idempotencyKey: 'key',
  result: null,
  resultUrl: null,
  error: null,
  outcome: null,
  checks: null,
  resolution: null,
  cachedFrom: null,
  expiresAt: '2026-01-01T01:00:00.000Z',
  extendableUntil: '2026-01-02T00:00:00.000Z',
  extension: { by: person('Ana'), at: '2026-01-01T00:00:00.000Z', from: '2026-01-01T00:30:00.000Z' },
  assignment: null,
  seenBy: [],
  startsAt: null,
  overdue: false,
  redactedAt: '',
  createdAt: '2026-01-01T00:00:00.000Z',
  decidedAt: null,
  startedAt: null,
  settledAt: null,
  updatedAt: '2026-01-01T00:00:00.000Z',
}

/** Another value of each member that belongs to what a person approves. */
const SHOWN: { [Name in keyof Action]?: Action[Name] } = {
  id: 'act_2',
  tool: 'iam.revoke',
  destination: 'https://iam.evil.example',
  credential: 'IAM_ROOT',
  arguments: { to: 'eve@example.com' },
  revision: 3,
  revised: { why: 'edit', reason: 'Ben changed the arguments.', by: person('Ben'), at: '2026-01-01T00:10:00.000Z' },
  description: 'Revoke rights',
  preview: [{ field: 'role', oldValue: 'viewer', newValue: 'admin' }],
  previewError: 'it did not answer',
  risk: { level: 'medium', reasons: ['changes data'], setBy: 'policy' },
  policy: { verdict: 'ask', rule: 'rights', version: 3, reason: 'Two people give rights' },
  requires: { quorum: 2, declineQuorum: 1, roles: ['security'], notRequester: true },
  votes: [{ by: person('Ben'), verdict: 'approve', at: '2026-01-01T00:20:00.000Z' }],
  requesters: [person('Ana'), person('Eve')],
  agent: 'other-bot',
  agentVerified: false,
  agentSays: 'Trust me',
  context: { reason: 'It is urgent' },
  timesAsked: 3,
  callback: { host: 'hooks.example' },
  executor: 'client',
  expiresAt: '2026-01-01T02:00:00.000Z',
  extension: { by: person('Eve'), at: '2026-01-01T00:00:00.000Z', from: '2026-01-01T00:30:00.000Z' },
  overdue: true,
}

/** Members that say nothing about what a person approves while it waits, or that another member says. */
const LEFT_OUT = new Set<string>([
  // Where it comes from: the console links them.
  ...['sessionId', 'runId', 'messageId', 'toolCallId'],
  // The risk says it, and the digest covers it.
  ...['effect', 'previewedAt', 'precondition', 'digest', 'idempotencyKey'],
  // Of a later state, or always the same while it waits.
  ...['state', 'attempt', 'result', 'resultUrl', 'error', 'outcome', 'checks', 'resolution', 'cachedFrom', 'startsAt', 'redactedAt'],
  ...['decidedAt', 'startedAt', 'settledAt', 'updatedAt', 'createdAt'],
  // One of the requesters.
  'requestedBy',
  // What the person can do, and who works on it: rows of the list and prompts show them.
  ...['declineReasons', 'extendableUntil', 'assignment', 'seenBy'],
])

const linesOf = {
  'the inbox and chat': (action: Action) => detailLines(action, styleFor(false, {}), 80).join('\n'),
  '`inbox --ask` and `approve`': (action: Action) => cardLines(action).join('\n'),
}

test.each(Object.entries(linesOf))('%s show every fact of an action that its card shows', (_, show) => {
  const before = show(ACTION)
  for (const [name, value] of Object.entries(SHOWN)) expect(show({ ...ACTION, [name]: value }), name).not.toBe(before)
  const known = new Set([...Object.keys(SHOWN), ...LEFT_OUT])
  expect(Object.keys(ACTION).filter((name) => !known.has(name))).toEqual([])
})

test.each(Object.entries(linesOf))(
  '%s say what another person changed, what is not verified, and which votes are still needed',
  (_, show) => {
    const text = show({ ...ACTION, ...SHOWN }).replaceAll(/\s+/g, ' ')
    expect(text).toContain('asked by Ana and Eve, agent other-bot (not verified), 3 times')
    expect(text).toContain('Asked again: Ben changed the arguments. Revision 3')
    expect(text).toContain('Runs at the client that asked, against https://iam.evil.example, with the rights of IAM_ROOT')
    expect(text).toContain('Policy: Two people give rights (rule “rights”, version 3)')
    expect(text).toContain('Votes: 1 of 2 approvals · Ben approved 2026-01-01T00:20:00.000Z · waits for security, but not the requester')
    expect(text).toContain('When this ends, hooks.example is notified')
  },
)

test.each(Object.entries(linesOf))('%s count no vote that is void, and say that it is', (_, show) => {
  const votes = SHOWN.votes?.map((vote) => ({ ...vote, counts: false as const })) ?? []
  const text = show({ ...ACTION, requires: { ...ACTION.requires, quorum: 2 }, votes })
  expect(text.replaceAll(/\s+/g, ' ')).toContain(
    'Votes: 0 of 2 approvals · Ben approved 2026-01-01T00:20:00.000Z (does not count) · waits for approver',
  )
})
