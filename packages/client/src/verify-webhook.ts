import type { Action, WebhookEventType } from '@countersign/core'

/** Further from now than this, in either direction, a request is taken for one that somebody kept and sent again. */
const TOLERANCE_MS = 5 * 60_000
const PREFIX = 'whsec_'

type Named = { id: string; name: string }

/** The payload of a webhook about an action. Arguments and results are read over the API. */
export interface WebhookActionData extends Pick<Action, 'sessionId' | 'state' | 'revision' | 'digest' | 'tool' | 'effect' | 'agent'> {
  actionId: string
  headline: string
  /** Set once the action was redacted: then the headline says only that. */
  redacted?: true
  risk: Action['risk']['level']
  attempt: number
  requestedBy: Named
  proposedAt: string
  expiresAt: string | null
  /** Of `action.assigned`: who should decide, null for nobody in particular, and who said so. */
  assignment?: { to: { person: Named } | { role: string } | null; by: Named }
  /** Of `action.decided`. */
  decision?: { by: Named; for: Named | null; verdict: 'approve' | 'decline'; reason: string | null }
  /** The action in the console; null where the server knows no public address. */
  url: string | null
}

/** The body of a webhook. `timestamp` is when it happened; more types may come, so leave those alone that you do not know. */
export type WebhookEvent =
  | { type: WebhookEventType; timestamp: string; data: WebhookActionData }
  | { type: 'webhook.test'; timestamp: string; data: { webhookId: string } }

export interface VerifyWebhookInput {
  /** `whsec_…` */
  secret: string
  /** Of the request: `Headers`, or an object with names in small letters. */
  headers: Headers | Readonly<Record<string, string | string[] | undefined>>
  /** As it arrived, byte for byte: parsed and written again it may differ. */
  body: string | Uint8Array
  /** Epoch milliseconds. Default: now. */
  nowMs?: number
}

/**
 * The event in a request of a webhook, once its signature and its time were checked, after Standard Webhooks. In Node and in browsers.
 * Every attempt has the same `webhook-id`: remember the ids that you have seen, and answer 2xx to a repeat.
 * @throws Error for headers that are missing, a time more than five minutes away, and a signature that is not of this secret.
 * @example
 * const { WEBHOOK_SECRET = '' } = process.env
 * const event = await verifyWebhook({ secret: WEBHOOK_SECRET, headers: request.headers, body: await request.text() })
 * if (event.type === 'action.overdue') await page(event.data.headline, event.data.url)
 */
export async function verifyWebhook({ secret, headers, body, nowMs = Date.now() }: VerifyWebhookInput): Promise<WebhookEvent> {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name]
    if (typeof value !== 'string' || value === '') throw new Error(`the request has no header ${name}`)
    return value
  }) as [string, string, string]
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowMs - Number(timestamp) * 1_000) > TOLERANCE_MS) {
    throw new Error('webhook-timestamp is more than five minutes away from now')
  }
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const head = new TextEncoder().encode(`${id}.${timestamp}.`)
  const signed = new Uint8Array(head.length + bytes.length)
  signed.set(head)
  signed.set(bytes, head.length)
  const raw = fromBase64(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret)
  const key = raw && (await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']))
  if (!key) throw new Error('the secret is not whsec_ and base64')
  for (const signature of signatures.split(' ').slice(0, 10)) {
    const given = signature.startsWith('v1,') ? fromBase64(signature.slice(3)) : undefined
    // Compares in constant time.
    if (given && (await crypto.subtle.verify('HMAC', key, given, signed))) return JSON.parse(new TextDecoder().decode(bytes))
  }
  throw new Error('no signature of the request is of this secret')
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text === '' || !/^[\w+/]+={0,2}$/.test(text)) return undefined
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
