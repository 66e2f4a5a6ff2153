import type { Action, Claim } from '@countersign/core'
import { planMessage } from '../../crash/script.ts'
import type { Random } from '../../simulation/random.ts'
import { BOOTSTRAP_KEY } from '../../testing/bootstrap-key.ts'
import { readEvents } from '../../testing/event-reader.ts'
import { MCP_CLIENTS } from '../../testing/mcp-clients.ts'
import { checkerAt } from '../../testing/openapi.ts'
import { signInWithKey } from '../../testing/sign-in.ts'

/** The actions of clients, each done many times an hour. */
export type Cause = 'chat' | 'proposal' | 'decline' | 'expiry' | 'reader' | 'signIn' | 'gateway' | 'client' | 'key' | 'lists' | 'request'

export interface WorkloadOptions {
  url: string
  random: Random
}

/** Does one thing from beginning to end, as one client. @throws Error when the server answers anything but success. */
export type Workload = Record<Cause, () => Promise<void>>

export function createWorkload({ url, random }: WorkloadOptions): Workload {
  let count = 0
  const name = () => `soak-${++count}-${random.int(1e9)}`

  async function send<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(headers['countersign-console'] === undefined && { authorization: `Bearer ${BOOTSTRAP_KEY}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 300)}`)
    return (text === '' ? undefined : JSON.parse(text)) as T
  }

  /** Sends the same request twice under one key, as a client does that lost the answer. */
  async function post<T>(path: string, body?: unknown): Promise<T> {
    const headers = { 'idempotency-key': name() }
    const first = await send<T>('POST', path, body, headers)
    if (random.chance(0.3)) await send('POST', path, body, headers)
    return first
  }

  async function openStream(path: string) {
    const hangUp = new AbortController()
    const headers = { authorization: `Bearer ${BOOTSTRAP_KEY}`, accept: 'text/event-stream' }
    const checker = await checkerAt(url)
    const response = await fetch(url + path, { headers, signal: hangUp.signal })
    return readEvents(response, hangUp, (event) => checker.problemsOfEvent('GET', path, event))
  }

  const decide = ({ id, revision, digest }: Action, verdict: 'approve' | 'decline', edited?: unknown) =>
    post(`/api/actions/${id}/decision`, { verdict, revision, digest, ...(edited !== undefined && { arguments: edited }) })
  const propose = (tool: string) => post<Action>('/api/actions', { tool, arguments: { what: name() }, agent: 'outside' })
  const waitFor = (id: string, until: 'decided' | 'settled') => send<Action>('GET', `/api/actions/${id}?wait=50&until=${until}`)

  async function proposeAndDecide(verdict: 'approve' | 'decline'): Promise<void> {
    const action = await propose(random.pick(['keyed', 'unkeyed']))
    const settled = waitFor(action.id, 'settled')
    const edited = verdict === 'approve' && random.chance(0.3) ? { what: name() } : undefined
    await decide(action, verdict, edited)
    const { state } = await settled
    const wanted = verdict === 'approve' ? 'succeeded' : 'declined'
    if (state !== wanted) throw new Error(`action ${action.id} is ${state} instead of ${wanted}`)
  }

  return {
    async chat() {
      const { id } = await post<{ id: string }>('/api/sessions', { agent: 'desk', title: name() })
      using stream = await openStream(`/api/sessions/${id}/events`)
      const call = (tool: string) => ({ tool, arguments: { what: name() } })
      const steps = [{ text: 'I will look and do it.', calls: [call('look'), call('keyed'), call('unkeyed')] }]
      await post(`/api/sessions/${id}/messages`, { content: planMessage({ steps }) })
      const { pendingApprovals } = await stream.next('session_status', (data) => data.pendingApprovals.length === 2)
      for (const actionId of pendingApprovals) {
        const action = await send<Action>('GET', `/api/actions/${actionId}`)
        await decide(action, random.chance(0.7) ? 'approve' : 'decline', undefined)
      }
      await stream.next('done')
    },
    proposal: () => proposeAndDecide('approve'),
    decline: () => proposeAndDecide('decline'),
    async expiry() {
      const { id } = await propose('brief')
      const { state } = await waitFor(id, 'decided')
      if (state !== 'expired') throw new Error(`action ${id} is ${state} instead of expired`)
    },
    async reader() {
      using stream = await openStream('/api/events')
      const { id } = await propose('keyed')
      await stream.next('action_proposed', ({ proposal }) => proposal.id === id)
      await send('POST', `/api/actions/${id}/decision`, { verdict: 'decline' })
    },
    async signIn() {
      const signedIn = await signInWithKey(url, BOOTSTRAP_KEY)
      await send('GET', '/api/actions?state=proposed', undefined, signedIn)
      if (random.chance(0.5)) await send('POST', '/api/sign-out', {}, { ...signedIn, origin: url })
    },
    async gateway() {
      const { key } = await post<{ key: string }>('/api/keys', { name: name(), kind: 'agent' })
      await using client = await random.pick(MCP_CLIENTS).connect({ url: `${url}/mcp`, key })
      await client.tools()
      await client.call('look', { what: name() })
      const args = { what: name() }
      const options = random.chance(0.5) ? { meta: { 'countersign/idempotencyKey': name() } } : {}
      const asked = await client.call('keyed', args, options)
      const { actionId } = asked.structuredContent as { actionId: string }
      await post(`/api/actions/${actionId}/decision`, { verdict: 'approve' })
      await waitFor(actionId, 'settled')
      // Others never come back for their result.
      if (random.chance(0.7)) await client.call('keyed', args, options)
    },
    async client() {
      const action = await propose('client')
      await decide(action, 'approve')
      const { epoch } = await post<Claim>(`/api/actions/${action.id}/claim`, {})
      await post(`/api/actions/${action.id}/result`, { epoch, output: { id: 7 } })
    },
    async key() {
      const { id, key } = await post<{ id: string; key: string }>('/api/keys', { name: name(), kind: 'agent' })
      await send('GET', '/api/me', undefined, { authorization: `Bearer ${key}` })
      await send('DELETE', `/api/keys/${id}`)
    },
    async lists() {
      for (const path of ['/api/actions?limit=50', '/api/sessions?limit=50', '/api/audit?limit=50', '/api/stats', '/healthz', '/readyz'])
        await send('GET', path)
    },
    async request() {
      const plan = { steps: [{ text: 'I will do it.', calls: [{ tool: 'keyed', arguments: { what: name() } }] }] }
      const { requestId } = await post<{ requestId: string }>('/api/agent-requests', { message: planMessage(plan), agent: 'desk' })
      const { pendingApprovals } = await post<{ pendingApprovals: { id: string }[] }>(`/api/agent-requests/${requestId}/execute`)
      for (const { id } of pendingApprovals) await post(`/api/approve-tool/${id}`, { approved: true })
    },
  }
}
