import * as wire from '@countersign/core'
import { expect, test } from 'vitest'
import { openInboxPage, until } from '../testing/inbox-page.ts'

const inbox = openInboxPage(wire)

test('a browser that could not be unsubscribed is shown as one that is notified, until a second press unsubscribes it', async () => {
  const context = inbox.page.context()
  let isReachable = false
  const deleted: string[] = []
  await context.route('**/api/push-subscriptions*', (route) => {
    if (!isReachable) return route.abort('internetdisconnected')
    return route.fulfill({ json: { items: [{ id: 'psh_1', service: 'push', isCurrent: true, createdAt: '' }], publicKey: 'BA' } })
  })
  await context.route('**/api/push-subscriptions/*', (route) => {
    deleted.push(route.request().url().split('/').at(-1) ?? '')
    return route.fulfill({ json: {} })
  })
  await inbox.page.addInitScript(() => {
    // The headless browser of the tests grants it to nobody.
    Object.defineProperty(Notification, 'permission', { value: 'granted' })
    localStorage.setItem('countersign-push-prn_me', 'on')
  })
  await inbox.open()
  await inbox.page.getByRole('button', { name: 'Settings' }).click()
  await inbox.page.getByRole('menuitemcheckbox', { name: 'Notify me while the console is closed', checked: true }).click()
  const again = inbox.page.getByRole('menuitemcheckbox', { name: 'This browser could not unsubscribe: try again', checked: true })
  await again.waitFor()
  expect(deleted).toEqual([])
  isReachable = true
  await again.click()
  await inbox.page.getByRole('menuitemcheckbox', { name: 'Notify me while the console is closed', checked: false }).waitFor()
  await until(async () => deleted).toEqual(['psh_1'])
})
