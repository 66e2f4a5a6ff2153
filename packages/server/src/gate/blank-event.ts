import type { Action, NewEvent } from '@countersign/core'
import { blankVerdict } from './blank-verdict.ts'

type Blanks = { readonly [K in keyof Action]-?: 'keep' | ((value: NonNullable<Action[K]>) => Action[K]) }

const toNull = () => null

/** The effect of a redaction on each member of an action in an event, as on its row. A new member does not compile until it is named here. */
const BLANKS: Blanks = {
  id: 'keep',
  sessionId: 'keep',
  runId: 'keep',
  messageId: 'keep',
  toolCallId: 'keep',
  tool: 'keep',
  effect: 'keep',
  destination: 'keep',
  credential: 'keep',
  arguments: () => ({}),
  digest: 'keep',
  revision: 'keep',
  revised: (revised) => ({ ...revised, reason: 'Redacted' }),
  description: () => 'Redacted',
  preview: toNull,
  previewError: toNull,
  previewedAt: 'keep',
  precondition: toNull,
  risk: (risk) => ({ ...risk, reasons: ['Redacted'] }),
  state: 'keep',
  policy: blankVerdict,
  requires: 'keep',
  declineReasons: 'keep',
  votes: (votes) => votes.map(({ reason: _, ...vote }) => vote),
  requestedBy: 'keep',
  requesters: 'keep',
  agent: 'keep',
  agentVerified: 'keep',
  agentSays: toNull,
  context: toNull,
  timesAsked: 'keep',
  callback: toNull,
  executor: 'keep',
  attempt: 'keep',
  idempotencyKey: 'keep',
  result: () => undefined,
  resultUrl: toNull,
  error: toNull,
  outcome: (outcome) => ({ ...outcome, text: 'Redacted' }),
  checks: 'keep',
  resolution: toNull,
  cachedFrom: 'keep',
  expiresAt: 'keep',
  extendableUntil: 'keep',
  extension: 'keep',
  assignment: 'keep',
  seenBy: 'keep',
  startsAt: 'keep',
  overdue: 'keep',
  redactedAt: 'keep',
  createdAt: 'keep',
  decidedAt: 'keep',
  startedAt: 'keep',
  settledAt: 'keep',
  updatedAt: 'keep',
}

/** Returns an event about an action without what the action was about. */
export function blankEvent(event: NewEvent): NewEvent {
  if (event.type === 'action_proposed') return { ...event, data: { proposal: blankMembers(event.data.proposal) } }
  if (event.type === 'action_update') return { ...event, data: blankMembers(event.data) }
  return event
}

/** Blanks the members of an action that are there. */
function blankMembers<T extends object>(members: T): T {
  const blanked = Object.entries(members).map(([name, value]) => {
    const blank = (BLANKS as Readonly<Record<string, 'keep' | ((value: unknown) => unknown) | undefined>>)[name] ?? 'keep'
    return [name, value === null || blank === 'keep' ? value : blank(value)]
  })
  return Object.fromEntries(blanked) as T
}
