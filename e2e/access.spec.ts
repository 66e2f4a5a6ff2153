import AxeBuilder from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import { approve, approveButton, ask, cards, expect, expectNoSideScroll, openDecline, openDetails, press, ready, test } from './demo.ts'

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

async function expectNoViolations(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).withTags(WCAG).analyze()
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`)).toEqual([])
}

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe finds nothing on chat, card, waiting list and action page, ${colorScheme}`, async ({ page, demo }) => {
    await page.emulateMedia({ colorScheme })
    await page.goto(demo.url)
    await page.getByRole('textbox', { name: 'Message' }).waitFor()
    await expectNoViolations(page)
    await ask(page, demo, 'cancel ORD-003 and ORD-004')
    await ready(cards(page).nth(1))
    await expectNoViolations(page)
    await openDecline(cards(page).first())
    await expectNoViolations(page)
    await page.goto(`${demo.url}/waiting`)
    await expect(page.getByTestId('waiting-row')).toHaveCount(2)
    await expect(cards(page)).toHaveCount(1)
    await expectNoViolations(page)
    for (const search of ['?group=shape', '?group=tool', '?view=overdue', '?view=decided', '?q=sate:x']) {
      await page.goto(`${demo.url}/waiting${search}`)
      await page.locator('[data-testid=waiting-empty], [data-testid=waiting-row]').first().waitFor()
      await expectNoViolations(page)
    }
    const { items } = await (await demo.call('GET', '/api/actions?state=proposed')).json()
    await page.goto(`${demo.url}/actions/${items[0].id}`)
    await expect(cards(page)).toHaveCount(1)
    await expectNoViolations(page)
  })
}

test('each new approval is announced once, politely, alone or in a message for several', async ({ page, demo }) => {
  await page.goto(`${demo.url}/waiting`)
  // The page announces only actions that are proposed after it has read the list.
  await page.getByTestId('waiting-empty').waitFor()
  await page.locator('[aria-live=assertive]').waitFor({ state: 'attached' })
  await page.evaluate(() => {
    const said: string[] = []
    Object.assign(window, { said })
    for (const region of document.querySelectorAll('[aria-live]')) {
      const politeness = region.getAttribute('aria-live')
      new MutationObserver(() => {
        if (region.textContent) said.push(`${politeness}: ${region.textContent}`)
      }).observe(region, { childList: true, characterData: true, subtree: true })
    }
  })
  const said = () => page.evaluate(() => (window as unknown as { said: string[] }).said)
  const propose = (orderId: string) =>
    demo.call('POST', '/api/actions', { tool: 'updateOrderStatus', arguments: { orderId, newStatus: 'cancelled' } })
  await propose('ORD-001')
  await expect.poll(said).toHaveLength(1)
  expect((await said())[0]).toMatch(/^polite: .*ORD-001/)
  await Promise.all(['ORD-003', 'ORD-004', 'ORD-007', 'ORD-009', 'ORD-010'].map(propose))
  // How many fall into one message depends on how fast they arrive; with the clock held, packages/react/src/announcer.browser.test.ts says so.
  const counted = (text: string) =>
    Number(/^polite: (\d+) new approvals needed/.exec(text)?.[1] ?? (/^polite: Approval needed/.test(text) ? 1 : 0))
  const sum = async () => (await said()).reduce((total, text) => total + counted(text), 0)
  await expect.poll(sum).toBe(6)
  expect((await said()).filter((text) => counted(text) === 0)).toEqual([])
})

test('by keyboard alone: ask, reach the card, approve, go on', async ({ page, demo }) => {
  await page.goto(demo.url)
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeFocused()
  await page.keyboard.type('mark ORD-001 as processing')
  await page.keyboard.press('Enter')
  const button = approveButton(cards(page))
  await ready(cards(page))
  for (let i = 0; i < 40 && !(await button.evaluate((one) => one === document.activeElement)); i++) await page.keyboard.press('Shift+Tab')
  await expect(button).toBeFocused()
  await press(button, 'Enter')
  await expect(cards(page)).toHaveAttribute('data-state', 'succeeded')
  expect(await demo.effects('ORD-001')).toBe(1)
})

test('with reduced motion nothing is animated when a card changes', async ({ page, demo }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await ask(page, demo, 'mark ORD-001 as processing')
  await ready(cards(page))
  // At the end nothing runs any more, so each that begins is noted.
  await page.evaluate(() => {
    const begun: string[] = []
    Object.assign(window, { begun })
    for (const type of ['animationstart', 'transitionrun'])
      document.addEventListener(type, ({ target }) => void begun.push(`${type} of <${(target as Element).className}>`), true)
  })
  await approve(cards(page))
  await expect(cards(page)).toHaveAttribute('data-state', 'succeeded')
  expect(await page.evaluate(() => (window as unknown as { begun: string[] }).begun)).toEqual([])
  expect(await page.evaluate(() => document.getAnimations().length)).toBe(0)
})

test('50 arrivals while the list is at rest do not shift what is there', async ({ page, demo }) => {
  await demo.call('POST', '/api/actions', { tool: 'updateOrderStatus', arguments: { orderId: 'ORD-001', newStatus: 'cancelled' } })
  await page.goto(`${demo.url}/waiting`)
  // The parts of a card that load later have their place by then.
  await ready(cards(page))
  await page.evaluate(() => {
    Object.assign(window, { shift: 0 })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { value: number })[]) {
        ;(window as unknown as { shift: number }).shift += entry.value
      }
    }).observe({ type: 'layout-shift', buffered: false })
  })
  for (let i = 0; i < 50; i++) {
    await demo.call('POST', '/api/actions', { tool: 'checkout', arguments: { items: [{ productId: 'mug', quantity: 1 + i }] } })
  }
  await expect(page.getByText(/^(50|51) /).first()).toBeVisible()
  expect(await page.evaluate(() => (window as unknown as { shift: number }).shift)).toBeLessThan(0.01)
})

test('at 320 px nothing scrolls sideways', async ({ page, demo }) => {
  await page.setViewportSize({ width: 320, height: 640 })
  await ask(page, demo, 'mark ORD-001 as processing')
  await expect(cards(page)).toHaveAttribute('data-state', 'proposed')
  await expectNoSideScroll(page)
})

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })

  test('its keyboard changes no letter of a value, and no field is so small that the page zooms in', async ({ page, demo }) => {
    const fields = page.locator('input:not([type=radio], [type=checkbox], [type=date]), textarea').filter({ visible: true })
    // iPhones zoom in on what is smaller, and stay there: the buttons beside it leave the screen.
    const areLegible = async () => {
      const sizes = await fields.evaluateAll((all) => all.map((field) => Number.parseFloat(getComputedStyle(field).fontSize)))
      expect(sizes.length).toBeGreaterThan(0)
      expect(Math.min(...sizes)).toBeGreaterThanOrEqual(16)
    }
    await ask(page, demo, 'mark ORD-001 as processing')
    await expect(cards(page)).toHaveAttribute('data-state', 'proposed')
    await areLegible()
    await openDetails(cards(page))
    await cards(page).locator('summary', { hasText: 'Edit' }).tap()
    const order = cards(page).getByRole('textbox', { name: 'Order Id' })
    await expect(order).toHaveValue('ORD-001')
    await areLegible()
    const leavesAlone = async () => {
      const texts = await cards(page).locator('input[type=text], input:not([type]), textarea').filter({ visible: true }).all()
      expect(texts.length).toBeGreaterThan(0)
      for (const text of texts) {
        await expect(text).toHaveAttribute('autocapitalize', 'none')
        await expect(text).toHaveAttribute('autocorrect', 'off')
      }
    }
    await leavesAlone()
    await cards(page).getByRole('radio', { name: 'JSON' }).tap()
    await leavesAlone()
    await areLegible()
    for (const path of ['/waiting', '/history', '/record']) {
      await page.goto(demo.url + path)
      await fields.first().waitFor()
      await areLegible()
    }
    await page.goto(demo.url)
    await ask(page, demo, 'mark ORD-003 as processing')
    await expect(cards(page)).toHaveAttribute('data-state', 'proposed')
    await openDecline(cards(page))
    await areLegible()
    await expectNoSideScroll(page)
  })
})
