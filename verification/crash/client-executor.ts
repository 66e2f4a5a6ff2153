import type { Claim, ClientResultBody } from '@countersign/core'
import type { Door, Person } from './door.ts'

/**
 * Carries an approved action out as a client does: claims it, sends its request to the ledger, says what came of it.
 * @param vanishes Leaves with the claim and is never heard of again.
 */
export async function carryOutAsClient(door: Door, who: Person, actionId: string, vanishes: boolean): Promise<void> {
  const post = (what: string, body: unknown) =>
    door.send(who, 'POST', `/api/actions/${actionId}/${what}`, { body, headers: { 'idempotency-key': `${what}.${actionId}` } })
  const claimed = await post('claim', {})
  if (claimed?.status !== 200 || vanishes) return
  const { request, idempotencyKey, epoch }: Claim = claimed.body
  if (!request) throw new Error(`the claim of ${actionId} has no request`)
  await post('result', { epoch, ...(await send(request, idempotencyKey)) })
}

async function send({ method, url, body }: NonNullable<Claim['request']>, key: string): Promise<Omit<ClientResultBody, 'epoch'>> {
  try {
    const headers = { 'content-type': 'application/json', 'idempotency-key': key }
    const answer = await fetch(url, { method, headers, body: JSON.stringify(body) })
    const output = await answer.json()
    if (answer.ok) return { output }
    return { error: { kind: answer.status < 500 ? 'refused' : 'ambiguous', message: `The ledger answered ${answer.status}.` } }
  } catch {
    return { error: { kind: 'ambiguous', message: 'The connection to the ledger broke.' } }
  }
}
