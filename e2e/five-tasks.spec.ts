import type { Locator, Page, TestInfo } from '@playwright/test'
import { untilReady } from '../apps/web/src/testing/press.ts'
import type { Action } from '../packages/core/src/index.ts'
import { pressPair, untilSettled } from './busy.ts'
import { type Demo, test as demoTest, expect } from './demo.ts'
import { type Office, openInbox, rowOf, test } from './office.ts'

test.use({ policy: { rules: [{ name: 'risky', match: { when: 'args.what == "bomb"' }, verdict: 'ask', risk: 'high' }] } })

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

/** The steps of a task so far, and when it began. */
const newCount = () => ({ count: 0, beganAtMs: performance.now() })

/** Presses keys on the page as a person does who has no pointer, and counts them. */
function keysOf(page: Page) {
  const keys = {
    ...newCount(),
    async press(key: string) {
      keys.count++
      await page.keyboard.press(key)
    },
    /** The keys that lead to a page. */
    async goWith(key: string) {
      keys.count += 2
      await pressPair(page, 'g', key)
    },
    /** Presses a key until the place has the focus. */
    async pressTo(key: string, place: Locator) {
      await place.waitFor()
      const hasFocus = () => place.evaluate((element) => element === document.activeElement)
      for (let n = 0; !(await hasFocus()); n++) {
        if (n === 40) throw new Error(`the key ${key} does not lead there`)
        await keys.press(key)
      }
    },
    async type(text: string) {
      keys.count += text.length
      await page.keyboard.type(text)
    },
  }
  return keys
}

/** Taps as a person does on a phone, and counts the taps. */
function tapsOf() {
  const taps = {
    ...newCount(),
    async tap(place: Locator) {
      taps.count++
      await place.tap()
    },
  }
  return taps
}

/** Says how many steps a task took, and how long without the time to read and think, and fails where the steps have become more. */
function expectAtMost(
  most: number,
  { count, beganAtMs }: ReturnType<typeof newCount>,
  unit: 'keys' | 'taps',
  { titlePath }: TestInfo,
): void {
  console.log(`${titlePath.slice(1).join(', ')}: ${count} ${unit}, ${((performance.now() - beganAtMs) / 1_000).toFixed(1)} s`)
  expect(count).toBeLessThanOrEqual(most)
}

const dialog = (page: Page) => page.getByRole('dialog')

test.describe('twelve alike wait among others, and all but one are right', () => {
  async function proposeAll(office: Office) {
    const letters: Action[] = []
    for (let n = 1; n <= 12; n++) letters.push(await office.agentProposes(`letter ${n}`))
    const others = [await office.agentProposes('bomb'), await office.agentProposes('a call', { tool: 'unkeyed' })]
    const [odd] = letters.splice(4, 1)
    if (!odd) throw new Error('no letter 5')
    return { letters, odd, others: [...others, odd] }
  }

  async function expectOnlyLettersSent(office: Office, { letters, others }: Awaited<ReturnType<typeof proposeAll>>): Promise<void> {
    for (const { id } of letters) expect(await untilSettled(office, id)).toMatchObject({ state: 'succeeded', attempt: 1 })
    for (const { id } of others)
      expect(await (await office.call('GET', `/api/actions/${id}`)).json()).toMatchObject({ state: 'proposed', votes: [] })
    expect(office.target.writes).toHaveLength(letters.length)
  }

  test('by keys alone: eleven are approved after their preview', async ({ page, office }, info) => {
    const all = await proposeAll(office)
    await openInbox(page, office)
    const keys = keysOf(page)
    await keys.pressTo('j', rowOf(page, all.odd.id))
    await keys.press('Shift+X')
    await expect(page.getByTestId('chosen-bar')).toContainText('12 chosen')
    await keys.press('x')
    await expect(page.getByTestId('chosen-bar')).toContainText('11 chosen')
    await keys.press('a')
    const approve = dialog(page).getByRole('button', { name: 'Approve 11', exact: true })
    await expect(dialog(page).locator('tbody tr')).toHaveCount(11)
    await expect(dialog(page).getByRole('button', { name: 'Cancel' })).toBeFocused()
    await keys.pressTo('Tab', approve)
    await untilReady(approve)
    expect(office.target.writes).toEqual([])
    await keys.press('Enter')
    await expectOnlyLettersSent(office, all)
    expectAtMost(10, keys, 'keys', info)
  })

  test.describe('on a phone', () => {
    test.use(PHONE)

    test('by taps: eleven are approved after their preview', async ({ page, office }, info) => {
      const all = await proposeAll(office)
      const taps = tapsOf()
      await openInbox(page, office)
      await taps.tap(rowOf(page, all.letters[0]?.id ?? '').getByTestId('choose'))
      await taps.tap(page.getByRole('button', { name: 'Choose 12 alike' }))
      await expect(page.getByTestId('chosen-bar')).toContainText('12 chosen')
      await taps.tap(rowOf(page, all.odd.id).getByTestId('choose'))
      await expect(page.getByTestId('chosen-bar')).toContainText('11 chosen')
      await taps.tap(page.getByRole('button', { name: 'Approve…' }))
      const approve = dialog(page).getByRole('button', { name: 'Approve 11', exact: true })
      await untilReady(approve)
      await taps.tap(approve)
      await expectOnlyLettersSent(office, all)
      expectAtMost(5, taps, 'taps', info)
    })
  })
})

test.describe('a refund of yesterday is to be found', () => {
  test.use({ timezoneId: 'UTC' })
  const DAY_MS = 24 * 60 * 60_000

  /** A refund that was declined, and a browser in which it is noon of the next day; another action still waits. */
  async function refundOfYesterday(page: Page, office: Office): Promise<Action> {
    const refund = await office.agentProposes('refund 4711')
    const declined = await office.call('POST', `/api/actions/${refund.id}/decision`, { verdict: 'decline' })
    expect(declined.status).toBe(200)
    await office.agentProposes('something else')
    await page.clock.install({ time: (Math.floor(Date.parse((await declined.json()).settledAt) / DAY_MS) + 1.5) * DAY_MS })
    await openInbox(page, office)
    return refund
  }

  const decided = (page: Page) => page.getByTestId('decided-row').getByRole('link', { name: 'Do refund 4711' })

  test('by keys alone: not among what was decided today, but yesterday', async ({ page, office }, info) => {
    const { id } = await refundOfYesterday(page, office)
    const keys = keysOf(page)
    await keys.goWith('h')
    await page.waitForURL(/\/history/)
    await page.getByRole('searchbox', { name: 'Search', exact: true }).waitFor()
    await keys.press('/')
    await keys.pressTo('Tab', page.getByRole('button', { name: 'Today' }))
    await keys.press('Enter')
    await expect(page.getByTestId('history-empty')).toBeVisible()
    await keys.press('Tab')
    await keys.press('Enter')
    await expect(decided(page)).toBeVisible()
    await keys.press('/')
    await keys.press('Enter')
    await keys.pressTo('Tab', decided(page))
    await keys.press('Enter')
    await page.waitForURL(`**/actions/${id}`)
    expectAtMost(11, keys, 'keys', info)
  })

  test('by keys alone: by its number', async ({ page, office }, info) => {
    const { id } = await refundOfYesterday(page, office)
    const keys = keysOf(page)
    await keys.goWith('h')
    await page.waitForURL(/\/history/)
    await page.getByRole('searchbox', { name: 'Search', exact: true }).waitFor()
    await keys.press('/')
    const searched = page.waitForRequest((request) => new URL(request.url()).searchParams.get('words') === '"4711"')
    await keys.type('4711')
    await expect(page).toHaveURL(/q=4711/)
    // Until then the rows are those from before, and their links go.
    await searched
    await expect(decided(page)).toBeVisible()
    await keys.press('Enter')
    await keys.pressTo('Tab', decided(page))
    await keys.press('Enter')
    await page.waitForURL(`**/actions/${id}`)
    expectAtMost(10, keys, 'keys', info)
  })

  test.describe('on a phone', () => {
    test.use(PHONE)

    test('by taps: among what was decided yesterday', async ({ page, office }, info) => {
      const { id } = await refundOfYesterday(page, office)
      const taps = tapsOf()
      await taps.tap(page.getByRole('button', { name: /menu|navigation/i }).first())
      await taps.tap(dialog(page).getByRole('link', { name: 'Decided' }))
      const narrowed = page.waitForRequest((request) => new URL(request.url()).searchParams.has('settledBefore'))
      await taps.tap(page.getByRole('button', { name: 'Yesterday' }))
      // Until then the rows are those from before, and their links go.
      await narrowed
      await expect(decided(page)).toBeVisible()
      await taps.tap(decided(page))
      await page.waitForURL(`**/actions/${id}`)
      expectAtMost(4, taps, 'taps', info)
    })
  })
})

test.describe('somebody else is to decide during a holiday', () => {
  async function makeBen(office: Office): Promise<void> {
    expect((await office.call('POST', '/api/keys', { name: 'Ben', kind: 'person', roles: ['approver'] })).status).toBe(201)
    await office.agentProposes('a letter')
  }
  const handedOver = (page: Page) => page.getByTestId('delegation').filter({ hasText: /Ben.*in the place of.*you/ })

  async function expectHandedOver(page: Page, office: Office): Promise<void> {
    await expect(handedOver(page)).toHaveAttribute('data-state', 'standing')
    const { items } = await (await office.call('GET', '/api/delegations')).json()
    expect(items).toMatchObject([{ to: { name: 'Ben' }, state: 'standing' }])
  }

  test('by keys alone', async ({ page, office }, info) => {
    await makeBen(office)
    await openInbox(page, office)
    const keys = keysOf(page)
    await keys.goWith('d')
    await page.waitForURL(/\/delegations/)
    await keys.pressTo('Tab', page.getByLabel(/^Who votes/))
    await keys.type('Ben')
    await keys.press('Enter')
    await expectHandedOver(page, office)
    expectAtMost(15, keys, 'keys', info)
  })

  test.describe('on a phone', () => {
    test.use(PHONE)

    test('by taps', async ({ page, office }, info) => {
      await makeBen(office)
      await openInbox(page, office)
      const taps = tapsOf()
      await taps.tap(page.getByRole('button', { name: /menu|navigation/i }).first())
      await taps.tap(dialog(page).getByRole('link', { name: 'Access' }))
      await taps.tap(page.getByRole('navigation', { name: 'Access' }).getByRole('link', { name: 'Delegations' }))
      await taps.tap(page.getByLabel(/^Who votes/))
      await page.keyboard.type('Ben')
      await taps.tap(page.getByRole('button', { name: 'Delegate', exact: true }))
      await expectHandedOver(page, office)
      expectAtMost(5, taps, 'taps', info)
    })
  })
})

test.describe('a rule asks too often, and is to be loosened safely', () => {
  test.use({
    policy: { rules: [{ name: 'calls', match: { tool: 'unkeyed' }, verdict: 'ask', requires: { roles: ['approver'] }, expires: 'P7D' }] },
  })

  const verdict = (page: Page) => page.getByRole('combobox', { name: 'Verdict' })
  const numbers = (page: Page) => page.getByTestId('replayed')
  const why = (page: Page) => page.getByLabel(/^Reason/)
  const save = (page: Page) => page.getByRole('button', { name: 'Save and activate' })

  async function expectLoosened(page: Page, office: Office): Promise<void> {
    await expect(page.getByTestId('policy-editor')).toHaveCount(0)
    const call = await office.agentProposes('another call', { tool: 'unkeyed' })
    expect(call.policy).toMatchObject({ verdict: 'allow', rule: 'calls' })
  }

  test('by keys alone: what it would have done is read before it is saved', async ({ page, office }, info) => {
    await office.agentProposes('a call', { tool: 'unkeyed' })
    await openInbox(page, office)
    const keys = keysOf(page)
    await keys.press('Control+k')
    await dialog(page).getByRole('combobox').waitFor()
    await keys.type('calls')
    await expect(dialog(page).getByRole('option').first()).toContainText('Change the rule calls')
    await keys.press('Enter')
    await expect(verdict(page)).toBeFocused()
    await keys.type('al')
    await expect(numbers(page)).toContainText('1 from ask to allow')
    await keys.press('Control+Enter')
    await expect(why(page)).toBeFocused()
    await keys.type('often')
    await expect(save(page)).toBeEnabled()
    await keys.press('Enter')
    await expectLoosened(page, office)
    expectAtMost(16, keys, 'keys', info)
  })

  test('the numbers follow each change, and those of the text before are not shown any more', async ({ page, office }) => {
    await office.agentProposes('a call', { tool: 'unkeyed' })
    await page.goto(`${office.url}/policy`)
    await page.getByRole('button', { name: 'Change the rule calls' }).click()
    await verdict(page).selectOption('allow')
    await expect(numbers(page)).toContainText('1 from ask to allow')
    await verdict(page).selectOption('deny')
    await expect(numbers(page)).not.toContainText('allow 0 1')
    await expect(numbers(page)).toContainText('1 from ask to deny')
  })

  test.describe('on a phone', () => {
    test.use(PHONE)

    test('by taps: what it would have done is read before it is saved', async ({ page, office }, info) => {
      await office.agentProposes('a call', { tool: 'unkeyed' })
      await openInbox(page, office)
      const taps = tapsOf()
      await taps.tap(page.getByRole('button', { name: /menu|navigation/i }).first())
      await taps.tap(dialog(page).getByRole('link', { name: 'Policy' }))
      await taps.tap(page.getByRole('button', { name: 'Change the rule calls' }))
      // The list of a field opens in the system's own window, and takes one tap more.
      await taps.tap(verdict(page))
      taps.count++
      await verdict(page).selectOption('allow')
      await expect(numbers(page)).toContainText('1 from ask to allow')
      await taps.tap(why(page))
      await page.keyboard.type('often')
      await taps.tap(save(page))
      await expectLoosened(page, office)
      expectAtMost(7, taps, 'taps', info)
    })
  })
})

demoTest.describe('something is asked a second time, and why is to be found out', () => {
  /** An approved action whose order was changed meanwhile: it did not run, and waits again. */
  async function askedTwice(demo: Demo): Promise<string> {
    const body = { tool: 'updateOrderStatus', arguments: { orderId: 'ORD-003', newStatus: 'cancelled' } }
    const { id } = await (await demo.call('POST', '/api/actions', body)).json()
    await demo.changeOrder('ORD-003', 'processing')
    await demo.call('POST', `/api/actions/${id}/decision`, { verdict: 'approve' })
    await expect.poll(async () => (await (await demo.call('GET', `/api/actions/${id}`)).json()).revision).toBe(2)
    return id
  }
  const reason = (page: Page) => page.locator('.cs-again').filter({ hasText: /status was "pending" and is "processing" now.* Asked again/ })
  const asked = (page: Page) => page.getByTestId('revision').filter({ hasText: 'Set order ORD-003 to cancelled' })

  demoTest('by keys alone: the reason stands on the card, and what was asked first on its page', async ({ page, demo }, info) => {
    const id = await askedTwice(demo)
    await page.goto(`${demo.url}/history`)
    await page.getByRole('searchbox', { name: 'Search', exact: true }).waitFor()
    const keys = keysOf(page)
    await keys.goWith('i')
    await expect(reason(page)).toBeVisible()
    // Enter leads to the card, and the link to its page is just before it.
    await keys.press('Enter')
    await keys.pressTo('Shift+Tab', page.getByRole('link', { name: 'Whole page' }))
    await keys.press('Enter')
    await page.waitForURL(`**/actions/${id}`)
    await expect(asked(page)).toBeVisible()
    expectAtMost(5, keys, 'keys', info)
  })

  demoTest.describe('on a phone', () => {
    demoTest.use(PHONE)

    demoTest('by taps', async ({ page, demo }, info) => {
      const id = await askedTwice(demo)
      await page.goto(`${demo.url}/waiting`)
      const taps = tapsOf()
      await taps.tap(rowOf(page, id))
      await expect(reason(page)).toBeVisible()
      await expect(asked(page)).toBeVisible()
      expectAtMost(1, taps, 'taps', info)
    })
  })
})
