import type { Browser, Page } from '@playwright/test'
import { approve, cards, type Demo, expect, test } from './demo.ts'

/** Signs somebody in with a key of their own, in a browser of their own. */
async function person(browser: Browser, demo: Demo, name: string, roles: string[]): Promise<{ page: Page; id: string; key: string }> {
  const made = await demo.call('POST', '/api/keys', { name, kind: 'person', roles })
  const { key, principal } = await made.json()
  return { page: await signedIn(browser, demo, key), id: principal.id, key }
}

async function signedIn(browser: Browser, demo: Demo, key: string): Promise<Page> {
  const context = await browser.newContext()
  const answer = await context.request.post(`${demo.url}/api/sign-in`, { data: { key }, headers: { origin: demo.url } })
  expect(answer.status()).toBe(200)
  return context.newPage()
}

const confirm = (page: Page) => page.getByRole('alertdialog').getByRole('button').last().click()

test('delegation: somebody lends their place, the other votes in it, and taken back it is gone', async ({ browser, demo }) => {
  const fay = await person(browser, demo, 'Fay', ['approver'])
  const vic = await person(browser, demo, 'Vic', ['viewer'])
  const order = (orderId: string) =>
    demo.call('POST', '/api/actions', { tool: 'updateOrderStatus', arguments: { orderId, newStatus: 'processing' } })
  const { id } = await (await order('ORD-001')).json()
  await vic.page.goto(`${demo.url}/actions/${id}`)
  await expect(cards(vic.page)).toContainText('Waiting for someone with the role approver')

  await fay.page.goto(demo.url)
  await fay.page.getByRole('link', { name: 'Delegations' }).click()
  await fay.page.getByText('Let somebody vote in your place').click()
  await fay.page.getByLabel(/^Who votes/).fill('Vic')
  await fay.page.getByLabel('Reason (optional)').fill('On leave')
  await fay.page.getByRole('button', { name: 'Delegate' }).click()
  await expect(fay.page.getByTestId('delegation')).toContainText('Vic in the place of you')
  await expect(fay.page.getByTestId('delegation')).toContainText('On leave')

  await vic.page.reload()
  await approve(cards(vic.page))
  await expect(cards(vic.page)).toHaveAttribute('data-state', 'succeeded')
  expect(await demo.effects('ORD-001')).toBe(1)
  await expect(vic.page.getByTestId('vote')).toContainText('Vic approved for Fay')

  await fay.page.getByTestId('delegation').getByRole('button', { name: 'End' }).click()
  await confirm(fay.page)
  await expect(fay.page.getByTestId('delegation')).toHaveAttribute('data-state', 'revoked')
  const later = await (await order('ORD-003')).json()
  await vic.page.goto(`${demo.url}/actions/${later.id}`)
  await expect(cards(vic.page)).toContainText('Waiting for someone with the role approver')
  await Promise.all([fay, vic].map(({ page }) => page.context().close()))
})

test('where one is signed in: another browser is seen there and signed out from here, alone or with all others', async ({
  browser,
  demo,
}) => {
  const { page, key } = await person(browser, demo, 'Mia', ['approver'])
  const others = [await signedIn(browser, demo, key), await signedIn(browser, demo, key), await signedIn(browser, demo, key)]
  await Promise.all(others.map((other) => other.goto(demo.url)))
  await page.goto(demo.url)
  await page.getByTestId('account').click()
  await page.getByRole('menuitem', { name: 'Where you are signed in' }).click()
  const rows = page.getByTestId('console-session')
  await expect(rows).toHaveCount(4)
  await expect(rows.filter({ hasText: 'This browser' })).toHaveCount(1)
  await rows.getByRole('button', { name: 'Sign out' }).first().click()
  await confirm(page)
  await expect(rows).toHaveCount(3)
  await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
  await confirm(page)
  await expect(rows).toHaveCount(1)
  for (const other of others) {
    await other.reload()
    // No longer Mia: whoever sits at this machine.
    await expect(other.getByRole('link', { name: 'Keys and people' })).toBeVisible()
    await other.context().close()
  }
  await page.reload()
  await expect(rows).toHaveCount(1)
  await page.context().close()
})

test('the policy page: try a call, replay what happened, try a version beside the one in force and put it there', async ({
  page,
  demo,
}) => {
  const propose = () =>
    demo.call('POST', '/api/actions', { tool: 'updateOrderStatus', arguments: { orderId: 'ORD-001', newStatus: 'cancelled' } })
  const { policy } = await (await propose()).json()
  expect(policy.verdict).toBe('ask')
  await page.goto(`${demo.url}/policy`)
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const text = page.getByLabel('Document (YAML or JSON)')
  await text.fill(
    `${(await text.inputValue()).trimEnd()}\n  - { name: nobody cancels, match: { when: 'args.newStatus == "cancelled"' }, verdict: deny }\n`,
  )

  // What is edited is what is tried.
  await page.getByText('Try a call with the edited text').click()
  await page.getByRole('combobox', { name: 'Tool' }).selectOption({ label: 'updateOrderStatus' })
  await page.getByLabel('Arguments as JSON').fill('{"orderId":"ORD-001","newStatus":"cancelled"}')
  await page.getByRole('button', { name: 'Try it' }).click()
  await expect(page.getByTestId('tested-call')).toContainText('It would be denied: rule “nobody cancels”')
  await page.getByText('Replay what happened with the edited text').click()
  await page.getByRole('button', { name: 'Replay', exact: true }).click()
  await expect(page.getByTestId('replayed')).toContainText('1 from ask to deny')

  await page.getByLabel(/^Reason/).fill('Cancelling is for the desk lead')
  await page.getByRole('checkbox', { name: /^Only try it/ }).check()
  await page.getByRole('button', { name: 'Save and try beside' }).click()
  const shadow = page.getByTestId('shadow')
  await expect(shadow).toContainText('It decides nothing')
  expect((await (await propose()).json()).state).toBe('proposed')
  await page.reload()
  await expect(shadow).toContainText('otherwise about 1')
  await expect(shadow).toContainText('from ask to deny')
  await shadow.getByRole('button', { name: 'Put it in force' }).click()
  await expect(shadow).toHaveCount(0)
  await expect(page.getByTestId('policy-text')).toContainText('nobody cancels')
  const version = page.getByTestId('policy-version').filter({ hasText: 'Version 2' })
  await version.getByText('What it changed').click()
  await expect(version).toContainText(`added "nobody cancels": { match: { when: args.newStatus == "cancelled" }, verdict: deny }`)
  expect((await (await propose()).json()).policy.rule).toBe('nobody cancels')
})
