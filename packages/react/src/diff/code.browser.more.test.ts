import { fileURLToPath } from 'node:url'
import { AxeBuilder } from '@axe-core/playwright'
import { expect, test } from 'vitest'
import { sampleAction } from '../testing/actions.ts'
import { cardParts, show, showAtOnce } from '../testing/browser.ts'
import { holdScripts, openPage, page, prepareCardPages } from '../testing/card-page.ts'

prepareCardPages()

const { card } = cardParts(() => page)

const DIFF = `--- a/src/refund.ts
+++ b/src/refund.ts
@@ -1,7 +1,8 @@
 // Refunds at most ten a day.
 export class Refunds {
   const most = 10
-  async refund(order: Order, amount: number) {
+  async refund(order: Order, amount: number, note = "none") {
+    if (this.count > 20) return null
     return this.post(\`/refunds/\${order.id}\`, { amount, currency: 'EUR' })
   }
 }\u202e // }
`
const action = sampleAction({ preview: [{ field: 'src/refund.ts', diff: DIFF }] })
const coloured = (selector: string) => card().locator(`${selector} [data-code=word]`).allTextContents()

test('code in a diff has the colours of its language, and every letter stays as it is', async () => {
  await openPage()
  await show(page, { action })
  await card().locator('pre[data-language=ts]').waitFor()
  expect(await coloured('ins')).toEqual(['async', 'if', 'this', 'return'])
  expect(await card().locator('.cs-diff pre').textContent()).toBe(DIFF.replace('\u202e', '⟦U+202E⟧'))
  expect(await card().locator('ins mark').allTextContents()).toEqual([', note = "none"'])
  // The head of the diff is no code.
  expect(await card().locator('.cs-diff-line:not(:has([data-code]))').first().textContent()).toBe('--- a/src/refund.ts\n')
})

test('the card is as high, and as ready to be decided, before the colours came as after; without them the diff is whole', async () => {
  await openPage()
  const code = await holdScripts(/\/code-.*\.js/)
  await showAtOnce(page, { action })
  await page.locator('.cs-approve[aria-disabled=false]').waitFor()
  const before = await card().boundingBox()
  expect(await card().locator('[data-code]').count()).toBe(0)
  expect(await card().locator('.cs-diff pre').textContent()).toBe(DIFF.replace('\u202e', '⟦U+202E⟧'))
  await code.load()
  await card().locator('[data-code]').first().waitFor()
  expect(await card().boundingBox()).toEqual(before)
})

test('a diff of prose has no colours of code, and asks for none', async () => {
  await openPage()
  const code = await holdScripts(/\/code-.*\.js/)
  await show(page, { action: sampleAction({ preview: [{ field: 'a.md', diff: DIFF.replaceAll('.ts', '.md') }] }) })
  expect(await card().locator('[data-code]').count()).toBe(0)
  expect(code.asked()).toBe(0)
})

test.each([
  { colorScheme: 'light', forcedColors: 'none' },
  { colorScheme: 'dark', forcedColors: 'none' },
  { colorScheme: 'light', forcedColors: 'active' },
] as const)('coloured code passes axe with $colorScheme colours, forced: $forcedColors', async (options) => {
  await openPage({ ...options, viewport: { width: 1400, height: 900 } })
  await show(page, { action })
  await card().locator('[data-code]').first().waitFor()
  expect((await new AxeBuilder({ page }).include('.cs-diff').analyze()).violations).toEqual([])
  const name = `code-${options.colorScheme}-${options.forcedColors}.png`
  await card().screenshot({ path: fileURLToPath(new URL(`../../../../test-results/cards/${name}`, import.meta.url)) })
})
