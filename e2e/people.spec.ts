import { userInfo } from 'node:os'
import AxeBuilder from '@axe-core/playwright'
import type { Browser, Page } from '@playwright/test'
import { callWith } from './call.ts'
import { approve, browserOf, cards, type Demo, expect, expectNoSideScroll, test } from './demo.ts'
import { typeWord } from './typed-word.ts'

/** Signs somebody in with a key of their own, in a browser of their own. */
async function person(browser: Browser, demo: Demo, name: string, roles: string[]): Promise<{ page: Page; id: string; key: string }> {
  const { key, principal } = await demo.makeKey(name, roles)
  return { page: await signedIn(browser, demo, key), id: principal.id, key }
}

async function signedIn(browser: Browser, demo: Demo, key: string): Promise<Page> {
  return (await browserOf(browser, demo.url, key)).newPage()
}

const confirm = (page: Page) => page.getByRole('alertdialog').getByRole('button').last().click()

/** Invites by Enter, which sends nothing while another change of the list is on its way: the page may hear of that change before its answer. */
async function invite(page: Page, name: string): Promise<void> {
  await expect(page.getByRole('button', { name: 'Invite' })).toBeEnabled()
  const field = page.getByLabel(/^Invite a person/)
  await field.fill(name)
  await field.press('Enter')
}

test('delegation: somebody lends their place, the other votes in it, and taken back it is gone', async ({ browser, demo }) => {
  const fay = await person(browser, demo, 'Fay', ['approver'])
  const vic = await person(browser, demo, 'Vic', ['viewer'])
  const order = (orderId: string) =>
    demo.call('POST', '/api/actions', { tool: 'updateOrderStatus', arguments: { orderId, newStatus: 'processing' } })
  const { id } = await (await order('ORD-001')).json()
  await vic.page.goto(`${demo.url}/actions/${id}`)
  await expect(cards(vic.page)).toContainText('Waiting for someone with the role approver')

  await fay.page.goto(demo.url)
  await fay.page.getByRole('link', { name: 'Access' }).click()
  // The form is open, because nobody has given a place yet.
  await fay.page.getByLabel(/^Who votes/).fill('Vic')
  await fay.page.getByLabel('Reason (optional)').fill('On leave')
  await fay.page.getByRole('button', { name: 'Delegate' }).click()
  await expect(fay.page.getByTestId('delegation')).toContainText('Vic in the place of you')
  await expect(fay.page.getByTestId('delegation')).toContainText('On leave')
  // A delegation that arrives does not close the form, in which a person may be typing.
  await expect(fay.page.getByLabel(/^Who votes/)).toBeVisible()

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

test('a delegate without a role of their own hears of it on the open page, and decides what waited before', async ({ browser, demo }) => {
  const fay = await person(browser, demo, 'Fay', ['approver'])
  const del = await person(browser, demo, 'Del', [])
  await demo.call('POST', '/api/actions', { tool: 'updateOrderStatus', arguments: { orderId: 'ORD-001', newStatus: 'processing' } })
  await del.page.goto(`${demo.url}/waiting`)
  await expect(del.page.getByText('Nothing for you to decide')).toBeVisible()
  await demo.call('POST', '/api/delegations', { from: fay.id, to: del.id, expiresIn: 'PT1H' })
  await expect(del.page.getByTestId('waiting-row')).toHaveCount(1)
  await del.page.reload()
  await del.page.getByTestId('waiting-row').first().click()
  await approve(cards(del.page))
  await expect.poll(() => demo.effects('ORD-001')).toBe(1)
  await Promise.all([fay, del].map(({ page }) => page.context().close()))
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
    await expect(other.getByTestId('sign-in-link')).toBeVisible()
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

  // The test uses the edited document.
  await page.getByRole('combobox', { name: 'Tool' }).selectOption({ label: 'updateOrderStatus' })
  await page.getByLabel('Arguments as JSON').fill('{"orderId":"ORD-001","newStatus":"cancelled"}')
  await page.getByRole('button', { name: 'Try it' }).click()
  await expect(page.getByTestId('tested-call')).toContainText(
    /In force\s*It would need approval.*With this text\s*It would be denied: rule “nobody cancels”/,
  )
  await expect(page.getByTestId('replayed')).toContainText('1 from ask to deny')

  await page.getByLabel(/^Reason/).fill('Cancelling is for the desk lead')
  await page.getByRole('checkbox', { name: /^Only try it/ }).check()
  await page.getByRole('button', { name: 'Save as trial' }).click()
  const shadow = page.getByTestId('shadow')
  await expect(shadow).toContainText('It decides nothing')
  expect((await (await propose()).json()).state).toBe('proposed')
  await page.reload()
  await expect(shadow).toContainText('it would have decided 1 differently')
  await expect(shadow).toContainText('from ask to deny')
  await expect(shadow.getByRole('row', { name: 'deny 0 1 +1' })).toBeVisible()
  await shadow.getByRole('button', { name: 'Activate' }).click()
  await expect(shadow).toHaveCount(0)
  await expect(page.getByTestId('policy-text')).toContainText('nobody cancels')
  const version = page.getByTestId('policy-version').filter({ hasText: 'Version 2' })
  await version.getByText('What it changed').click()
  await expect(version).toContainText(`added "nobody cancels": { match: { when: args.newStatus == "cancelled" }, verdict: deny }`)
  expect((await (await propose()).json()).policy.rule).toBe('nobody cancels')
})

test('a member chats and decides nothing; who is invited writes in the session, and the chat says who wrote what', async ({
  browser,
  demo,
}) => {
  const mem = await person(browser, demo, 'Mem', ['member'])
  const gil = await person(browser, demo, 'Gil', ['member'])
  const appa = await person(browser, demo, 'Appa', ['approver'])
  await mem.page.goto(demo.url)
  await mem.page.getByRole('textbox', { name: 'Message' }).fill('mark ORD-001 as processing')
  await mem.page.keyboard.press('Enter')
  const card = cards(mem.page)
  await expect(card).toContainText('Waiting for someone with the role approver')
  await expect(card.getByRole('button', { name: /^(Approve|Decline)/ })).toHaveCount(0)
  const address = mem.page.url()

  await gil.page.goto(address)
  await expect(gil.page.getByRole('heading', { name: 'Session not found' })).toBeVisible()
  // An approver sees it, decides there, and is told how to write.
  await appa.page.goto(address)
  await expect(appa.page.getByText(/You may approve or decline here. .* ask Mem/)).toBeVisible()
  await typeWord(appa.page, 'reject', async () => (await cards(appa.page).getAttribute('data-state')) !== 'proposed')
  await expect(cards(appa.page)).toHaveAttribute('data-state', 'declined')
  await expect(
    appa.page.getByText('You may read this session. To write in it, ask Mem, who owns it, or an admin to invite you.'),
  ).toBeVisible()
  await expect(appa.page.getByTestId('send')).toBeDisabled()

  await mem.page.getByText('Can write here: Mem').click()
  await mem.page.getByLabel(/^Invite a person/).fill('Nobody of that name')
  await mem.page.getByRole('button', { name: 'Invite' }).click()
  await expect(mem.page.getByRole('alert').filter({ hasText: 'there is no person' })).toBeVisible()
  await invite(mem.page, 'Gil')
  await expect(mem.page.getByTestId('participants')).toContainText('Can write here: Mem, Gil')
  await mem.page.setViewportSize({ width: 320, height: 640 })
  await expectNoSideScroll(mem.page)
  expect((await new AxeBuilder({ page: mem.page }).analyze()).violations).toEqual([])

  // Anyone with the session open sees it at once.
  await expect(appa.page.getByTestId('participants')).toContainText('Can write here: Mem, Gil')
  await gil.page.reload()
  await expect(gil.page.getByTestId('participants')).toContainText('Can write here: Mem, Gil')
  await gil.page.getByRole('textbox', { name: 'Message' }).fill('mark ORD-003 as processing')
  await gil.page.keyboard.press('Enter')
  await expect(mem.page.getByTestId('author').last()).toHaveText(/^Gil/)
  await expect(cards(mem.page).last()).toContainText('for Mem and Gil')

  await mem.page.getByRole('button', { name: 'Remove Gil from this session' }).click()
  await expect(mem.page.getByTestId('participants')).toContainText(/Can write here: Mem$|Can write here: Mem[^,]/)
  await expect(appa.page.getByTestId('participants')).toHaveCount(0)
  await gil.page.reload()
  await expect(gil.page.getByRole('heading', { name: 'Session not found' })).toBeVisible()
  await invite(mem.page, 'Appa')
  await expect(appa.page.getByTestId('participants')).toContainText('Can write here: Mem, Appa')
  await appa.page.getByRole('textbox', { name: 'Message' }).fill('thanks')
  await expect(appa.page.getByTestId('send')).toBeEnabled()
  await Promise.all([mem, gil, appa].map(({ page }) => page.context().close()))
})

test('an admin sees what somebody can act with, changes a role, and shuts them out: they are signed out at once', async ({
  browser,
  page,
  demo,
}) => {
  const lea = await person(browser, demo, 'Lea', ['approver'])
  await lea.page.goto(demo.url)
  await expect(lea.page.getByTestId('account')).toBeVisible()
  await page.setViewportSize({ width: 320, height: 700 })
  await page.goto(`${demo.url}/people`)
  await page.getByLabel('Find by name or id').fill('Lea')
  await page.getByRole('link', { name: 'Lea' }).click()
  await expect(page.getByRole('heading', { name: 'Lea' })).toBeVisible()
  await expect(page.getByRole('region', { name: 'Console sessions' }).getByRole('listitem')).toHaveCount(1)
  await page.getByLabel('Another role').fill('finance')
  await page.getByRole('button', { name: 'Add the role' }).click()
  await expect(page.getByTestId('role')).toHaveText([/^approver/, /^finance/])
  await page.getByRole('button', { name: 'Remove the role finance' }).click()
  await expect(page.getByTestId('role')).toHaveCount(1)
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']).analyze()
  expect(violations).toEqual([])
  await expectNoSideScroll(page)

  await page.getByRole('button', { name: 'Disable Lea' }).press('Enter')
  await confirm(page)
  await expect(page.getByRole('button', { name: 'Enable Lea' })).toBeVisible()
  await expect(page.getByText('Not signed in anywhere.')).toBeVisible()
  await lea.page.reload()
  await expect(lea.page.getByTestId('sign-in-link')).toBeVisible()
  await lea.page.context().close()
})

test('a key that somebody else made is accepted by its person in the console', async ({ browser, demo }) => {
  const lea = await person(browser, demo, 'Lea', ['approver'])
  const made = await (await demo.call('POST', '/api/keys', { name: 'CI of Lea', kind: 'person', principal: lea.id })).json()
  const me = async () => (await (await callWith(made.key, () => demo.url)('GET', '/api/me')).json()).principal
  expect((await me()).unaccepted).toBe(true)
  await lea.page.goto(`${demo.url}/consoles`)
  await expect(lea.page.getByTestId('unaccepted-key')).toContainText(`by ${userInfo().username}`)
  await lea.page.getByRole('button', { name: 'Accept the key CI of Lea' }).click()
  await expect(lea.page.getByTestId('unaccepted-key')).toHaveCount(0)
  expect((await me()).unaccepted).toBeUndefined()
  await lea.page.context().close()
})
