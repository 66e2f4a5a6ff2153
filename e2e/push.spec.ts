import type { CDPSession, Page, Worker } from '@playwright/test'
import { expect } from './demo.ts'
import { openInbox, test } from './office.ts'

/** Registers the console's service worker, and waits until messages can be delivered to it. */
async function startWorker(page: Page): Promise<{ devTools: CDPSession; registrationId: string }> {
  const devTools = await page.context().newCDPSession(page)
  const registered = new Promise<string>((resolve) => {
    devTools.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
      const active = versions.find(({ status }) => status === 'activated')
      if (active) resolve(active.registrationId)
    })
  })
  await devTools.send('ServiceWorker.enable')
  await page.evaluate(async () => {
    await navigator.serviceWorker.register('/service-worker.js')
    await navigator.serviceWorker.ready
  })
  return { devTools, registrationId: await registered }
}

/** The service worker's own world. What it still works on is counted in it from now on. */
async function watchWorker(page: Page): Promise<Worker> {
  const [worker = await page.context().waitForEvent('serviceworker')] = page.context().serviceWorkers()
  await worker.evaluate(() => {
    const work = { ended: 0 }
    Object.assign(self, { work })
    const { prototype }: { prototype: { waitUntil(promise: Promise<unknown>): void } } = Reflect.get(self, 'ExtendableEvent')
    const waitUntil = prototype.waitUntil
    prototype.waitUntil = function (promise) {
      waitUntil.call(this, promise)
      const end = () => void work.ended++
      promise.then(end, end)
    }
  })
  return worker
}

// The headless shell shows no notifications.
test.use({ launchOptions: async ({ launchOptions }, use) => use({ ...launchOptions, executablePath: '/usr/bin/chromium' }) })

const shown = (page: Page) =>
  page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready
    return (await registration.getNotifications()).map(({ title, body, tag }) => ({ title, body, tag }))
  })

test('a pushed message is shown while nobody looks, withdrawn by the next one, and its click opens the card', async ({
  context,
  page,
  office,
}) => {
  await context.grantPermissions(['notifications'])
  const { id } = await office.agentProposes('pushed')
  await openInbox(page, office)
  await page.getByRole('button', { name: 'Settings' }).click()
  const offer = page.getByRole('menuitemcheckbox', { name: 'Notify me while the console is closed' })
  await expect(offer).toBeVisible()
  // On the menu: its items are drawn a moment before the focus is in it, and Escape pressed elsewhere closes nothing.
  await offer.press('Escape')
  const { devTools, registrationId } = await startWorker(page)
  const worker = await watchWorker(page)
  // A phone offers to install it: with icons of the sizes that it wants. The browser of a test keeps nothing, which is the one obstacle.
  const { installabilityErrors } = await devTools.send('Page.getInstallabilityErrors')
  expect(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito')).toEqual([])
  let delivered = 0
  /** Resolves when the worker has done what it does with the message: what it shows late would stay after it was withdrawn. */
  const deliver = async (message: object) => {
    const { origin } = new URL(page.url())
    await devTools.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data: JSON.stringify(message) })
    delivered++
    await expect.poll(() => worker.evaluate(() => (self as unknown as { work: { ended: number } }).work.ended)).toBe(delivered)
  }
  const show = { tag: id, title: 'Keyed', body: 'Medium risk · waits for your decision', url: `/actions/${id}` }

  // Somebody looks at the console: the page says it.
  await deliver({ show })
  await deliver({ withdraw: { tag: 'act_other' } })
  expect(await shown(page)).toEqual([])
  // Safari ends a subscription whose messages show nothing.
  await expect(async () => {
    await deliver({ show: { ...show, always: true } })
    await expect.poll(() => shown(page), { timeout: 5_000 }).toMatchObject([{ tag: id }])
  }).toPass()
  await deliver({ withdraw: { tag: id } })
  await expect.poll(() => shown(page)).toEqual([])

  // Another tab lies in front of it.
  const front = await context.newPage()
  await front.bringToFront()
  await page.evaluate(() => navigator.serviceWorker.ready)
  await worker.evaluate(() => {
    const { clients } = self as unknown as { clients: { matchAll(options: object): Promise<object[]> } }
    const all = clients.matchAll.bind(clients)
    // Pages of a headless browser are always visible.
    clients.matchAll = async (options) =>
      (await all(options)).map(
        (one) => new Proxy(one, { get: (page, name) => (name === 'visibilityState' ? 'hidden' : bound(page, name)) }),
      )
    const bound = (page: object, name: string | symbol) => {
      const value: unknown = Reflect.get(page, name)
      return typeof value === 'function' ? value.bind(page) : value
    }
  })
  // Chromium forgets a notification that somebody asks for before it is on the screen (1 of 10 times here). The same tag replaces it.
  const isShown = () =>
    expect(async () => {
      await deliver({ show })
      await expect.poll(() => shown(page), { timeout: 5_000 }).toEqual([{ title: show.title, body: show.body, tag: id }])
    }).toPass()
  await isShown()
  await deliver({ withdraw: { tag: id } })
  await expect.poll(() => shown(page)).toEqual([])

  // Of a reminder the person hears, too, while the first message is on the screen.
  const callsAgain = () =>
    page.evaluate(async () => (await (await navigator.serviceWorker.ready).getNotifications()).map((one) => Reflect.get(one, 'renotify')))
  await isShown()
  expect(await callsAgain()).toEqual([false])
  await expect(async () => {
    await deliver({ show: { ...show, again: true } })
    await expect.poll(callsAgain, { timeout: 5_000 }).toEqual([true])
  }).toPass()

  await isShown()
  await worker.evaluate(async () => {
    const scope = self as unknown as { registration: ServiceWorkerRegistration; dispatchEvent(event: Event): void }
    const [notification] = await scope.registration.getNotifications()
    const made: Event = Reflect.construct(Reflect.get(self, 'NotificationEvent'), ['notificationclick', { notification }])
    scope.dispatchEvent(made)
  })
  await expect(page).toHaveURL(new RegExp(`/actions/${id}$`))
  await expect.poll(() => shown(page)).toEqual([])
})

test('what begins to wait while nobody looks is notified once, by title and risk, counted on the icon, and withdrawn when it is decided elsewhere', async ({
  context,
  page,
  office,
}) => {
  await context.grantPermissions(['notifications'])
  await page.addInitScript(() => {
    const seen: { title: string; body: string; closed: boolean }[] = []
    class Watched extends Notification {
      constructor(title: string, options: NotificationOptions = {}) {
        super(title, options)
        const note = { title, body: options.body ?? '', closed: false }
        seen.push(note)
        const close = this.close.bind(this)
        this.close = () => {
          note.closed = true
          close()
        }
      }
    }
    Object.assign(window, { Notification: Watched, seen })
    localStorage.setItem('countersign-notify', 'on')
  })
  const seen = () => page.evaluate(() => (window as unknown as { seen: unknown[] }).seen)
  await office.agentProposes('old news')
  await openInbox(page, office)
  const icon = page.locator('link[rel=icon]')
  await expect(icon).toHaveAttribute('href', /%3E1%3C%2Ftext/)
  await expect(page).toHaveTitle(/^\(1\) /)
  // Somebody looks: the page says it.
  await office.agentProposes('while looking')
  await expect(page).toHaveTitle(/^\(2\) /)
  await page.evaluate(() => Object.defineProperty(document, 'visibilityState', { value: 'hidden' }))
  const { id } = await office.agentProposes('secret-4711')
  await expect.poll(seen).toEqual([{ title: 'Do secret-4711', body: 'Medium risk', closed: false }])
  await expect(icon).toHaveAttribute('href', /%3E3%3C%2Ftext/)
  await office.call('POST', `/api/actions/${id}/decision`, { verdict: 'decline' })
  await expect.poll(seen).toEqual([{ title: 'Do secret-4711', body: 'Medium risk', closed: true }])
  await expect(icon).toHaveAttribute('href', /%3E2%3C%2Ftext/)

  const devTools = await context.newCDPSession(page)
  const { errors, data = '' } = await devTools.send('Page.getAppManifest')
  expect(errors).toEqual([])
  expect(JSON.parse(data)).toMatchObject({ name: 'Countersign', start_url: '/waiting', display: 'standalone' })
})
