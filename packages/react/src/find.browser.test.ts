import { expect, test } from 'vitest'
import { sampleAction } from './testing/actions.ts'
import { cardParts, openDetails, seeAll, show, showAtOnce, untilReady } from './testing/browser.ts'
import { holdScripts, openPage, page, prepareCardPages } from './testing/card-page.ts'

prepareCardPages()

const { calls, card, tryToApprove } = cardParts(() => page)
const field = () => card().getByRole('textbox', { name: 'Find in text' })
const said = () => card().locator('.cs-find [role=status]').textContent()
/** The text of the match that is marked, and whether it is inside what its box shows. */
const marked = () =>
  page.evaluate(() => {
    const [range] = CSS.highlights.get('cs-find') ?? []
    if (range === undefined) return { text: '', isSeen: false }
    const live = document.createRange()
    live.setStart(range.startContainer, range.startOffset)
    live.setEnd(range.endContainer, range.endOffset)
    const at = live.getBoundingClientRect()
    const box = live.startContainer.parentElement?.closest('.cs-read, pre')?.getBoundingClientRect()
    const isIn = box === undefined || (at.top >= box.top && at.bottom <= box.bottom)
    return { text: live.toString(), isSeen: isIn && at.top >= 0 && at.bottom <= innerHeight }
  })

const showBody = async (body: string, risk: 'medium' | 'high' = 'medium') => {
  const changed = { preview: [{ field: 'body', newValue: body }], arguments: { orderId: 'ORD-001' } }
  await show(page, { action: sampleAction({ ...changed, risk: { level: risk, reasons: [], setBy: 'policy' } }) })
  // On a narrow screen the buttons come once the changes have been on the screen.
  await seeAll(page)
  await untilReady(page)
}

const BODY = `${'safe words '.repeat(500)}Pay EVE now. ${'more words '.repeat(500)}pay eve twice. ${'end '.repeat(100)}`

test('a short text has no search; a collapsed one is searched where it was hidden, and opens for that', async () => {
  await openPage()
  await showBody('short')
  expect(await field().count()).toBe(0)
  await showBody(BODY)
  expect(await page.locator('.cs-read').count()).toBe(0)
  await field().fill('pay eve')
  await expect.poll(said).toBe('1 of 2')
  expect(await marked()).toEqual({ text: 'Pay EVE', isSeen: true })
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('INPUT')
  await page.keyboard.press('Enter')
  await expect.poll(said).toBe('2 of 2')
  expect(await marked()).toEqual({ text: 'pay eve', isSeen: true })
  await page.keyboard.press('Enter')
  await expect.poll(said).toBe('1 of 2')
  await page.keyboard.press('Shift+Enter')
  await expect.poll(said).toBe('2 of 2')
  await card().getByRole('button', { name: 'Previous match' }).click()
  await expect.poll(said).toBe('1 of 2')
  await card().getByRole('button', { name: 'Next match' }).click()
  await expect.poll(said).toBe('2 of 2')
  await field().press('Escape')
  expect([await field().inputValue(), await said(), (await marked()).text]).toEqual(['', '', ''])
  expect(await calls()).toEqual([])
})

test('a match before the end of a text does not count as its end: Approve stays held', async () => {
  await openPage()
  await showBody(BODY, 'high')
  await field().fill('EVE now')
  await expect.poll(said).toBe('1 of 1')
  await page.waitForTimeout(700)
  await page.locator('.cs-approve[data-rest=blocked]').waitFor()
})

test.each([
  { what: 'a character that cannot be seen', text: 'pay\u200Bload', query: 'payload', found: 'pay⟦U+200B⟧load' },
  { what: 'a direction mark', text: 'pay\u202Eload', query: 'PAYLOAD', found: 'pay⟦U+202E⟧load' },
  { what: 'its spelled mark', text: 'pay\u200Bload', query: 'u+200b', found: 'U+200B' },
  { what: 'a capital that grows when it is made small', text: 'İİİ stop', query: 'STOP', found: 'stop' },
  { what: 'an accent written as a letter and a mark', text: 'Ma\u0301la', query: 'mál', found: 'Ma\u0301l' },
  { what: 'an emoji and signs of a pattern', text: 'a😀.*(b', query: '😀.*(', found: '😀.*(' },
  { what: 'words on two lines', text: 'send\nmoney', query: 'send money', found: 'send\nmoney' },
])('a match is found in spite of $what', async ({ text, query, found }) => {
  await openPage()
  await showBody(`${'word '.repeat(600)}${text}${' word'.repeat(100)}`)
  await field().fill(query)
  await expect.poll(said).toMatch(/^1 of 1/)
  expect(await marked()).toEqual({ text: found, isSeen: true })
})

test('what a search does not find is said: letters of other scripts that look alike', async () => {
  await openPage()
  await showBody(`${'word '.repeat(600)}аdmin`)
  await field().fill('admin')
  await expect.poll(said).toBe('No match. Letters that only look alike are not matched.')
})

/** Tells how many milliseconds the page's own thread has spent in scripts so far: on a busy machine no more than on a quiet one. */
async function scriptClock(): Promise<() => Promise<number>> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
  return async () => {
    const { metrics } = await devtools.send('Performance.getMetrics')
    return 1_000 * (metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? Number.NaN)
  }
}

test('brackets in a hostile text cost no time', async () => {
  await openPage()
  await showBody('p⟦'.repeat(20_000))
  const spentMs = await scriptClock()
  const beforeMs = await spentMs()
  await field().fill('payload')
  await expect.poll(said).toMatch(/^No match/)
  expect((await spentMs()) - beforeMs).toBeLessThan(5_000)
})

test('a long argument is searched inside the box of the raw arguments; its field stays in sight', async () => {
  await openPage()
  await show(page, { action: sampleAction({ arguments: { body: BODY } }) })
  await openDetails(page)
  await card().locator('.cs-raw > summary').click()
  await field().fill('pay eve')
  await expect.poll(said).toBe('1 of 2')
  await page.keyboard.press('Enter')
  await expect.poll(said).toBe('2 of 2')
  expect(await marked()).toEqual({ text: 'pay eve', isSeen: true })
  const [box, input] = await Promise.all([card().locator('.cs-raw pre').boundingBox(), field().boundingBox()])
  expect(input?.y).toBeGreaterThanOrEqual(box?.y ?? 0)
  expect(input?.y).toBeLessThan((box?.y ?? 0) + (box?.height ?? 0))
})

test('a search in 200,000 characters takes little time: each step is measured in the time of the page’s own thread', async () => {
  await openPage()
  await showBody(`${'words of an e-mail, '.repeat(10_000)}PAYLOAD`)
  await field().fill('payloa')
  await expect.poll(said).toBe('1 of 1')
  const spentMs = await scriptClock()
  const costs: number[] = []
  for (const { act, says } of [
    { act: () => field().fill('payload'), says: '1 of 1' },
    { act: () => field().fill('e'), says: '1 of 10,000' },
    { act: () => page.keyboard.press('Shift+Enter'), says: '10,000 of 10,000' },
  ]) {
    const beforeMs = await spentMs()
    await act()
    await expect.poll(said).toBe(says)
    costs.push((await spentMs()) - beforeMs)
  }
  console.info(`a search in 200,000 characters: ${costs.map((ms) => `${Math.round(ms)} ms`).join(', ')} a step`)
  expect(Math.max(...costs)).toBeLessThan(150)
})

const LINES = Array.from({ length: 400 }, (_, at) => (at === 300 ? '-pay ada\n+pay EVE\u200B now' : ` line ${at} of a long file`))
const showDiff = (lines: readonly string[], risk: 'medium' | 'high' = 'medium') =>
  show(page, {
    action: sampleAction({
      // What was seen of one version says nothing about another.
      digest: `sha256:${lines.length}`,
      risk: { level: risk, reasons: [], setBy: 'policy' },
      preview: [{ field: 'x', diff: `--- a/x\n+++ b/x\n@@ -1,400 +1,400 @@\n${lines.join('\n')}\n` }],
    }),
  })

test('a long diff is searched where it was hidden, and opens for that; a match is not its end, and a short diff has no search', async () => {
  await openPage()
  await showDiff(LINES.slice(0, 4))
  await card().locator('.cs-diff pre').waitFor()
  expect(await field().count()).toBe(0)
  await showDiff(LINES, 'high')
  expect(await card().locator('.cs-diff').textContent()).not.toContain('pay')
  await field().fill('pay')
  await expect.poll(said).toMatch(/^1 of 2/)
  await page.keyboard.press('Enter')
  await expect.poll(said).toMatch(/^2 of 2/)
  expect(await marked()).toEqual({ text: 'pay', isSeen: true })
  await field().fill('eve now')
  await expect.poll(said).toMatch(/^1 of 1/)
  expect(await marked()).toEqual({ text: 'EVE⟦U+200B⟧ now', isSeen: true })
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('INPUT')
  await page.waitForTimeout(700)
  await page.locator('.cs-approve[data-rest=blocked]').waitFor()
  // What is folded away is not searched.
  await card().getByLabel('Viewed').check()
  await field().waitFor({ state: 'hidden' })
  expect((await marked()).text).toBe('')
})

test.each([
  { look: 'forced colours', options: { forcedColors: 'active' as const, viewport: { width: 320, height: 640 } } },
  { look: 'reduced motion', options: { reducedMotion: 'reduce' as const, viewport: { width: 320, height: 640 }, hasTouch: true } },
])('at 320 px with $look a search fits, and its targets are large enough', async ({ options }) => {
  await openPage(options)
  await showBody(BODY)
  await field().fill('pay eve')
  await expect.poll(said).toBe('1 of 2')
  expect((await marked()).isSeen).toBe(true)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
  for (const target of await card().locator('.cs-find :is(input, button)').all()) {
    const box = await target.boundingBox()
    expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(options.hasTouch ? 44 : 40)
  }
})

test('before the part for long texts came, nothing is approved; where it fails, the card says so, and Try again loads it', async () => {
  await openPage()
  const part = await holdScripts(/\/folded-.*\.js/)
  await showAtOnce(page, { action: sampleAction({ preview: [{ field: 'body', newValue: 'short words '.repeat(80) }] }) })
  await untilReady(page)
  await page.locator('.cs-approve[data-rest=blocked]').waitFor()
  await tryToApprove()
  expect(await calls()).toEqual([])
  await part.fail()
  await card().getByRole('button', { name: 'Try again' }).click()
  await field().waitFor()
  await page.locator('.cs-approve[aria-disabled=false]').waitFor()
})

test('a match stays marked when the marks for letters that look alike come after the search began', async () => {
  await openPage()
  const part = await holdScripts(/\/marks-.*\.js/)
  await showAtOnce(page, { action: sampleAction({ preview: [{ field: 'body', newValue: `${'word '.repeat(600)}аdmin, then stop` }] }) })
  await field().fill('stop')
  await expect.poll(said).toMatch(/^1 of 1/)
  expect((await marked()).text).toBe('stop')
  await part.load()
  await card().locator('.cs-read').getByText('⟦U+0430 Cyrillic⟧').waitFor()
  await expect.poll(marked).toEqual({ text: 'stop', isSeen: true })
})
