import type { CreateKeyBody } from '@countersign/core'

// The permission matrix, written a second time by hand, for the test that sends a request for every cell.

/** Callers marked + are programs whose database row gives them every role; that must not help them. */
export const WHO = [
  'admin',
  'approver',
  'limited',
  'finance',
  'viewer',
  'member',
  'nothing',
  'agent',
  'service',
  'agent+',
  'service+',
  'nobody',
  'revoked',
] as const
export type Who = (typeof WHO)[number]

export const KEYS: Record<Exclude<Who, 'nobody'>, Partial<CreateKeyBody> & Pick<CreateKeyBody, 'kind'>> = {
  admin: { kind: 'person', roles: ['admin'] },
  approver: { kind: 'person', roles: ['approver'] },
  // An approver's read-only key.
  limited: { kind: 'person', roles: ['approver'], scopes: [] },
  finance: { kind: 'person', roles: ['finance'] },
  viewer: { kind: 'person', roles: ['viewer'] },
  // Members may ask agents for actions but cannot decide.
  member: { kind: 'person', roles: ['member'] },
  nothing: { kind: 'person', roles: [] },
  agent: { kind: 'agent', roles: ['agent'] },
  service: { kind: 'service', roles: [] },
  'agent+': { kind: 'agent', roles: ['agent'] },
  'service+': { kind: 'service', roles: ['agent'] },
  revoked: { kind: 'person', roles: ['admin', 'approver'] },
}

/** The actions that the requests are about. */
export const WHAT = {
  /** Another person's, waiting for the role approver. */
  routed: { sees: 'admin approver limited viewer', decides: 'admin approver' },
  /** Another person's, waiting for the group finance; the admin is not in it. */
  money: { sees: 'admin finance viewer', decides: 'finance' },
  /** Another person's that needs no approval. */
  quiet: { sees: 'admin viewer', decides: 'admin' },
  /** Proposed by the caller. */
  own: { sees: 'admin approver member agent service agent+ service+', decides: 'admin approver' },
  /** Proposed by the caller's agent, waiting for the role approver. */
  ofAgent: { sees: 'admin approver limited finance viewer member nothing', decides: 'admin approver' },
  unknown: { sees: '', decides: '' },
} as const
export type What = keyof typeof WHAT

export const WRITES = 'admin approver member agent service agent+ service+'
export const PERSONS = 'admin approver limited finance viewer member nothing'
export const PROGRAMS = 'agent service agent+ service+'

/** `hidden` is a 404 with the same bytes as for an id that does not exist; `in` is any other answer to a caller with permission. */
type Answer = 'in' | 'out' | 'hidden'
type Rule = (who: Who, what: What) => Answer | undefined
export const has = (list: string, who: Who): boolean => list.split(' ').includes(who)
const only =
  (list: string): Rule =>
  (who) =>
    has(list, who) ? 'in' : 'out'

const everybody: Rule = () => 'in'
export const noOne: Rule = () => 'out'
const sees: Rule = (who, what) => (has(WHAT[what].sees, who) ? 'in' : 'hidden')
/** Checks visibility first, then permission. */
const seesAnd =
  (may: (who: Who, what: What) => boolean): Rule =>
  (who, what) => {
    if (!has(WHAT[what].sees, who)) return 'hidden'
    return may(who, what) ? 'in' : 'out'
  }
const decides = seesAnd((who, what) => has(WHAT[what].decides, who))
/** It decides nothing, and the action may wait for a role that nobody has any more. */
const looksAgain = seesAnd((who, what) => who === 'admin' || has(WHAT[what].decides, who))
/** A message makes the agent act for the session's owner, so only the owner and participants may write, not even an admin. */
const writesIn = seesAnd((who, what) => has(WRITES, who) && (what === 'own' || what === 'ofAgent'))
const stops = seesAnd((who) => has(WRITES, who))
const invites = seesAnd((who, what) => who === 'admin' || ((what === 'own' || what === 'ofAgent') && who !== 'limited'))
const carriesOut = seesAnd((who, what) => has(WHAT[what].decides, who) || (what === 'own' && has(WRITES, who)))
/** The people who may decide about an action or asked for it, and admins. */
const assigns = seesAnd(
  (who, what) =>
    has('admin approver finance viewer member nothing', who) &&
    (who === 'admin' || has(WHAT[what].decides, who) || what === 'own' || what === 'ofAgent'),
)
/** A person's own inbox: programs and read-only keys have none, whatever the action. */
const ownInbox: Rule = (who, what) => (has('admin approver finance viewer member nothing', who) ? sees(who, what) : 'out')
/** Only the proposer may withdraw what people were asked about; a person may not withdraw it for their agent, nor may an admin. */
const proposed = seesAnd((who, what) => what === 'own' && has(WRITES, who))
const admins = seesAnd((who) => who === 'admin')
/**
 * These routes cannot reach an action outside a session. Callers get one of two refusals, depending on which is checked first, so the cell
 * is skipped.
 */
const inSession =
  (rule: Rule): Rule =>
  (who, what) =>
    what === 'quiet' && has(WHAT.quiet.sees, who) ? undefined : rule(who, what)

export interface Place {
  actionId: string
  sessionId: string
  requestId: string
}

interface Route {
  /** Without it the route is about no particular object. */
  about?: keyof Place
  rule: Rule
  body?: (place: Place) => object
  /** The route needs no key. */
  open?: true
  /** The request removes the object. */
  ends?: true
  /** The route does not authenticate, so it does not refuse a bad key. */
  probe?: true
}

const EVALUATION = { subject: { type: 'user', id: 'x' }, action: { name: 'call' }, resource: { type: 'tool', id: 'keyed' } }
const POLICY = { rules: [{ name: 'all', match: {}, verdict: 'ask' }] }

/** Every route of the server. A missing or an extra route fails the test. */
export const ROUTES: Record<string, Route> = {
  'GET /healthz': { rule: everybody, open: true, probe: true },
  'GET /readyz': { rule: everybody, open: true, probe: true },
  'GET /api/me': { rule: everybody, open: true },
  // These routes serve the console's pages: without the console's Origin they refuse every caller.
  'POST /api/sign-in': { rule: noOne, open: true, body: () => ({}) },
  'POST /api/sign-in/oidc': { rule: noOne, open: true, body: () => ({}) },
  'POST /api/sign-in/oidc/finish': { rule: noOne, open: true, body: () => ({ answer: 'x' }) },
  'POST /api/sign-out': { rule: noOne, open: true, body: () => ({}) },

  'GET /api/console-sessions': { rule: only(PERSONS) },
  'DELETE /api/console-sessions': { rule: only('admin approver finance viewer member nothing') },
  'DELETE /api/console-sessions/{id}': { rule: only('admin approver finance viewer member nothing') },

  'GET /api/push-subscriptions': { rule: only('admin approver finance viewer member nothing') },
  // Only a signed-in console subscribes; see `push.test.ts`.
  'POST /api/push-subscriptions': {
    rule: noOne,
    body: () => ({ endpoint: 'https://fcm.googleapis.com/x', keys: { p256dh: 'x', auth: 'x' } }),
  },
  'DELETE /api/push-subscriptions/{id}': { rule: only('admin approver finance viewer member nothing') },
  'GET /api/preferences': { rule: only(PERSONS) },
  'PATCH /api/preferences': { rule: only('admin approver finance viewer member nothing'), body: () => ({}) },

  'GET /api/snoozes': { rule: only(PERSONS) },
  'POST /api/actions/{id}/assign': { about: 'actionId', rule: assigns, body: () => ({ to: null }) },
  'POST /api/actions/{id}/seen': { about: 'actionId', rule: ownInbox, body: () => ({ revision: 1, digest: 'x' }) },
  'POST /api/actions/{id}/snooze': { about: 'actionId', rule: ownInbox, body: () => ({ for: 'PT1H' }) },
  'DELETE /api/actions/{id}/snooze': { about: 'actionId', rule: ownInbox },

  'GET /api/agents': { rule: everybody },
  'GET /api/tools': { rule: everybody },
  'POST /api/tools': { rule: only(WRITES), body: () => ({ name: 'own', input: { type: 'object' }, effect: 'write' }) },
  // The tool does not exist: callers who may register tools hear that.
  'DELETE /api/tools/{name}': { rule: only(WRITES) },
  // The tool does not exist: callers with permission hear that.
  'GET /api/tools/{name}': { rule: everybody },
  'POST /api/tools/{name}/accept': { rule: only('admin'), body: () => ({ hash: 'x' }) },
  'GET /api/sources': { rule: only(PERSONS) },
  // Only for the key of a host's service; see `embed-tokens.test.ts`.
  'POST /api/embed-tokens': { rule: noOne, body: () => ({ person: 'ana', roles: ['approver'] }) },
  'GET /api/events': { rule: everybody },
  'GET /api/keys': { rule: only('admin') },
  'POST /api/keys': { rule: only('admin'), body: () => ({ name: 'more', kind: 'person', roles: ['admin', 'approver'] }) },
  'DELETE /api/keys/{id}': { rule: only('admin') },
  'GET /api/webhooks': { rule: only('admin') },
  'POST /api/webhooks': { rule: only('admin'), body: () => ({ url: 'https://hooks.example.com', events: ['action.overdue'] }) },
  'GET /api/webhooks/{id}': { rule: only('admin') },
  'PATCH /api/webhooks/{id}': { rule: only('admin'), body: () => ({ disabled: true }) },
  'DELETE /api/webhooks/{id}': { rule: only('admin') },
  'POST /api/webhooks/{id}/rotate': { rule: only('admin'), body: () => ({}) },
  'POST /api/webhooks/{id}/test': { rule: only('admin') },
  'GET /api/webhooks/{id}/deliveries': { rule: only('admin') },
  'POST /api/webhooks/{id}/deliveries/{deliveryId}/redeliver': { rule: only('admin') },
  'GET /api/people/{id}': { rule: only('admin') },
  'PATCH /api/people/{id}': { rule: only('admin'), body: () => ({ roles: [] }) },
  'POST /api/people/{id}/disable': { rule: only('admin') },
  'POST /api/people/{id}/enable': { rule: only('admin') },
  'GET /api/keys/own': { rule: only(PERSONS) },
  // The key does not exist, so callers who may accept keys get 404. `keys-of-others.more.test.ts` has the rest.
  'POST /api/keys/{id}/accept': { rule: only('admin approver finance viewer nothing member') },

  'GET /api/sessions': { rule: everybody },
  'POST /api/sessions': { rule: only(WRITES), body: () => ({}) },
  'GET /api/sessions/{id}': { about: 'sessionId', rule: sees },
  'GET /api/sessions/{id}/timeline': { about: 'sessionId', rule: sees },
  'GET /api/sessions/{id}/messages': { about: 'sessionId', rule: sees },
  'GET /api/sessions/{id}/events': { about: 'sessionId', rule: sees },
  'POST /api/sessions/{id}/messages': { about: 'sessionId', rule: writesIn, body: () => ({ content: 'hello' }) },
  'POST /api/sessions/{id}/approve': {
    about: 'sessionId',
    rule: inSession(decides),
    body: ({ actionId }) => ({ verdict: 'approve', actionId }),
  },
  'POST /api/sessions/{id}/participants': { about: 'sessionId', rule: invites, body: () => ({ person: 'prn_local' }) },
  'DELETE /api/sessions/{id}/participants/{person}': { about: 'sessionId', rule: invites },
  'POST /api/chat': { about: 'sessionId', rule: writesIn, body: ({ sessionId }) => ({ sessionId, message: 'hello' }) },
  // A conversation belongs to its caller, so nobody reaches that of another; see `ai-sdk-conversations.test.ts` and `ag-ui.more.test.ts`.
  'POST /api/ai-sdk/chat': {
    rule: only(WRITES),
    body: () => ({ id: 'mine', agent: 'talk', messages: [{ role: 'user', parts: [{ type: 'text', text: 'hello' }] }] }),
  },
  'GET /api/ai-sdk/chat/{id}/stream': { rule: everybody },
  'POST /api/ag-ui/{agent}': {
    rule: only(WRITES),
    body: () => ({ threadId: 'mine', runId: 'r', messages: [{ id: 'u', role: 'user', content: 'hello' }] }),
  },
  'POST /api/chat/approve': { about: 'actionId', rule: decides, body: ({ actionId }) => ({ approvalId: actionId, approved: true }) },
  'POST /api/agent-requests': {
    about: 'sessionId',
    rule: (who, what) => (has(WRITES, who) ? writesIn(who, what) : 'out'),
    body: ({ sessionId }) => ({ sessionId, message: 'hello' }),
  },
  'GET /api/agent-requests/{id}': { about: 'requestId', rule: sees },
  'POST /api/agent-requests/{id}/execute': { about: 'requestId', rule: writesIn, body: () => ({}) },
  'POST /api/approve-tool/{id}': { about: 'actionId', rule: inSession(decides), body: () => ({ approved: true }) },

  'GET /api/actions': { rule: everybody },
  'GET /api/actions/export': { rule: everybody },
  'POST /api/actions': { rule: only(WRITES), body: () => ({ tool: 'keyed', arguments: { what: 'x' } }) },
  'GET /api/actions/{id}': { about: 'actionId', rule: sees },
  'GET /api/actions/{id}/story': { about: 'actionId', rule: sees },
  'GET /api/actions/{id}/revisions': { about: 'actionId', rule: sees },
  'GET /api/actions/{id}/suggestion': { about: 'actionId', rule: sees },
  'POST /api/actions/{id}/decision': { about: 'actionId', rule: decides, body: () => ({ verdict: 'approve' }) },
  // The server answers each item on its own, like the route for one action.
  'POST /api/actions/decisions': {
    rule: everybody,
    body: () => ({ verdict: 'approve', items: [{ id: 'act_x', revision: 1, digest: 'x' }] }),
  },
  'POST /api/actions/{id}/preview': { about: 'actionId', rule: looksAgain, body: () => ({}) },
  'POST /api/actions/{id}/retry': { about: 'actionId', rule: decides, body: () => ({}) },
  'POST /api/actions/{id}/extend': { about: 'actionId', rule: decides, body: () => ({}) },
  'POST /api/actions/{id}/undo': { about: 'actionId', rule: decides, body: () => ({}) },
  'POST /api/actions/{id}/resolve': { about: 'actionId', rule: decides, body: () => ({ outcome: 'failed', note: 'I looked' }) },
  'POST /api/actions/{id}/verify': { about: 'actionId', rule: decides, body: () => ({}) },
  // No action is held, so callers with permission get an error that says so.
  'POST /api/actions/{id}/release': { about: 'actionId', rule: decides, body: () => ({}) },
  'POST /api/actions/{id}/void': { about: 'actionId', rule: decides, body: () => ({ note: 'done already' }) },
  'GET /api/hold': { rule: everybody },
  'POST /api/hold/accept': { rule: only('admin') },
  'POST /api/actions/{id}/claim': { about: 'actionId', rule: carriesOut, body: () => ({}) },
  'POST /api/actions/{id}/result': { about: 'actionId', rule: sees, body: () => ({ epoch: 1, output: null }) },

  'GET /api/grants': { rule: only(PERSONS) },
  // The grant does not exist, so all callers get the same answer.
  'GET /api/grants/{id}': { rule: everybody },
  'DELETE /api/grants/{id}': { rule: everybody },
  'POST /api/grants': {
    about: 'actionId',
    rule: decides,
    body: ({ actionId }) => ({ actionId, scope: 'agent', expiresIn: 'PT1S', exact: true }),
  },
  'GET /api/people': { rule: only('admin approver finance viewer member nothing') },
  'GET /api/delegations': { rule: only('admin approver finance viewer member nothing') },
  'POST /api/delegations': {
    rule: only('admin approver finance viewer member nothing'),
    body: () => ({ to: 'prn_nobody', expiresIn: 'PT1S' }),
  },
  'DELETE /api/delegations/{id}': { rule: only('admin approver finance viewer member nothing') },

  'GET /api/policy': { rule: only('admin approver limited finance viewer member') },
  'GET /api/policy/rules': { rule: only('admin approver limited finance viewer member') },
  'GET /api/policy/names': { rule: only('admin approver limited finance viewer member') },
  'POST /api/policy/check': { rule: only('admin approver limited finance viewer member'), body: () => ({ document: POLICY }) },
  'GET /api/policy/versions': { rule: only('admin approver limited finance viewer member') },
  'GET /api/policy/versions/{version}': { rule: only('admin approver limited finance viewer member') },
  'GET /api/policy/shadow': { rule: only('admin approver limited finance viewer member') },
  'POST /api/policy/test': { rule: only('admin approver limited finance viewer member'), body: () => ({ call: { tool: 'keyed' } }) },
  'PUT /api/policy': { rule: only('admin'), body: () => ({ document: POLICY, reason: 'mine' }) },
  'POST /api/policy/rollback': { rule: only('admin'), body: () => ({ version: 999, reason: 'mine' }) },
  'DELETE /api/policy/shadow': { rule: only('admin') },

  'GET /api/objectives': { rule: only('admin approver limited finance viewer member') },
  'GET /api/objectives/{id}': { rule: only('admin approver limited finance viewer member') },
  'GET /api/objectives/{id}/history': { rule: only('admin approver limited finance viewer member') },

  'GET /api/audit': { rule: only('admin viewer') },
  'GET /api/stats': { rule: only('admin viewer') },
  'GET /api/waiting/full': { rule: only('admin viewer') },
  'GET /metrics': { rule: only('admin viewer') },
  // MCP answers every authenticated caller itself and puts refusals into the message; see `mcp-authority.test.ts`.
  'GET /.well-known/authzen-configuration': { rule: everybody, open: true },
  'POST /access/v1/evaluation': { rule: only(WRITES), body: () => EVALUATION },
  'POST /access/v1/evaluations': { rule: only(WRITES), body: () => ({ evaluations: [EVALUATION] }) },
  'POST /mcp': { rule: everybody, body: () => ({ jsonrpc: '2.0', id: 1, method: 'ping' }) },
  'GET /mcp': { rule: everybody },
  // A hook answers in the same way; see `coding-agents.test.ts`.
  'POST /hooks/{host}': {
    rule: everybody,
    body: () => ({ session_id: 's', hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } }),
  },
  'DELETE /mcp': { rule: everybody },
  'GET /api/audit/export': { rule: only('admin viewer') },
  'GET /api/audit/key': { rule: everybody },
  'GET /api/audit/seal': { rule: everybody },
  // The record has no problem, so callers with permission get an answer that says so.
  'POST /api/audit/accept': { rule: only('admin'), body: () => ({ reason: 'checked' }) },

  'POST /api/actions/{id}/withdraw': { about: 'actionId', rule: proposed, body: () => ({}) },

  // Near the end, because redaction removes the values for every caller.
  'PATCH /api/sessions/{id}': { about: 'sessionId', rule: invites, body: () => ({ title: 'Another title' }) },
  'POST /api/sessions/{id}/cancel': { about: 'sessionId', rule: stops, body: () => ({}) },
  'POST /api/actions/{id}/redact': { about: 'actionId', rule: admins, body: () => ({ reason: 'personal' }) },
  // Last, because no object is left for later requests.
  'DELETE /api/sessions/{id}': { about: 'sessionId', rule: invites, ends: true },
}
