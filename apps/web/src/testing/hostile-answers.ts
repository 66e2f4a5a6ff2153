import type {
  Action,
  ActionRevision,
  ActionStory,
  GrantSuggestion,
  Message,
  Objective,
  ObjectiveChange,
  PolicyChange,
  PolicyVersion,
  Principal,
  Session,
  ShadowReport,
  Stats,
  TestedCall,
  TimelineEntry,
} from '@countersign/core'
import { fill, type Planted } from './hostile.ts'

/** The schemas of the wire, handed in: the console itself knows only their types. */
type Wire = typeof import('@countersign/core')

type Answers = (method: string, path: string, query: URLSearchParams) => { status?: number; type?: string; body: unknown } | undefined

const SINCE = '2026-11-21T10:44:00.000Z'

const list = (...items: unknown[]) => ({ body: { items, nextCursor: null } })

export interface HostileAnswers {
  answer: Answers
  /** Of the session's stream, by type. */
  events: Record<'reasoning_delta' | 'delta' | 'tool_call_start' | 'session_status' | 'error', unknown>
  /** One that comes up while the list is open. */
  newAction: Action
  /** Makes the server hold everything from now on. */
  hold(): void
}

/** The answers of a server on which every text that anybody else may write lies. */
export function hostileAnswers(planted: Planted, wire: Wire): HostileAnswers {
  const { text } = planted
  const make = <T>(schema: Parameters<typeof fill>[1], path: string, over: object = {}) =>
    fill<T>(planted, schema, path, Object.fromEntries(Object.entries(over).map(([key, value]) => [`${path}.${key}`, value])))
  const tool = text('Action.tool')
  const objective = make<Objective>(wire.Objective, 'Objective', { id: 'obj_000001', state: 'open', standing: 'at_risk', progress: 25 })
  const person = (path: string, more: object = {}) => make<Principal>(wire.Principal, path, { kind: 'person', scopes: undefined, ...more })
  const me = person('Me', { id: 'prn_me', roles: ['admin', 'approver', 'agent', text('Me.roles')] })
  const ask = { quorum: 2, declineQuorum: 2, roles: ['approver', text('Action.requires.roles')], notRequester: false }
  const waiting = {
    tool,
    id: 'act_000001',
    sessionId: 'ses_000001',
    messageId: 'msg_000002',
    toolCallId: 'call_1',
    effect: 'write',
    state: 'proposed',
    revision: 2,
    'risk.level': 'medium',
    'policy.verdict': 'ask',
    requires: { ...ask, escalation: { at: '2099-01-01T00:00:00.000Z', roles: [text('Action.escalation.roles')], isDone: false } },
    arguments: {
      text: text('Action.arguments.text'),
      choice: text('Action.arguments.choice'),
      fixed: text('Action.arguments.fixed'),
      many: [text('Action.arguments.many')],
      any: { [text('Action.arguments.key')]: 1 },
      [text('Action.arguments.name')]: 1,
    },
    preview: [
      {
        field: text('Action.preview.0.field'),
        oldValue: text('Action.preview.0.oldValue'),
        newValue: text('Action.preview.0.newValue'),
        diff: text('Action.preview.0.diff'),
      },
      { field: text('Action.said.field'), newValue: text('Action.said'), unverified: true },
    ],
    expiresAt: '2099-01-01T00:00:00.000Z',
    redactedAt: undefined,
    checks: null,
    resolution: null,
    executor: 'server',
    error: null,
    outcome: null,
    result: undefined,
    resultUrl: null,
    startsAt: null,
    overdue: false,
    cachedFrom: null,
  }
  const action = (more: object = {}): Action => make<Action>(wire.Action, 'Action', { ...waiting, ...more })
  const settled = {
    succeeded: { id: 'act_000002', toolCallId: 'call_2', state: 'succeeded', result: { [text('result.key')]: text('result.value') } },
    failed: {
      id: 'act_000003',
      toolCallId: 'call_3',
      state: 'failed',
      error: { kind: text('error.kind'), message: text('error.message'), retryable: true },
    },
    declined: {
      id: 'act_000004',
      toolCallId: 'call_4',
      state: 'declined',
      votes: [{ by: person('Decliner'), verdict: 'decline', at: '2026-11-21T10:44:00.000Z', reason: text('Decliner.reason') }],
    },
    unknown: {
      id: 'act_000005',
      toolCallId: 'call_5',
      state: 'outcome_unknown',
      error: { kind: 'lost', message: text('error.message'), retryable: true },
    },
    resolved: {
      id: 'act_000006',
      toolCallId: 'call_6',
      state: 'succeeded',
      resultUrl: `https://аpple.com/${text('resultUrl')}`,
      resolution: { by: person('Resolution.by'), outcome: 'succeeded', note: text('Resolution.note'), at: '2026-11-21T10:44:00.000Z' },
    },
    read: {
      id: 'act_000007',
      toolCallId: 'call_7',
      effect: 'read',
      state: 'failed',
      'policy.verdict': 'allow',
      error: { kind: 'lost', message: text('read.error'), retryable: true },
      result: text('read.result'),
    },
  } as const
  // A grant is offered where one vote is enough; a second step asked for where it is critical.
  const simple = action({
    id: 'act_000011',
    messageId: null,
    revision: 1,
    revised: null,
    votes: [],
    requires: { ...ask, quorum: 1, declineQuorum: 1 },
  })
  const critical = action({ id: 'act_000012', 'risk.level': 'critical', votes: [], previewError: null, preview: [] })
  const newAction = action({ id: 'act_000013', votes: [] })
  const all = [action(), ...Object.values(settled).map((more) => action(more)), simple, critical, newAction]

  const session = make<Session>(wire.Session, 'Session', {
    id: 'ses_000001',
    status: 'active',
    pendingApprovals: [],
    unknownOutcomes: 1,
    lastSeq: 9,
  })
  const message = (seq: number, path: string, more: object): Message =>
    make<Message>(wire.Message, path, {
      id: `msg_00000${seq}`,
      sessionId: 'ses_000001',
      seq,
      queued: undefined,
      toolCalls: undefined,
      toolCallId: undefined,
      actionIds: undefined,
      actions: undefined,
      ...more,
    })
  const calls = all.slice(0, 7).map(({ toolCallId }) => ({ id: toolCallId, name: text('ToolCall.name'), arguments: {} }))
  const messages = [
    message(1, 'Message.user', { role: 'user', kind: 'text', queued: true }),
    message(2, 'Message.assistant', {
      role: 'assistant',
      kind: 'text',
      actions: all.slice(0, 7),
      toolCalls: [...calls, { id: 'call_8', name: text('ToolCall.unproposed'), arguments: {} }],
    }),
    message(3, 'Message.tool', { role: 'tool', kind: 'text', toolCallId: 'call_8' }),
    message(4, 'Message.request', { role: 'assistant', kind: 'request' }),
    message(5, 'Message.note', { role: 'system', kind: 'note' }),
  ]
  const version = (more: object = {}) =>
    make<PolicyVersion>(wire.PolicyVersion, 'PolicyVersion', { author: person('PolicyVersion.author'), ...more })
  const document = {
    default: 'ask',
    rules: [{ name: text('rule.name'), match: { tool: text('rule.tool'), when: text('rule.when') }, verdict: 'ask' }],
  }
  const inputSchema = {
    type: 'object',
    required: ['text', 'choice', 'fixed', 'many', 'any'],
    properties: {
      text: { type: 'string', title: text('schema.title'), description: text('schema.description') },
      choice: { type: 'string', enum: [text('Action.arguments.choice'), text('schema.enum')] },
      fixed: { const: text('Action.arguments.fixed') },
      many: { type: 'array', items: { type: 'string' } },
      any: {},
    },
  }
  const problem = (status: number, code: string, path: string, more: object = {}) => ({
    status,
    type: 'application/problem+json',
    body: { type: 'about:blank', title: code, status, code, detail: text(path), ...more },
  })

  const routes: Record<string, () => ReturnType<Answers>> = {
    'GET /api/me': () => ({ body: { principal: me, signIn: 'key' } }),
    'GET /api/agents': () => list(make(wire.AgentView, 'AgentView'), make(wire.AgentView, 'AgentView', { name: 'plain' })),
    'GET /api/tools': () => list(make(wire.ToolView, 'ToolView', { name: tool, inputSchema })),
    'GET /api/sources': () => list(),
    'GET /api/tools/x': () => ({
      body: make(wire.ToolDetails, 'ToolDetails', {
        inputSchema,
        claimedEffect: 'read',
        'risk.level': 'high',
        'policy.rules.0.verdict': 'deny',
      }),
    }),
    'GET /api/policy/rules': () => ({
      body: make(wire.PolicyRuleUses, 'PolicyRuleUses', {
        'items.0.rule': text('rule.name'),
        'items.0.conflicts': [{ with: 'x', isCertain: true, text: text('PolicyRuleUse.conflicts.text') }],
        'items.0.warnings': [text('PolicyRuleUse.warnings')],
        'items.0.never': { why: 'overruled', by: [text('PolicyRuleUse.never.by')] },
        'items.0.lastHitAt': SINCE,
      }),
    }),
    'GET /api/sessions': () => list({ ...session, pendingApprovals: [simple] }),
    'GET /api/sessions/ses_000001': () => ({ body: session }),
    'GET /api/sessions/ses_000001/messages': () => list(...messages),
    'GET /api/sessions/ses_000001/timeline': () =>
      list(...messages.map((each) => make<TimelineEntry>(wire.TimelineEntry, 'TimelineEntry', { message: each }))),
    'GET /api/sessions/ses_lost': () => problem(403, 'forbidden', 'problem.session'),
    'GET /api/actions/act_lost': () => problem(403, 'forbidden', 'problem.action'),
    'POST /api/actions/act_000011/decision': () =>
      problem(422, 'invalid_arguments', 'problem.decision', {
        issues: [
          { path: '/text', message: text('issue.message') },
          { path: text('issue.path'), message: text('issue.other') },
        ],
      }),
    'GET /api/policy/versions': () => list(version({ inUse: 'force' })),
    'GET /api/policy/versions/1': () => ({
      body: { ...version(), document, changes: [make<PolicyChange>(wire.PolicyChange, 'PolicyChange')] },
    }),
    'GET /api/policy/shadow': () => ({ body: make<ShadowReport>(wire.ShadowReport, 'ShadowReport') }),
    'POST /api/policy/test': () => ({ body: make<TestedCall>(wire.TestedCall, 'TestedCall', { verdict: 'ask' }) }),
    'POST /api/policy/check': () => ({
      body: make(wire.CheckedPolicy, 'CheckedPolicy', {
        problems: [
          { path: text('CheckedPolicy.path'), message: text('CheckedPolicy.message'), at: null },
          { path: 'rules.0.match.when', message: text('CheckedPolicy.when'), at: 0 },
        ],
        'warnings.0.path': 'rules.0.verdict',
      }),
    }),
    'GET /api/policy/names': () => ({ body: make(wire.PolicyNames, 'PolicyNames', { 'arguments.0.tools': 1, tools: 1 }) }),
    'PUT /api/policy': () =>
      problem(400, 'bad_request', 'problem.policy', {
        issues: [{ path: text('problem.policy.path'), message: text('problem.policy.message') }],
      }),
    'GET /api/grants': () =>
      list(
        make(wire.Grant, 'Grant.exact', { when: null, scope: 'agent', requestedBy: null }),
        make(wire.Grant, 'Grant.when', { arguments: null, agent: null, scope: 'agent' }),
      ),
    'GET /api/audit': () => ({
      body: { items: [make(wire.AuditEntryView, 'AuditEntryView')], nextCursor: null, names: {}, titles: {}, seen: {} },
    }),
    'GET /api/stats': () => ({
      body: make<Stats>(wire.Stats, 'Stats', { bucket: 'day', since: SINCE, until: SINCE, 'series.0.at': SINCE }),
    }),
    'GET /api/audit/seal': () => ({ body: make(wire.AuditSealView, 'AuditSealView', { 'problem.since': SINCE, 'memory.since': SINCE }) }),
    'GET /api/audit/key': () => ({ body: make(wire.AuditKeyView, 'AuditKeyView') }),
    'GET /api/keys': () =>
      list(
        make(wire.Key, 'Key', { revokedAt: null, scopes: ['decide'], 'principal.roles': [text('Key.roles.0')] }),
        make(wire.Key, 'Key', { id: 'key_000002' }),
      ),
    'POST /api/keys': () => ({
      status: 201,
      body: {
        id: 'key_000003',
        key: 'cs_made',
        acceptedAt: null,
        principal: person('CreatedKey.principal'),
        createdAt: session.createdAt,
        expiresAt: null,
      },
    }),
    'GET /api/webhooks': () =>
      list(
        make(wire.Webhook, 'Webhook', {
          id: 'whk_000001',
          events: ['action.proposed'],
          disabledAt: null,
          disabledWhy: null,
          failingSince: session.createdAt,
          earlierSecretUntil: session.createdAt,
        }),
      ),
    'POST /api/webhooks': () => ({
      status: 201,
      body: make(wire.CreatedWebhook, 'CreatedWebhook', { id: 'whk_000002', secret: 'whsec_made', disabledAt: null, disabledWhy: null }),
    }),
    'GET /api/webhooks/whk_000001/deliveries': () =>
      list(
        make(wire.WebhookDelivery, 'WebhookDelivery', {
          id: 'evt_000001',
          type: 'action.overdue',
          actionId: 'act_000001',
          attempts: [{ at: session.createdAt, durationMs: 7, status: null, error: text('WebhookDelivery.error') }],
        }),
      ),
    'GET /api/people': () => list(make(wire.Person, 'Person'), make(wire.Person, 'Person.other', { id: 'prn_to' })),
    'GET /api/people/prn_to': () => ({
      body: make(wire.PersonDetails, 'PersonDetails', { id: 'prn_to', hasFixedRoles: false }),
    }),
    'GET /api/keys/own': () =>
      list(
        make(wire.Key, 'Key.own', {
          id: 'key_000004',
          acceptedAt: null,
          revokedAt: null,
          'principal.roles': [text('Key.own.roles.0')],
        }),
      ),
    'GET /api/delegations': () =>
      list(
        make(wire.Delegation, 'Delegation', {
          state: 'standing',
          from: person('Delegation.from'),
          to: person('Delegation.to', { id: 'prn_to' }),
          revokedAt: null,
          revokedBy: null,
        }),
        make(wire.Delegation, 'Delegation.over', { state: 'revoked', madeBy: person('Delegation.over.madeBy', { id: 'prn_admin' }) }),
      ),
    'POST /api/delegations': () => problem(404, 'not_found', 'problem.delegation'),
    'GET /api/objectives': () => list(objective),
    [`GET /api/objectives/${objective.id}`]: () => ({ body: objective }),
    [`GET /api/objectives/${objective.id}/history`]: () =>
      list(
        make<ObjectiveChange>(wire.ObjectiveChange, 'ObjectiveChange', {
          kind: 'updated',
          before: { [text('ObjectiveChange.field')]: text('ObjectiveChange.before') },
          after: { owner: text('ObjectiveChange.after') },
          by: person('ObjectiveChange.by'),
        }),
      ),
    'GET /api/console-sessions': () => list(make(wire.ConsoleSessionView, 'ConsoleSessionView')),
    'DELETE /api/console-sessions/id_000001': () => problem(404, 'not_found', 'problem.console'),
    'GET /api/actions': () => list(),
  }
  for (const each of all) {
    routes[`GET /api/actions/${each.id}`] = () => ({ body: each })
    routes[`GET /api/actions/${each.id}/revisions`] = () =>
      list(
        make<ActionRevision>(wire.ActionRevision, 'ActionRevision', {
          revision: 1,
          votes: [{ by: person('ActionRevision.voter'), verdict: 'approve', at: session.createdAt }],
        }),
      )
    routes[`GET /api/actions/${each.id}/story`] = () => ({
      body: make<ActionStory>(wire.ActionStory, 'ActionStory', {
        'steps.0.at': SINCE,
        'steps.0.kind': 'declined',
        'steps.0.data': { state: 'declined', reason: text('ActionStory.reason'), key: text('ActionStory.key'), attempt: 1 },
        toldAt: SINCE,
        'answered.at': SINCE,
        names: {},
      }),
    })
    routes[`GET /api/actions/${each.id}/suggestion`] = () => ({
      body: make<GrantSuggestion>(wire.GrantSuggestion, 'GrantSuggestion', { refusal: null }),
    })
  }

  let isHeld = false
  return {
    newAction,
    hold() {
      isHeld = true
    },
    events: {
      reasoning_delta: { messageId: 'msg_stream', content: text('event.reasoning') },
      delta: { messageId: 'msg_stream', content: text('event.delta') },
      tool_call_start: { toolCall: { id: 'call_9', name: text('event.tool') } },
      session_status: { status: 'error', pendingApprovals: [] },
      error: { code: 'internal', error: text('event.error') },
    },
    answer(method, path, query) {
      if (path === '/api/policy' && method === 'GET') {
        if (query.get('format') === 'yaml') return { type: 'application/yaml', body: `default: ask\n${text('policy.yaml')}` }
        return { body: { ...version({ inUse: 'force' }), document, shadow: version({ inUse: 'shadow', version: 2 }) } }
      }
      if (path === '/api/actions' && query.get('state') === 'proposed') return list(action(), simple, critical)
      if (path === '/api/actions' && query.get('state')?.includes('approved')) return list(action(), { ...simple, state: 'executing' })
      if (path === '/api/actions' && query.get('state')?.includes('succeeded')) return list(...all.slice(1, 7))
      if (path === '/api/hold' && isHeld) return { body: make(wire.HoldView, 'HoldView', { held: true, open: null }) }
      return routes[`${method} ${path}`]?.()
    },
  }
}
