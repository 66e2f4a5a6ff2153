import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AxeBuilder } from '@axe-core/playwright'
import { expect, test } from 'vitest'
import { sampleAction } from './testing/actions.ts'
import { openDetails, scrollToEnd, show, untilReady } from './testing/browser.ts'
import { openPage, page, prepareCardPages } from './testing/card-page.ts'

prepareCardPages()

/** Where the pictures of this run are, for people to look at. */
const folder = fileURLToPath(new URL('../../../test-results/cards/', import.meta.url))

const calls = () => page.evaluate(() => window.cardPage.calls)
const card = () => page.getByTestId('approval-card')
const approve = () => card().locator('.cs-approve').last()
const rest = () => approve().getAttribute('data-rest')
const untilApprove = () => page.locator('.cs-approve[aria-disabled=false]').waitFor()
const goTo = () => card().getByRole('button', { name: 'Go to hidden text' })
const violations = async () => {
  const found = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']).analyze()
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 200)).join(' | ')}`)
}

const LEVELS = ['low', 'medium', 'high', 'critical'] as const
const risk = (level: (typeof LEVELS)[number]) => ({ level, reasons: [], setBy: 'policy' as const })
const BODY = `${'safe words '.repeat(6_082)}PAYLOAD`

for (const level of LEVELS) {
  test(`66,900 folded characters hold Approve until they are opened and scrolled to their end: ${level} risk`, async () => {
    await openPage()
    await show(page, { action: sampleAction({ risk: risk(level), arguments: { orderId: 'ORD-001', body: BODY } }) })
    await untilReady(page)
    await expect.poll(rest).toBe('blocked')
    const why = card().getByText(/^66,5\d\d characters of this action are still hidden\./)
    expect(await approve().getAttribute('aria-describedby')).toBe(await why.getAttribute('id'))
    await approve().dispatchEvent('click')
    await card().focus()
    for (const key of ['a', 'Enter', 'Control+Enter']) await page.keyboard.press(key)
    expect(await page.getByRole('alertdialog').count()).toBe(0)
    expect(await calls()).toEqual([])
    await goTo().click()
    expect(await page.evaluate(() => document.activeElement?.textContent)).toMatch(/characters hidden, show all$/)
    await page.keyboard.press('Enter')
    expect(await card().locator('.cs-raw pre').textContent()).toContain(BODY)
    // Opened is not read.
    await page.waitForTimeout(700)
    await page.locator('.cs-approve[data-rest=blocked]').waitFor()
    await scrollToEnd(page)
    await card().getByText('Everything was shown.').waitFor()
    await untilApprove()
    expect(await calls()).toEqual([])
  })
}

test('many short arguments behind the closed disclosure hold Approve as one long one does', async () => {
  await openPage()
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`field${at}`, `${at} ${'y'.repeat(400)}`]))
  await show(page, { action: sampleAction({ arguments: many }) })
  await untilReady(page)
  await expect.poll(rest).toBe('blocked')
  await goTo().click()
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('PRE')
  await page.waitForTimeout(700)
  await page.locator('.cs-approve[data-rest=blocked]').waitFor()
  await scrollToEnd(page)
  await untilApprove()
})

test('a preview of 2,000 rows shows a hundred and how many more there are, and holds Approve until its end was on the screen', async () => {
  await openPage()
  const preview = Array.from({ length: 2_000 }, (_, at) => ({ field: `row ${at}`, oldValue: at, newValue: at + 1 }))
  await show(page, { action: sampleAction({ preview }) })
  await untilReady(page)
  await expect.poll(rest).toBe('blocked')
  const drawn = () => card().locator('.cs-changes .cs-field').count()
  expect(await drawn()).toBe(100)
  await goTo().click()
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('1,900 more rows hidden, show all')
  expect(await violations()).toEqual([])
  await page.keyboard.press('Enter')
  await expect.poll(drawn).toBe(2_000)
  expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('1,900 more rows')
  await page.waitForTimeout(700)
  await page.locator('.cs-approve[data-rest=blocked]').waitFor()
  await page.screenshot({ path: join(folder, 'many-rows.png') })
  await scrollToEnd(page)
  await untilApprove()
})

test('without a preview the arguments stand open, and are scrolled to their end', async () => {
  await openPage({ viewport: { width: 900, height: 2_000 } })
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`field${at}`, `${at} ${'y'.repeat(400)}`]))
  await show(page, { action: sampleAction({ arguments: many, preview: null }) })
  await untilReady(page)
  await expect.poll(rest).toBe('blocked')
  await goTo().click()
  await scrollToEnd(page)
  await untilApprove()
})

test('what is not a person’s reading opens nothing: a new revision hides it again', async () => {
  await openPage()
  const action = sampleAction({ preview: [{ field: 'body', oldValue: 'x', newValue: BODY }] })
  await show(page, { action })
  await untilReady(page)
  await goTo().click()
  await page.keyboard.press('Enter')
  await scrollToEnd(page)
  await untilApprove()
  await show(page, { action: { ...action, revision: 2, digest: 'sha256:two' } })
  await card()
    .getByRole('button', { name: /characters hidden/ })
    .waitFor()
  await untilReady(page)
  await expect.poll(rest).toBe('blocked')
})

test('"don’t ask again" is no way round what is hidden', async () => {
  await openPage()
  const suggestion = { refusal: null, exact: { matched: 3, of: 30 }, rule: null }
  await show(page, { action: sampleAction({ arguments: { body: BODY } }), suggestion })
  await untilReady(page)
  await openDetails(page)
  await card().getByText('Don’t ask again').click()
  const button = card().getByRole('button', { name: 'Approve and don’t ask again…' })
  await button.waitFor()
  await untilReady(page)
  // What was opened above it moved it: it rests for that first.
  await expect.poll(() => button.getAttribute('data-rest')).toBe('blocked')
  await button.dispatchEvent('click')
  expect(await page.getByRole('alertdialog').count()).toBe(0)
  expect(await calls()).toEqual([])
})

test('a value of 500 KB stays usable: the page stays short, keys answer at once', async () => {
  await openPage()
  const huge = 'half a megabyte of words, '.repeat(20_000)
  await show(page, { action: sampleAction({ preview: [{ field: 'body', oldValue: 'x', newValue: huge }], arguments: { body: huge } }) })
  await untilReady(page)
  const startedMs = performance.now()
  await goTo().click()
  await page.keyboard.press('Enter')
  await page.locator('.cs-read').waitFor()
  await scrollToEnd(page)
  await untilApprove()
  const tookMs = performance.now() - startedMs
  const height = await page.evaluate(() => document.documentElement.scrollHeight)
  console.info(`500 KB opened and read to its end in ${Math.round(tookMs)} ms; the page is ${height} px high`)
  expect(height).toBeLessThan(2_500)
})

test('names that look alike are marked and told apart: in the preview, among the arguments, in an edit', async () => {
  await openPage()
  const action = sampleAction({
    description: 'Make аdmin the owner',
    arguments: { user: 'аdmin', before: 'admin', code: 'сосо', known: 'coco' },
    preview: [
      { field: 'owner', oldValue: 'admin', newValue: 'аdmin' },
      { field: 'city', oldValue: 'Mála', newValue: 'Ma\u0301la' },
      { field: 'order', oldValue: 'ORD-1O0', newValue: 'ORD-100' },
      { field: 'name', oldValue: 'Ростов', newValue: 'Москва' },
    ],
  })
  await show(page, { action, withEditor: true })
  await untilReady(page)
  expect(await card().getByRole('heading').textContent()).toBe('Make аdmin⟦U+0430 Cyrillic⟧ the owner')
  const rows = card().locator('.cs-changes li')
  expect(await rows.allTextContents()).toEqual([
    'ownerfrom admin →  to аdmin⟦U+0430 Cyrillic⟧ look alike, differ in character 1: U+0061 Latin → U+0430 Cyrillic',
    'cityfrom Mála →  to Ma\u0301la⟦U+0301⟧ look alike, differ in character 2: U+00E1 Latin → U+0061 U+0301',
    'orderfrom ORD-1O0 →  to ORD-100 look alike, differ in character 6: U+004F Latin → U+0030',
    'namefrom Ростов →  to Москва',
  ])
  expect(await card().locator('.cs-again li').allTextContents()).toEqual([
    expect.stringMatching(/^аdmin⟦U\+0430 Cyrillic⟧ and admin look alike, differ in character 1: /),
    expect.stringMatching(/^сосо and coco look alike, differ in character 1: U\+0441 /),
  ])
  await openDetails(page)
  await card().getByText('Edit before you approve').click()
  await card()
    .locator('.cs-edit textarea')
    .fill(JSON.stringify({ ...action.arguments, user: 'admin' }))
  await card().locator('.cs-edit .cs-alike').getByText('look alike, differ in character 1: U+0430 Cyrillic → U+0061 Latin').waitFor()
})

for (const look of ['light', 'dark'] as const) {
  test(`what is hidden and what looks alike are legible at 320 px, without axe violations: ${look}`, async () => {
    await openPage({ colorScheme: look, viewport: { width: 320, height: 640 }, hasTouch: true })
    const action = sampleAction({
      description: 'Send the letter to аdmin@example.com',
      arguments: { to: 'аdmin@example.com', body: BODY },
      preview: [
        { field: 'to', oldValue: 'admin@example.com', newValue: 'аdmin@example.com' },
        { field: 'body', newValue: BODY },
      ],
    })
    await show(page, { action })
    // On a phone the buttons come once the changes have been on the screen.
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
    await untilReady(page)
    await card().screenshot({ path: join(folder, `hidden-${look}.png`) })
    expect(await violations()).toEqual([])
    await goTo().click()
    await page.keyboard.press('Enter')
    await page.locator('.cs-read').waitFor()
    expect(await page.evaluate(() => document.activeElement?.className)).toBe('cs-read')
    await card().screenshot({ path: join(folder, `opened-${look}.png`) })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
    for (const target of await card().locator('button:visible, summary').all()) {
      const box = await target.boundingBox()
      expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44)
    }
    expect(await violations()).toEqual([])
    await scrollToEnd(page)
    await untilApprove()
    await card().screenshot({ path: join(folder, `read-${look}.png`) })
    await page.setViewportSize({ width: 900, height: 900 })
    await card().screenshot({ path: join(folder, `read-wide-${look}.png`) })
  })
}
