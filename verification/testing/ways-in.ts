/** A request that would let an action run, or make its sender more than they are. */
export interface WayIn {
  method: string
  path: string
  body: object
}

const post = (path: string, body: object): WayIn => ({ method: 'POST', path, body })

/** All that somebody who may not decide about an action may send to have it run all the same. */
export const waysIn = (actionId: string): readonly WayIn[] => [
  post(`/api/actions/${actionId}/decision`, { verdict: 'approve' }),
  post('/api/chat/approve', { approvalId: actionId, approved: true }),
  post(`/api/approve-tool/${actionId}`, { approved: true }),
  post(`/api/actions/${actionId}/claim`, {}),
  post(`/api/actions/${actionId}/resolve`, { outcome: 'succeeded', note: 'it is there' }),
  post(`/api/actions/${actionId}/release`, {}),
  post(`/api/actions/${actionId}/retry`, {}),
  post('/api/keys', { name: 'mine', kind: 'person', roles: ['admin', 'approver'] }),
  post('/api/grants', { actionId, scope: 'agent', expiresIn: 'P1D', exact: true }),
  { method: 'PUT', path: '/api/policy', body: { document: { default: 'allow', rules: [] }, version: 1 } },
  post('/api/hold/accept', {}),
  post('/api/audit/accept', { reason: 'fine' }),
  post('/api/people/prn_local/disable', {}),
  post('/api/sign-in', {}),
  post('/api/sign-in', { link: 'A'.repeat(60) }),
]
