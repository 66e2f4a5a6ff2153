import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { SAM, sampleAction } from '../testing/actions.ts'
import { cardParts, scrollToEnd, show } from '../testing/browser.ts'
import { openPage, page, prepareCardPages } from '../testing/card-page.ts'

prepareCardPages()

const { card, approve } = cardParts(() => page)

const DIFF = `--- a/notes.md
+++ b/notes.md
@@ -1,3 +1,3 @@
 one\u200B
--- two
+++\ttwo  
 three
`

test('a diff is shown whole, each changed line with its sign, and what cannot be seen is marked', async () => {
  await openPage({ permissions: ['clipboard-read', 'clipboard-write'] })
  await show(page, { action: sampleAction({ preview: [{ field: 'notes.md', diff: DIFF }] }) })
  const diff = card().locator('.cs-diff pre')
  expect(await diff.textContent()).toBe(DIFF.replace('\u200B', '⟦U+200B⟧'))
  expect(await diff.locator('del').allTextContents()).toEqual(['--- two\n'])
  expect(await diff.locator('ins').allTextContents()).toEqual(['+++\ttwo  \n'])
  expect(await diff.locator('.cs-space').allTextContents()).toEqual(['\t', '  '])
  await card().getByRole('button', { name: 'Copy diff' }).click()
  await card().getByText('Copied').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(DIFF)
})

const LONG_LINE = 'The refund of order ORD-100 goes to the card that paid for it, within three days. '.repeat(25)

test('a letter that looks the same, changed in a line of 2,000 characters, stands out in a diff and in a value', async () => {
  await openPage()
  const forged = LONG_LINE.replace('order', 'оrder').replace('three', 'nine')
  const diff = `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-${LONG_LINE}\n+${forged}\n`
  const [oldValue, newValue] = [LONG_LINE, forged].map((text) => text.slice(0, text.indexOf(' days')))
  await show(page, {
    action: sampleAction({
      preview: [
        { field: 'x', diff },
        { field: 'text', oldValue, newValue },
      ],
    }),
  })
  const shown = [
    ['order', 'three'],
    ['оrder⟦U+043E Cyrillic⟧', 'nine'],
  ]
  for (const box of ['.cs-diff', 'li:last-child > .cs-values']) {
    await card().locator(`${box} mark`).first().waitFor()
    const marks = (kind: string) => card().locator(`${box} ${kind} mark`).allTextContents()
    expect([await marks('del'), await marks('ins')]).toEqual(shown)
  }
  await card().screenshot({ path: fileURLToPath(new URL('../../../../test-results/cards/words.png', import.meta.url)) })
})

test('a diff stands side by side where there is room, folds, and stays folded for who has viewed this revision', async () => {
  await openPage({ viewport: { width: 1280, height: 900 } })
  const diff = '--- a/x\n+++ b/x\n@@ -1,4 +1,3 @@\n same\n-one\n-two\n+three\n same\n'
  const action = sampleAction({ preview: [{ field: 'x', diff }] })
  await show(page, { action })
  await card().locator('.cs-hunk').waitFor()
  const boxes = () =>
    card()
      .locator('.cs-hunk > *')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect()))
  const [one, two, three] = await boxes()
  expect(three?.y).toBe(one?.y)
  expect(three?.x).toBeGreaterThan(one?.right ?? 0)
  expect(two?.y).toBeGreaterThan(one?.y ?? 0)
  await page.setViewportSize({ width: 800, height: 900 })
  // The page is laid out after the call has answered.
  await expect
    .poll(async () => {
      const [above, , below] = await boxes()
      return [below?.x === above?.x, (below?.y ?? 0) > (above?.y ?? 0)]
    })
    .toEqual([true, true])

  const lines = card().locator('.cs-diff pre')
  await card().getByLabel('Viewed').check()
  await lines.waitFor({ state: 'hidden' })
  // Another person, and another revision, are shown it again; the same person is not.
  await show(page, { action, me: SAM })
  await lines.waitFor()
  await show(page, { action: { ...action, revision: 2, digest: 'sha256:other' } })
  await lines.waitFor()
  expect(await card().getByLabel('Viewed').isChecked()).toBe(false)
  await show(page)
  await show(page, { action })
  expect(await card().getByLabel('Viewed').isChecked()).toBe(true)
  await lines.waitFor({ state: 'hidden' })
  await card().getByText('Diff', { exact: false }).first().click()
  await lines.waitFor()
})

test('a long diff says how many lines are hidden, and a high risk waits until they are seen', async () => {
  await openPage()
  const lines = Array.from({ length: 400 }, (_, at) => `+line ${at} of a long file`)
  const long = `--- /dev/null\n+++ b/long.md\n@@ -0,0 +1,400 @@\n${lines.join('\n')}\n`
  await show(page, {
    action: sampleAction({
      risk: { level: 'high', reasons: ['moves money'], setBy: 'policy' },
      preview: [{ field: 'long.md', diff: long }],
    }),
  })
  const reveal = card().getByRole('button', { name: /^\d+ lines hidden, show all$/ })
  await reveal.waitFor()
  const shown = await card().locator('.cs-diff-line').count()
  expect(await reveal.textContent()).toBe(`${403 - shown} lines hidden, show all`)
  await page.waitForTimeout(600)
  expect(await approve().getAttribute('aria-disabled')).toBe('true')
  await reveal.click()
  expect(await card().locator('.cs-diff pre').textContent()).toBe(long)
  await page.locator('.cs-approve[data-rest=blocked]').waitFor()
  await scrollToEnd(page)
  await page.locator('.cs-approve[aria-disabled=false]').waitFor()
})
