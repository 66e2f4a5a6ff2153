import type { Client } from '@countersign/client'

/** Subscribes this browser, and tells the server. It may be subscribed already. */
export async function subscribe(client: Client): Promise<void> {
  const { publicKey } = await client.pushSubscriptions.list({ limit: 1 })
  await navigator.serviceWorker.register('/service-worker.js', { updateViaCache: 'none' })
  const { pushManager } = await navigator.serviceWorker.ready
  const known = await pushManager.getSubscription()
  // A browser keeps a subscription for one key. The server has another one after its database was replaced.
  if (known && keyOf(known) !== publicKey) await known.unsubscribe()
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey })
  const { endpoint = '', keys = {} } = subscription.toJSON()
  await client.pushSubscriptions.create({ endpoint, keys: { p256dh: keys.p256dh ?? '', auth: keys.auth ?? '' } })
}

export async function unsubscribe(client: Client): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration()
  const { items } = await client.pushSubscriptions.list()
  for (const { id, isCurrent } of items) if (isCurrent) await client.pushSubscriptions.delete(id)
  await (await registration?.pushManager.getSubscription())?.unsubscribe()
}

function keyOf({ options }: PushSubscription): string {
  const bytes = new Uint8Array(options.applicationServerKey ?? new ArrayBuffer(0))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')
}
