import { CountersignError } from '@countersign/core'
import { pathValueFault } from '@countersign/toolkit/internal'
import { type stored, type Tx, type WebhookRow, webhooks } from '../../store/index.ts'

/** True for an address at or under that of a webhook which takes callbacks. */
export function takesCallback({ url: base, callbacks }: Pick<WebhookRow, 'url' | 'callbacks'>, address: string): boolean {
  const url = new URL(address)
  const at = new URL(base)
  if (callbacks === 0 || url.origin !== at.origin || url.username !== '' || url.password !== '') return false
  const folder = at.pathname.endsWith('/') ? at.pathname : `${at.pathname}/`
  return url.pathname === at.pathname || (url.pathname.startsWith(folder) && staysBelow(url.pathname.slice(folder.length)))
}

/**
 * True for a path that leads out of its folder in no reading: a receiver may decode it, once or twice, or leave out what follows a `;`, after it was
 * checked which address it is under.
 */
const staysBelow = (path: string): boolean =>
  path
    .replace(/\/$/, '')
    .split('/')
    .every((segment) => path === '' || pathValueFault(segment) === undefined)

/**
 * Returns the text of the column `callback`: the address, and the webhook that it is under.
 * @throws CountersignError `forbidden` for an address that no webhook takes callbacks at.
 */
export function* callbackText(callback: { url: string } | undefined): Tx<string | null> {
  if (callback === undefined) return null
  const url = new URL(callback.url)
  url.hash = ''
  const found = (yield* webhooks.listWebhooks.all({})).find((webhook) => webhook.disabled_at === null && takesCallback(webhook, url.href))
  if (!found) {
    throw new CountersignError(
      'forbidden',
      'callback.url is not an address for callbacks. An admin has to add a webhook with "callbacks": true whose URL is this one, or a path above it',
    )
  }
  return JSON.stringify({ webhook: found.id, url: url.href } satisfies stored.StoredCallback)
}
