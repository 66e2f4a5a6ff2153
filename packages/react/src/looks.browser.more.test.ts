import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AxeBuilder } from '@axe-core/playwright'
import type { BrowserContextOptions } from '@playwright/test'
import { expect, test } from 'vitest'
import { ACTION_PER_STATE, ACTION_WITH_DIFF, NOW_MS, sampleAction } from './testing/actions.ts'
import { openDetails, resize, seeAll, show, untilReady } from './testing/browser.ts'
import { openPage, page, prepareCardPages } from './testing/card-page.ts'

prepareCardPages()

/** Where the pictures of this run are, for people to look at. */
const folder = fileURLToPath(new URL('../../../test-results/cards/', import.meta.url))

const SAYS = 'The customer asked for it this morning.\nI checked the stock.'
const card = () => page.getByTestId('approval-card')
const violations = async () => {
  const found = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']).analyze()
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' | ')}`)
}

const LOOKS: Record<string, BrowserContextOptions> = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  'forced-colors': { forcedColors: 'active' },
  narrow: { colorScheme: 'light', viewport: { width: 320, height: 640 } },
}

for (const [look, options] of Object.entries(LOOKS)) {
  test(`every state is legible and without axe violations: ${look}`, async () => {
    await openPage(options)
    const actions = Object.entries({ ...ACTION_PER_STATE, diff: ACTION_WITH_DIFF }).map(([name, action]) => ({
      ...action,
      id: `act_${name}`,
    }))
    await show(page, ...actions.map((action) => ({ action, agentSays: SAYS, runHref: '/runs/1', withRetry: true, withOutcomes: true })))
    await seeAll(page)
    const open = actions.filter(({ state }) => state === 'proposed').length
    await page.waitForFunction((count) => document.querySelectorAll('.cs-refuse[aria-disabled=false]').length === count, open)
    const states = await card().evaluateAll((shown) => shown.map((one) => one.getAttribute('data-state')))
    expect(states).toEqual(actions.map(({ state }) => state))
    await page.screenshot({ path: join(folder, `${look}.png`), fullPage: true })
    await card()
      .last()
      .screenshot({ path: join(folder, `${look}-diff.png`) })
    expect(await violations()).toEqual([])
  })
}

test('an open reason form and an open confirmation have no axe violations', async () => {
  await openPage()
  await show(page, { action: ACTION_PER_STATE['proposed-critical'] ?? sampleAction(), offerStop: true })
  await untilReady(page)
  await card()
    .getByRole('button', { name: /^Approve: / })
    .click()
  await page.getByRole('alertdialog').waitFor()
  await page.waitForTimeout(600)
  await page.screenshot({ path: join(folder, 'confirm.png') })
  expect(await violations()).toEqual([])
  await page.keyboard.press('Escape')
  await card().getByRole('button', { name: 'Decline with reason' }).click()
  await page.getByLabel(/^Reason/).waitFor()
  await card().screenshot({ path: join(folder, 'decline.png') })
  expect(await violations()).toEqual([])
})

test('data-theme on a page overrides the system, both ways', async () => {
  const background = async () => {
    await show(page, { action: sampleAction() })
    await card().waitFor()
    return card().evaluate((element) => getComputedStyle(element).backgroundColor)
  }
  await openPage({ colorScheme: 'light' })
  expect(await background()).toBe('rgb(255, 255, 255)')
  await page.evaluate(() => document.documentElement.setAttribute('data-theme', 'dark'))
  expect(await background()).toBe('rgb(27, 30, 35)')
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.evaluate(() => document.documentElement.setAttribute('data-theme', 'light'))
  expect(await background()).toBe('rgb(255, 255, 255)')
})

test('a page themes the card by its variables', async () => {
  await openPage({ colorScheme: 'light' })
  await page.evaluate(() => {
    const { style } = document.documentElement
    for (const [name, value] of [
      ['--cs-accent', 'rgb(107, 63, 212)'],
      ['--cs-bg', 'rgb(250, 248, 240)'],
      ['--cs-radius', '3px'],
      ['--cs-font', '18px/1.5 serif'],
    ] as const)
      style.setProperty(name, value)
  })
  await show(page, { action: sampleAction() })
  await untilReady(page)
  const looks = await card().evaluate((element) => {
    const { backgroundColor, borderRadius, fontSize, fontFamily } = getComputedStyle(element)
    const approve = element.querySelector('.cs-approve')
    return { backgroundColor, borderRadius, fontSize, fontFamily, approve: approve && getComputedStyle(approve).backgroundColor }
  })
  expect(looks).toEqual({
    ...{ backgroundColor: 'rgb(250, 248, 240)', borderRadius: '3px', fontSize: '18px', fontFamily: 'serif' },
    approve: 'rgb(107, 63, 212)',
  })
})

test('at 320 px nothing scrolls sideways, targets are 44 px and Decline is 16 px away from Approve', async () => {
  await openPage({ viewport: { width: 320, height: 640 }, hasTouch: true })
  const long = 'W'.repeat(300)
  const diff = `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-${long}\n+${long}!\n`
  const preview = [
    { field: long, oldValue: long, newValue: long },
    { field: 'x', diff },
  ]
  await show(page, { action: sampleAction({ description: long, preview, tool: long }) })
  await seeAll(page)
  await untilReady(page)
  await openDetails(page)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
  for (const target of await card().locator('button:visible, summary').all()) {
    const box = await target.boundingBox()
    expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44)
  }
  for (const width of [320, 600, 900]) {
    await resize(page, width, 800)
    // In one look: the page may be laid out anew between two.
    const apartPx = await card()
      .locator('.cs-decide')
      .evaluate((row) => {
        const [decline, approve] = ['.cs-refuse', '.cs-approve'].map((button) => row.querySelector(button)?.getBoundingClientRect())
        return decline && approve ? Math.max(approve.x - decline.right, approve.y - decline.bottom) : Number.NaN
      })
    expect(apartPx).toBeGreaterThanOrEqual(16)
  }
})

test('one changed field fits in 240 px; Approve says so, and its name is the whole sentence', async () => {
  await openPage()
  await show(page, {
    action: sampleAction({ preview: [{ field: 'status', oldValue: 'pending', newValue: 'processing' }] }),
    withEditor: true,
  })
  await untilReady(page)
  const box = await card().boundingBox()
  await card().screenshot({ path: join(folder, 'one-field.png') })
  expect(box?.height).toBeLessThanOrEqual(240)
  const approve = card().locator('.cs-approve')
  expect(await approve.textContent()).toBe('Approve')
  expect(await approve.getAttribute('aria-label')).toBe(`Approve: ${sampleAction().description}`)
})

/** The lines of the card's first row, and of each of its parts whether all of it can be seen. */
const identity = () =>
  card()
    .locator('.cs-bar')
    .evaluate((bar) => {
      const part = (found: Element | null | undefined) => found?.getBoundingClientRect() ?? new DOMRect()
      const [tool, ...rest] = ['.cs-tool', '.cs-tool + span', '.cs-for > span', '.cs-risk'].map((name) => bar.querySelector(name))
      const edge = part(bar)
      const age = bar.querySelector('.cs-tail > :last-child')
      return {
        lines: Math.round(edge.height / Number.parseFloat(getComputedStyle(bar).lineHeight)),
        isToolWhole: tool !== null && tool !== undefined && tool.scrollWidth <= tool.clientWidth,
        // Risk, destination and people.
        areWhole: rest.every((one) => one !== null && part(one).right <= edge.right + 0.5 && part(one).bottom <= edge.bottom + 0.5),
        hasAge: part(age).bottom <= part(age?.parentElement).bottom + 1,
      }
    })

test('the line of identity is one line in a pane of 480 px and more: destination and people are whole, the name of the tool gives way', async () => {
  await openPage()
  await show(page, { action: sampleAction({ preview: [{ field: 'status', oldValue: 'pending', newValue: 'processing' }] }) })
  await untilReady(page)
  // The page has a margin of 8 px on both sides.
  for (const width of [1280, 720, 640, 560, 520, 496]) {
    await resize(page, width, 1000)
    const { isToolWhole, hasAge, ...seen } = await identity()
    expect([width, seen]).toEqual([width, { lines: 1, areWhole: true }])
    expect([width, isToolWhole]).toEqual([width, width > 520])
    // A part of a time would be another time.
    expect([width, hasAge]).toEqual([width, width > 640])
    expect([width, ((await card().boundingBox())?.height ?? 0) <= 240]).toEqual([width, true])
  }
  // Titles have the texts that were cut short.
  const { tool, id } = sampleAction()
  const titles = await card()
    .locator('.cs-bar > [title]')
    .evaluateAll((parts) => parts.map((part) => part.getAttribute('title')))
  expect(titles).toEqual([tool, `${id}, 30 s ago`])
  for (const width of [440, 390]) {
    await resize(page, width, 1000)
    expect([width, await identity()]).toEqual([width, { lines: 2, isToolWhole: true, areWhole: true, hasAge: width === 440 }])
  }
})

test('where the line has no room for what a decision needs, it takes another: a long destination, and the tool of a grave action', async () => {
  await openPage()
  const risk = { level: 'high' as const, reasons: ['it moves money'], setBy: 'policy' as const }
  const tool = 'accounting.transferBetweenAccounts'
  for (const more of [{ risk, tool }, { destination: 'accounting of the branch in Oslo at https://accounts.oslo.example.com' }]) {
    await show(page, { action: sampleAction(more) })
    await untilReady(page)
    await resize(page, 480, 1000)
    const { lines, areWhole, isToolWhole } = await identity()
    expect([Object.keys(more), lines > 1, areWhole, isToolWhole]).toEqual([Object.keys(more), true, true, true])
  }
})

test('what nobody may decide without having seen stands outside the details', async () => {
  await openPage()
  const risk = { level: 'high' as const, reasons: ['it moves money'], setBy: 'policy' as const }
  await show(page, { action: sampleAction({ risk, expiresAt: new Date(NOW_MS + 3_600_000).toISOString() }) })
  await untilReady(page)
  for (const text of ['it moves money', 'Expires', 'pending']) {
    const found = card().getByText(text, { exact: false }).first()
    expect(await found.isVisible(), text).toBe(true)
  }
  expect(await card().getByText('Raw arguments').isVisible()).toBe(false)
})

/** Lines as services send them: prices with spaces and without, long names, ids. */
const ORDER = [
  { productId: 'PRD-000123', name: 'Espresso machine with two boilers', quantity: 12, price: '1 299,00 €', total: '15 588,00 €' },
  { productId: 'PRD-4', name: 'Milk', quantity: 1, price: '-12.50 CHF', total: '1,234,567.89 €' },
]
const columnsFrom = (...columns: string[]) =>
  ORDER.map((line) => Object.fromEntries(Object.entries(line).filter(([key]) => columns.includes(key))))

test('a price in a list of lines stays in one piece and nothing is cut off, on a phone and on a desk', async () => {
  await openPage()
  const tables = [
    columnsFrom('name', 'price'),
    columnsFrom('name', 'quantity', 'price'),
    columnsFrom('productId', 'quantity', 'price', 'total'),
    ORDER,
  ]
  await show(page, { action: sampleAction({ preview: tables.map((newValue, at) => ({ field: `items ${at}`, newValue })) }) })
  for (const width of [320, 390, 600, 900]) {
    await resize(page, width, 1000)
    const seen = await card()
      .locator('.cs-lines td > span')
      .evaluateAll((values) =>
        values.map((value) => {
          const box = value.getBoundingClientRect()
          const { right } = value.closest('.cs-changes')?.getBoundingClientRect() ?? { right: 0 }
          const range = document.createRange()
          range.selectNodeContents(value)
          const tops = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)))
          return {
            text: value.textContent ?? '',
            lines: tops.size,
            isCut: box.right > right || value.scrollWidth > Math.ceil(box.width) + 1,
          }
        }),
      )
    expect(seen.length, `${width}`).toBe(4 + 6 + 8 + 10)
    expect(
      seen.filter(({ isCut }) => isCut),
      `cut at ${width}`,
    ).toEqual([])
    const broken = seen.filter(({ text, lines }) => /\d/.test(text) && lines !== 1)
    expect(broken, `broken at ${width}`).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth), `${width}`).toBeLessThanOrEqual(width)
    await card().screenshot({ path: join(folder, `lines-${width}.png`) })
  }
})

test('nothing moves on a change of state, reduced motion or not', async () => {
  await openPage({ reducedMotion: 'reduce' })
  for (const action of Object.values(ACTION_PER_STATE)) {
    await show(page, { action })
    await page.locator(`[data-state=${action.state}]`).waitFor()
    expect(await page.evaluate(() => document.getAnimations().length)).toBe(0)
  }
})
