import AxeBuilder from '@axe-core/playwright'
import type { Browser, Page } from '@playwright/test'
import { setColours } from './busy.ts'
import { approve, approveButton, ask, browserOf, cards, type Demo, decide, expect, openDetails, press, test } from './demo.ts'

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/** A further person with a browser of their own. */
async function person(browser: Browser, demo: Demo, name: string, roles: string[]): Promise<Page> {
  const { key } = await demo.makeKey(name, roles)
  return (await browserOf(browser, demo.url, key)).newPage()
}

const savePolicy = async (demo: Demo, rules: object[]) => {
  const { version, document } = await (await demo.call('GET', '/api/policy')).json()
  const saved = await demo.call(
    'PUT',
    '/api/policy',
    { document: { ...document, rules: [...document.rules, ...rules] }, reason: 'for the journey' },
    { 'if-match': `"${version}"` },
  )
  expect(saved.status).toBe(200)
}

test('an edit is refused at its field or done: the shop gets it, the agent is told, both versions are kept', async ({ page, demo }) => {
  await ask(page, demo, 'mark ORD-001 as processing')
  const card = cards(page)
  await openDetails(card)
  await card.getByText('Edit before you approve').click()
  await card.getByLabel('Order id').fill('not an order')
  await approve(card)
  await expect(card.locator('.cs-field-issue')).toContainText('orderId')
  await expect(card).toHaveAttribute('data-state', 'proposed')
  expect(await demo.effects('ORD-001')).toBe(0)
  await card.getByLabel('Order id').fill('ORD-001')
  await card.getByLabel('New status').selectOption({ label: 'cancelled' })
  await expect(card.getByRole('list', { name: /^Edits/ })).toContainText('newStatusprocessing → cancelled')
  await expect(approveButton(card)).toHaveText('Approve with 1 edit')
  await approve(card)
  await expect(card).toHaveAttribute('data-state', 'succeeded')
  expect((await demo.order('ORD-001')).status).toBe('cancelled')
  expect(await demo.effects('ORD-001')).toBe(1)
  const sessionId = page.url().split('/').at(-1)
  const { items } = await (await demo.call('GET', `/api/sessions/${sessionId}/messages`)).json()
  const told = items.find(({ role }: { role: string }) => role === 'tool')
  expect(told.content).toContain('cancelled')
  const { id } = items.flatMap(({ actions = [] }: { actions?: { id: string; tool: string }[] }) => actions)[0]
  await page.goto(`${demo.url}/actions/${id}`)
  await expect(page.getByTestId('revision')).toContainText('Set order ORD-001 to processing')
  await expect(page.getByTestId('revision')).toContainText('changed the arguments')
})

test('two people approve: nothing runs after the first, and once after the second', async ({ browser, demo }) => {
  const requires = { quorum: 2, roles: ['approver'] }
  await savePolicy(demo, [{ name: 'orders need two', match: { tool: 'updateOrderStatus' }, verdict: 'ask', requires, risk: 'low' }])
  const mia = await person(browser, demo, 'Mia', ['approver'])
  const ben = await person(browser, demo, 'Ben', ['approver'])
  const { id } = await (
    await demo.call('POST', '/api/actions', { tool: 'updateOrderStatus', arguments: { orderId: 'ORD-001', newStatus: 'processing' } })
  ).json()
  await Promise.all([mia, ben].map((each) => each.goto(`${demo.url}/actions/${id}`)))
  await approve(cards(mia))
  await expect(cards(mia)).toContainText('You approved this; others must decide too.')
  await expect(cards(ben)).toContainText(/1 of 2 approvals · Mia approved .* · waits for approver/)
  expect(await demo.effects('ORD-001')).toBe(0)
  await approve(cards(ben))
  await expect(cards(ben)).toHaveAttribute('data-state', 'succeeded')
  await expect(cards(mia)).toHaveAttribute('data-state', 'succeeded')
  await expect(cards(mia)).toContainText('Approved by Mia and Ben')
  expect(await demo.effects('ORD-001')).toBe(1)
  await Promise.all([mia, ben].map((each) => each.context().close()))
})

test('the target changes under the card: asked again with the new values, and only that is done', async ({ page, demo }) => {
  await ask(page, demo, 'cancel ORD-003')
  const card = cards(page)
  await expect(card.locator('del')).toHaveText('pending')
  await demo.changeOrder('ORD-003', 'processing')
  await approve(card)
  await expect(card).toContainText(/status was "pending" and is "processing" now.* Asked again/)
  await expect(card.locator('.cs-changes del')).toHaveText('processing')
  expect((await demo.order('ORD-003')).status).toBe('processing')
  await approve(card)
  await expect(card).toHaveAttribute('data-state', 'succeeded')
  expect((await demo.order('ORD-003')).status).toBe('cancelled')
})

test('"don’t ask again": the next one runs by itself; revoked, people are asked again', async ({ page, demo }) => {
  const order = 'check out two mugs for Ada, ada@example.com'
  await ask(page, demo, order)
  const card = cards(page).first()
  await openDetails(card)
  await card.getByText('Don’t ask again').click()
  await expect(card).toContainText('nothing like it was asked before')
  const dialog = page.getByRole('alertdialog')
  await press(card.getByRole('button', { name: 'Approve and don’t ask again…' }))
  await expect(dialog).toContainText('checkout runs without asking in this session, with exactly these arguments, for 1 hour')
  await decide(dialog.locator('[type=submit]'))
  await expect(card).toHaveAttribute('data-state', 'succeeded')
  const session = page.url()
  const again = async () => {
    const message = page.getByRole('textbox', { name: 'Message' })
    await message.fill(order)
    await message.press('Enter')
  }
  await again()
  await expect(cards(page)).toHaveCount(2)
  await expect(cards(page).nth(1)).toHaveAttribute('data-state', 'succeeded')

  await page.getByRole('link', { name: 'Access' }).click()
  await page.getByRole('navigation', { name: 'Access' }).getByRole('link', { name: 'Grants' }).click()
  const grant = page.getByTestId('grant')
  await expect(grant).toContainText('checkout')
  await expect(grant).toContainText('Used once')
  await grant.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click()
  await expect(page.getByText('No standing grants')).toBeVisible()
  await page.goto(session)
  await again()
  await expect(cards(page).nth(2)).toHaveAttribute('data-state', 'proposed')
})

test('a policy saved with a rule that denies: the next call is denied with the reason; a version that is old is not saved over', async ({
  page,
  demo,
}) => {
  await page.goto(`${demo.url}/policy`)
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const text = page.getByLabel('Document (YAML or JSON)')
  const rules = (await text.inputValue()).trimEnd()
  await text.fill(`${rules}\n  - { name: nobody cancels, match: { tool: updateOrder, when: "args.newStatus ==" }, verdict: deny }\n`)
  await expect(page.getByTestId('policy-checked')).toContainText('updateOrder')
  await text.fill(
    `${rules}\n  - { name: nobody cancels, match: { tool: updateOrderStatus, when: 'args.newStatus == "cancelled"' }, verdict: deny }\n`,
  )
  await expect(page.getByText('It can be used')).toBeVisible()
  await expect(page.locator('.diff ins')).toContainText('nobody cancels')
  await page.getByLabel(/^Reason/).fill('Cancelling is for the desk lead')
  await page.getByRole('button', { name: 'Save and activate' }).click()
  await expect(page.getByTestId('policy-text')).toContainText('nobody cancels')
  await expect(page.getByTestId('policy-version').first()).toContainText('Cancelling is for the desk lead')

  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await text.fill(rules)
  await page.getByLabel(/^Reason/).fill('mine')
  await savePolicy(demo, [])
  await page.getByRole('button', { name: 'Save and activate' }).click()
  await expect(page.getByTestId('policy-editor').getByRole('alert')).toContainText('Somebody saved another version')

  await ask(page, demo, 'cancel ORD-003')
  const declined = async () => (await (await demo.call('GET', '/api/actions?state=declined')).json()).items[0]?.policy.rule
  await expect.poll(declined).toBe('nobody cancels')
  await expect(page.getByRole('region', { name: 'Conversation' })).toContainText('nobody cancels')
  expect((await demo.order('ORD-003')).status).toBe('pending')
})

test('an old version of the policy is in force again with a reason, as a new version', async ({ page, demo }) => {
  const before = (await (await demo.call('GET', '/api/policy')).json()).version
  await savePolicy(demo, [{ name: 'nobody cancels', match: { tool: 'updateOrderStatus' }, verdict: 'deny' }])
  await page.goto(`${demo.url}/policy`)
  await expect(page.getByTestId('policy-text')).toContainText('nobody cancels')
  // The versions follow the rules, however tall the panels beside them are.
  const gap = () =>
    page.getByRole('heading', { name: 'Versions' }).evaluate((heading) => {
      const yaml = [...document.querySelectorAll('details')].find((each) => each.textContent?.includes('As YAML'))
      return Math.abs(heading.getBoundingClientRect().top - (yaml?.getBoundingClientRect().bottom ?? Number.NaN))
    })
  await expect.poll(gap).toBeLessThan(40)
  const versions = page.getByTestId('policy-version')
  await expect(versions.first()).toContainText(`Version ${before + 1}`)
  const old = versions.filter({ hasText: `Version ${before}` })
  await old.getByText('What it changed').click()
  const back = old.getByRole('button', { name: `Roll back to version ${before}` })
  await back.click()
  // Without a reason nothing is sent.
  await expect(versions.first()).toContainText(`Version ${before + 1}`)
  await old.getByLabel(`Why go back to version ${before}?`).fill('The desk may cancel again')
  await back.click()
  await expect(versions.first()).toContainText(`Version ${before + 2}`)
  await expect(versions.first()).toContainText('The desk may cancel again')
  await expect(versions.first()).toContainText('In force')
  await expect(page.getByTestId('policy-text')).not.toContainText('nobody cancels')
  const { id } = await (
    await demo.call('POST', '/api/actions', { tool: 'updateOrderStatus', arguments: { orderId: 'ORD-002', newStatus: 'shipped' } })
  ).json()
  expect((await (await demo.call('GET', `/api/actions/${id}`)).json()).state).toBe('proposed')
})

test('a rule is made in the form and saved; the list counts its calls, leads to them, and the page of the tool names it', async ({
  page,
  demo,
}) => {
  await page.goto(`${demo.url}/policy`)
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await page.getByText('Edit one rule in a form').click()
  const form = page.getByTestId('rule-form')
  await form.getByRole('button', { name: 'Add a rule' }).click()
  await form.getByLabel('Name').fill('nobody cancels')
  await form.getByLabel('Verdict').selectOption('deny')
  await form.getByLabel(/^Tool/).fill('updateOrder')
  await expect(form.getByText('fits no tool')).toBeVisible()
  await form.getByLabel(/^Tool/).fill('updateOrderStatus')
  const condition = form.getByLabel(/^Condition/)
  await condition.pressSequentially('args.newStatsu == "x"')
  await expect(form.getByText('names args.newStatsu, which updateOrderStatus does not have')).toBeVisible()
  await condition.fill('')
  await condition.pressSequentially('newS')
  await expect(page.getByRole('listbox').getByRole('option')).toHaveText('args.newStatusstring')
  await condition.press('ArrowDown')
  await condition.press('Enter')
  await condition.pressSequentially(' == ')
  await page.getByRole('option', { name: '"cancelled"' }).click()
  await expect(condition).toHaveValue('args.newStatus == "cancelled"')
  await expect(page.getByText('It can be used')).toBeVisible()
  await page.getByLabel(/^Reason, for the list/).fill('Cancelling is for the desk lead')
  await page.getByRole('button', { name: 'Save and activate' }).click()
  const rule = page.getByTestId('policy-rule').filter({ hasText: 'nobody cancels' })
  await expect(rule).toContainText('Calls of updateOrderStatus are denied where args.newStatus == "cancelled".')
  await expect(rule).toContainText('No calls in 30 days')

  const { id } = await (
    await demo.call('POST', '/api/actions', { tool: 'updateOrderStatus', arguments: { orderId: 'ORD-003', newStatus: 'cancelled' } })
  ).json()
  await page.reload()
  await rule.getByRole('link', { name: '1 call in 30 days by nobody cancels' }).click()
  await expect(page.getByTestId('decided-row')).toHaveCount(1)
  await page.getByRole('link', { name: 'Tools' }).click()
  await page.getByRole('link', { name: 'updateOrderStatus' }).click()
  await expect(page.getByTestId('tool-rule').filter({ hasText: 'nobody cancels' })).toContainText('Deny')
  await page.getByTestId('tool-call').first().getByRole('link').click()
  await expect(page).toHaveURL(new RegExp(`/actions/${id}$`))
})

test('a key is made, shown once and revoked; the record says so; who has no role finds no such pages', async ({ page, browser, demo }) => {
  await page.goto(`${demo.url}/keys`)
  await page.getByText('Make a key').first().click()
  await page.getByLabel('Name', { exact: true }).fill('Nightly job')
  await page.getByRole('combobox', { name: /^For/ }).selectOption('agent')
  await page.getByRole('button', { name: 'Make a key' }).click()
  const key = (await page.getByTestId('key-text').textContent()) ?? ''
  expect(key.length).toBeGreaterThan(20)
  await page.getByRole('button', { name: 'I have it' }).click()
  await expect(page.getByText(key)).toHaveCount(0)
  const row = page.getByTestId('key').filter({ hasText: 'Nightly job' })
  await row.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click()
  await expect(row).toHaveAttribute('data-revoked', 'true')
  await page.goto(`${demo.url}/record?kind=key_revoked`)
  await expect(page.getByTestId('record-row')).toHaveCount(1)
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export CSV' }).click()])
  expect(file.suggestedFilename()).toMatch(/^countersign-audit-.*\.csv$/)
  const approver = await person(browser, demo, 'Mia', ['approver'])
  await approver.goto(demo.url)
  await expect(approver.getByRole('link', { name: 'Policy' })).toBeVisible()
  for (const name of ['Record', 'People', 'Keys']) await expect(approver.getByRole('link', { name })).toHaveCount(0)
  await approver.context().close()
})

test('axe finds nothing on edit form, policy, grants, record, keys, delegations and console sessions in both themes; the CSP holds; 320 px is enough', async ({
  page,
  demo,
}) => {
  const broken: string[] = []
  page.on('console', (message) => {
    if (/content security policy/i.test(message.text())) broken.push(message.text())
  })
  const expectNoViolations = async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await setColours(page, colorScheme)
      const { violations } = await new AxeBuilder({ page }).withTags(WCAG).analyze()
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`)).toEqual([])
    }
  }
  const isNarrow = () =>
    page.evaluate(() => [document.documentElement, document.querySelector('#main')].every((part) => part && part.scrollWidth <= 320))
  const checkout = { tool: 'checkout', arguments: { items: [{ productId: 'mug', quantity: 2 }], customerName: 'Ada' } }
  const { id } = await (await demo.call('POST', '/api/actions', checkout)).json()
  await page.setViewportSize({ width: 320, height: 640 })
  await page.goto(`${demo.url}/actions/${id}`)
  await openDetails(cards(page))
  await cards(page).getByText('Edit before you approve').click()
  await cards(page).getByText('Don’t ask again').click()
  await expect(cards(page).getByLabel('Quantity')).toHaveValue('2')
  await expect(cards(page)).toContainText('Exactly these arguments')
  await expectNoViolations()
  expect(await isNarrow()).toBe(true)
  await page.goto(`${demo.url}/policy`)
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await expectNoViolations()
  expect(await isNarrow()).toBe(true)
  for (const path of ['grants', 'record', 'keys', 'delegations', 'consoles']) {
    await page.goto(`${demo.url}/${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await expect(page.locator('[aria-busy=true]')).toHaveCount(0)
    if (path === 'keys') await page.getByText('Make a key').first().click()
    if (path === 'delegations') await page.getByLabel(/^Who votes/).waitFor()
    await expectNoViolations()
    expect(await isNarrow()).toBe(true)
  }
  expect(broken).toEqual([])
})
