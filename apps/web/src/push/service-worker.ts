/** A message of this server, as it is decrypted by the browser. */
type PushMessage =
  | { show: { tag: string; title: string; body: string; url: string; always?: true; again?: true } }
  | { withdraw: { tag: string } }

/** Without `renotify` a notification of the same tag replaces another without a sound. The types of the platform leave it out. */
type ShowOptions = NotificationOptions & { renotify: boolean }

interface Window {
  readonly visibilityState: DocumentVisibilityState
  focus(): Promise<unknown>
  navigate(url: string): Promise<unknown>
}

interface WorkerEvent extends Event {
  waitUntil(work: Promise<unknown>): void
}

/** The parts of a service worker that are used here. The types of workers and those of pages exclude each other. */
interface Worker {
  readonly registration: ServiceWorkerRegistration
  readonly clients: {
    matchAll(options: { type: 'window'; includeUncontrolled: true }): Promise<Window[]>
    openWindow(url: string): Promise<unknown>
    claim(): Promise<void>
  }
  readonly location: Location
  addEventListener(type: 'activate', listener: (event: WorkerEvent) => void): void
  addEventListener(type: 'push', listener: (event: WorkerEvent & { data: { json(): PushMessage } | null }) => void): void
  addEventListener(type: 'notificationclick', listener: (event: WorkerEvent & { notification: Notification }) => void): void
}

const worker = self as unknown as Worker

// Pages that were open before can be brought to a card, too.
worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()))

worker.addEventListener('push', (event) => {
  const message = event.data?.json()
  if (message) event.waitUntil('show' in message ? show(message.show) : withdraw(message.withdraw.tag))
})

worker.addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(open(String(event.notification.data?.url ?? '/waiting')))
})

async function show({ tag, title, body, url, always, again }: Extract<PushMessage, { show: unknown }>['show']): Promise<void> {
  const pages = await pagesOf()
  // The person looks at the console already.
  if (!always && pages.some(({ visibilityState }) => visibilityState === 'visible')) return
  const options: ShowOptions = { body, tag, renotify: again === true, data: { url } }
  await worker.registration.showNotification(title, options)
}

async function withdraw(tag: string): Promise<void> {
  for (const shown of await worker.registration.getNotifications({ tag })) shown.close()
}

/** Opens a page of the console in a window that is open, or in a new one. A click decides nothing. */
async function open(path: string): Promise<void> {
  const url = new URL(path, worker.location.origin)
  if (url.origin !== worker.location.origin) return
  const [page] = await pagesOf()
  if (!page) return void (await worker.clients.openWindow(url.href))
  // A browser may refuse to bring a window to the front; the card opens in it all the same.
  await page.focus().catch(() => undefined)
  await page.navigate(url.href).catch(() => worker.clients.openWindow(url.href))
}

const pagesOf = (): Promise<Window[]> => worker.clients.matchAll({ type: 'window', includeUncontrolled: true })
