import type { Client } from '@countersign/client'

/** True where a service worker can be told by a push service. */
export const isSupported = (): boolean =>
  isSecureContext && 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window

/** The choice is a person's, in one browser. */
export const switchOf = (personId: string): string => `countersign-push-${personId}`

/** Subscribes this browser again, where the person chose it: signing out ended the subscription at the server. */
export async function keepSubscribed(client: Client, personId: string): Promise<void> {
  if (localStorage.getItem(switchOf(personId)) !== 'on' || !isSupported() || Notification.permission !== 'granted') return
  // Offline, or without a push service for the moment: the next visit tries again.
  await subscribe(client).catch(() => undefined)
}

/** Subscribes this browser, and tells the server. It may be subscribed already. */
export async function subscribe(client: Client): Promise<void> {
  const { publicKey } = await client.pushSubscriptions.list()
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
