import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Action, Message, Session, SessionEvent } from '@countersign/core'
import { foldSession, sessionState } from '../session-state.ts'

export type Route = (request: IncomingMessage, response: ServerResponse, body: string) => void

/** A real HTTP server on loopback; routes are tried by `METHOD path`, the query left out. */
export async function serve(routes: Record<string, Route>) {
  const requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { method = '', url = '', headers } = request
    requests.push({ method, url, headers, body })
    const route = routes[`${method} ${url.split('?')[0]}`]
    if (route === undefined) return problem(response, 404, 'not_found', 'There is no such thing.')
    return route(request, response, body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export const json = (response: ServerResponse, value: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

export const problem = (
  response: ServerResponse,
  status: number,
  code: string,
  body: string | { detail: string; [member: string]: unknown },
): void => {
  response
    .writeHead(status, { 'content-type': 'application/problem+json' })
    .end(JSON.stringify({ status, code, title: code, ...(typeof body === 'string' ? { detail: body } : body) }))
}

export const startStream = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
}

export const frame = ({ type, seq, data }: SessionEvent): string =>
  `${seq === undefined ? '' : `id: ${seq}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`

const AT = '2026-11-21T10:00:00.000Z'

export const emptySession = (): Session => ({
  id: 'ses_1',
  agent: 'desk',
  title: 'Orders',
  status: 'idle',
  owner: { id: 'prn_1', name: 'Ana' },
  participants: [],
  pendingApprovals: [],
  unknownOutcomes: 0,
  tokens: { input: 0, output: 0 },
  lastSeq: 0,
  createdAt: AT,
  updatedAt: AT,
})

export const sampleMessage = (changed: Partial<Message>): Message => ({
  id: 'msg_1',
  sessionId: 'ses_1',
  runId: 'run_1',
  role: 'assistant',
  kind: 'text',
  content: 'Hello',
  createdAt: AT,
  seq: 1,
  ...changed,
})

export const sampleAction = (changed: Partial<Action> = {}): Action => ({
  id: 'act_1',
  sessionId: 'ses_1',
  runId: 'run_1',
  messageId: 'msg_2',
  toolCallId: 'call_1',
  tool: 'updateOrderStatus',
  effect: 'write',
  destination: 'shop',
  credential: 'none',
  arguments: { orderId: 'ORD-001' },
  digest: 'sha256:aa',
  revision: 1,
  revised: null,
  description: 'Set order ORD-001 to processing',
  preview: null,
  previewError: null,
  previewedAt: null,
  precondition: null,
  risk: { level: 'medium', reasons: [], setBy: 'policy' },
  state: 'proposed',
  policy: { verdict: 'ask', rule: 'default', version: 1, reason: '' },
  requires: { quorum: 1, declineQuorum: 1, roles: ['approver'], notRequester: false },
  votes: [],
  requestedBy: { id: 'prn_1', kind: 'agent', name: 'desk', roles: [] },
  requesters: [{ id: 'prn_1', kind: 'agent', name: 'desk', roles: [] }],
  agent: 'desk',
  agentVerified: true,
  agentSays: null,
  context: null,
  callback: null,
  executor: 'server',
  attempt: 0,
  idempotencyKey: 'act_1',
  resultUrl: null,
  error: null,
  outcome: null,
  checks: null,
  resolution: null,
  startsAt: null,
  overdue: false,
  cachedFrom: null,
  expiresAt: null,
  createdAt: AT,
  decidedAt: null,
  startedAt: null,
  settledAt: null,
  updatedAt: '2026-11-21T10:00:05.000Z',
  ...changed,
})

const later = (seq: number): string => new Date(Date.parse(AT) + seq * 1_000).toISOString()

/** The log of one run with two tool calls: what a server would store, numbered from 1. */
export function sampleLog(): SessionEvent[] {
  const events: ((seq: number) => SessionEvent)[] = [
    (seq) => ({
      type: 'message',
      seq,
      data: { message: sampleMessage({ id: 'msg_1', role: 'user', content: 'Process two orders', seq }) },
    }),
    (seq) => ({ type: 'session_status', seq, data: { status: 'active', pendingApprovals: [] } }),
    (seq) => ({ type: 'reasoning_delta', seq, data: { messageId: 'msg_2', content: 'Two calls.' } }),
    (seq) => ({ type: 'delta', seq, data: { messageId: 'msg_2', content: 'I will ' } }),
    (seq) => ({ type: 'delta', seq, data: { messageId: 'msg_2', content: 'set both. ✓' } }),
    (seq) => ({ type: 'tool_call_start', seq, data: { toolCall: { id: 'call_1', name: 'updateOrderStatus' } } }),
    (seq) => ({ type: 'tool_call_start', seq, data: { toolCall: { id: 'call_2', name: 'updateOrderStatus' } } }),
    (seq) => ({ type: 'message', seq, data: { message: sampleMessage({ id: 'msg_2', content: 'I will set both. ✓', seq }) } }),
    (seq) => ({ type: 'action_proposed', seq, data: { proposal: sampleAction({ updatedAt: later(seq) }) } }),
    (seq) => ({
      type: 'action_proposed',
      seq,
      data: { proposal: sampleAction({ id: 'act_2', toolCallId: 'call_2', updatedAt: later(seq) }) },
    }),
    (seq) => ({ type: 'session_status', seq, data: { status: 'waiting_approval', pendingApprovals: ['act_1', 'act_2'] } }),
    (seq) => ({ type: 'action_update', seq, data: { proposalId: 'act_1', state: 'approved', revision: 1, updatedAt: later(seq) } }),
    (seq) => ({ type: 'action_update', seq, data: { proposalId: 'act_2', state: 'declined', revision: 1, updatedAt: later(seq) } }),
    (seq) => ({ type: 'session_status', seq, data: { status: 'active', pendingApprovals: [] } }),
    (seq) => ({
      type: 'action_update',
      seq,
      data: { proposalId: 'act_1', state: 'succeeded', revision: 1, attempt: 1, result: { ok: true }, updatedAt: later(seq) },
    }),
    (seq) => ({
      type: 'tool_call_result',
      seq,
      data: { toolCall: { id: 'call_1', name: 'updateOrderStatus', result: { ok: true } }, actionId: 'act_1' },
    }),
    (seq) => ({ type: 'delta', seq, data: { messageId: 'msg_3', content: 'One is done, ' } }),
    (seq) => ({ type: 'delta', seq, data: { messageId: 'msg_3', content: 'one was declined.' } }),
    (seq) => ({
      type: 'message',
      seq,
      data: { message: sampleMessage({ id: 'msg_3', content: 'One is done, one was declined.', seq }) },
    }),
    (seq) => ({ type: 'done', seq, data: { messageId: 'msg_3', runId: 'run_1' } }),
    (seq) => ({ type: 'session_status', seq, data: { status: 'completed', pendingApprovals: [] } }),
  ]
  return events.map((make, index) => make(index + 1))
}

/** The server's answer about the session at this length of the log. */
export function snapshotAt(log: readonly SessionEvent[]): { session: Session; messages: Message[]; actions: Action[] } {
  const state = log.reduce(foldSession, sessionState(emptySession(), []))
  const actions = Object.values(state.actions)
  const session: Session = {
    ...emptySession(),
    ...state.session,
    pendingApprovals: actions.filter((action) => state.pendingApprovals.includes(action.id)),
    unknownOutcomes: actions.filter(({ state }) => state === 'outcome_unknown').length,
    lastSeq: state.lastSeq,
  }
  return { session, messages: [...state.messages], actions }
}
