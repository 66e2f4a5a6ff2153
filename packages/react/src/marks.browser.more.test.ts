import type { Action } from '@countersign/client'
import type { BrowserContextOptions } from '@playwright/test'
import { expect, test } from 'vitest'
import { sampleAction } from './testing/actions.ts'
import { cardParts, openDetails, showAtOnce, untilReady } from './testing/browser.ts'
import { holdScripts, openPage, page, prepareCardPages } from './testing/card-page.ts'

prepareCardPages()

const { calls, card, approve, decline, tryToApprove } = cardParts(() => page)
const tryAgain = () => card().getByRole('button', { name: 'Try again' })

/** Opens a page whose marks for names that look alike are held back until they fail or are let through. */
async function holdBack(options?: BrowserContextOptions) {
  await openPage(options)
  return holdScripts(/\/marks-.*\.js/)
}

/** Each action has a text that the card must mark; `mark` is the text that the card then shows. */
const ODD: Record<string, { action: Action; mark: string; says?: string }> = {
  'a Cyrillic letter in the sentence': { action: sampleAction({ description: 'Give аdmin to Bo' }), mark: 'аdmin⟦U+0430 Cyrillic⟧' },
  'a Cyrillic letter in a new value': {
    action: sampleAction({ preview: [{ field: 'user', newValue: 'аdmin' }] }),
    mark: 'аdmin⟦U+0430 Cyrillic⟧',
  },
  'a host that is spelled xn--': {
    action: sampleAction({ preview: [{ field: 'url', newValue: 'https://xn--pple-43d.com/' }] }),
    mark: '⟦аpple.com⟧',
  },
  'two names that look alike': {
    action: sampleAction({ arguments: { one: 'ada@example.com', other: 'аdа@example.com' } }),
    mark: 'Names that look alike but differ',
  },
  'two values in ASCII that look alike': {
    action: sampleAction({ preview: [{ field: 'account', oldValue: 'AB1', newValue: 'ABl' }] }),
    mark: 'look alike, differ in character 3',
  },
  'a Cyrillic letter in what the agent says': { action: sampleAction(), says: 'for аdmin', mark: 'аdmin⟦U+0430 Cyrillic⟧' },
}

test.each(Object.entries(ODD))(
  'with %s, nothing is approved before its mark came; then it is marked, and can be',
  async (_, { action, mark, says }) => {
    const part = await holdBack()
    await showAtOnce(page, { action, ...(says === undefined ? {} : { agentSays: says }) })
    await card().locator('.cs-raw').waitFor({ state: 'attached' })
    await untilReady(page)
    await page.locator('.cs-approve[data-rest=blocked]').waitFor()
    await tryToApprove()
    expect(await calls()).toEqual([])
    expect(await card().textContent()).not.toContain(mark)
    await part.load()
    await page.locator('.cs-approve[aria-disabled=false]').waitFor()
    expect(await card().textContent()).toContain(mark)
    await approve().click()
    expect((await calls()).map(({ verdict }) => verdict)).toEqual(['approve'])
  },
)

test('where the marks could not be loaded, nothing is approved and Decline works; Try again loads them', async () => {
  const part = await holdBack()
  await showAtOnce(page, { action: sampleAction({ description: 'Give аdmin to Bo' }) })
  await part.fail()
  await tryAgain().waitFor()
  await untilReady(page)
  await tryToApprove()
  expect(await calls()).toEqual([])
  await tryAgain().click()
  await page.locator('.cs-approve[aria-disabled=false]').waitFor()
  expect(await card().getByRole('heading').textContent()).toBe('Give аdmin⟦U+0430 Cyrillic⟧ to Bo')
  await decline().click()
  expect((await calls()).map(({ verdict }) => verdict)).toEqual(['decline'])
})

test('an edit to a name in other letters cannot be approved before it is marked', async () => {
  const part = await holdBack()
  await showAtOnce(page, { action: sampleAction(), withEditor: true })
  await page.locator('.cs-approve[aria-disabled=false]').waitFor()
  await openDetails(page)
  await card().locator('.cs-edit > summary').click()
  await card().getByLabel('Arguments').fill('{"orderId":"ORD-001","newStatus":"рrocessing"}')
  await page.locator('.cs-approve[data-rest=blocked]').waitFor()
  await card().getByRole('button', { name: 'Approve with 1 edit' }).dispatchEvent('click')
  expect(await calls()).toEqual([])
  await part.load()
  await page.locator('.cs-approve[aria-disabled=false]').waitFor()
  expect(await card().locator('.cs-edit ins').textContent()).toBe('рrocessing⟦U+0440 Cyrillic⟧')
})

test.each([320, 900])('text in another script is as high before the marks came as after, %d px wide', async (width) => {
  const part = await holdBack({ viewport: { width, height: 640 } })
  const text = 'Пожалуйста, верните деньги за заказ ORD-001 на карту.'
  await showAtOnce(page, { action: sampleAction({ description: text, preview: [{ field: 'Причина', newValue: text }] }) })
  await card().locator('.cs-raw').waitFor({ state: 'attached' })
  await untilReady(page)
  const before = (await card().boundingBox())?.height
  await part.load()
  await page.locator('.cs-approve[aria-disabled=false]').waitFor()
  expect((await card().boundingBox())?.height).toBe(before)
})

test('a card of plain text asks for no marks', async () => {
  const part = await holdBack()
  await showAtOnce(page, { action: sampleAction({ preview: [{ field: 'total', oldValue: '10.00', newValue: '40.00' }] }) })
  await page.locator('.cs-approve[aria-disabled=false]').waitFor()
  await openDetails(page)
  expect(part.asked()).toBe(0)
})
