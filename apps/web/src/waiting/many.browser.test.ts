import * as wire from '@countersign/core'
import { expect, test } from 'vitest'
import { openInboxPage, until } from '../testing/inbox-page.ts'

const inbox = openInboxPage(wire)
const MANY = 2_000
const risks = ['low', 'medium', 'high']
const at = (seconds: number) => new Date(Date.UTC(2026, 10, 21, 10, 0, seconds)).toISOString()
const manyOf = (more: object = {}) =>
  Array.from({ length: MANY }, (_, no) =>
    inbox.actionOf(`n${no}`, { createdAt: at(no), risk: { level: risks[no % 3], reasons: [], setBy: 'policy' }, ...more }),
  )
const summary = () => inbox.page.getByTestId('waiting-summary').textContent()
const elements = () => inbox.page.evaluate(() => document.querySelectorAll('*').length)

for (const group of ['', 'shape', 'requester', 'rule'])
  test(`on a phone with thousands waiting, grouped by ${group || 'nothing'}, the page has less than 2,000 elements, and one that comes draws no row again`, async () => {
    await inbox.page.setViewportSize({ width: 390, height: 844 })
    inbox.waiting = manyOf()
    await inbox.open(`?view=waiting&order=oldest&group=${group}`)
    await until(summary).toBe(`${MANY} waiting`)
    // All of them are in the list, and not only counted: the list is drawn after the count. By shape they are in groups, one for each risk.
    const sizes = () =>
      inbox.page.getByTestId('waiting-row').evaluateAll((rows) => rows.map((row) => Number(row.getAttribute('aria-setsize'))))
    await until(async () => Math.max(...(await sizes()))).toBe(group === 'shape' ? Math.ceil(MANY / risks.length) : MANY)
    const changed = await inbox.page.evaluateHandle(() => {
      const found: string[] = []
      const list = document.querySelector('.inbox-rows')
      new MutationObserver((changes) => {
        for (const { target, type, attributeName } of changes) {
          const element = target instanceof Element ? target : target.parentElement
          if (element?.closest('.inbox-row')) found.push(attributeName ?? type)
        }
      }).observe(list ?? document, { subtree: true, childList: true, characterData: true, attributes: true })
      return found
    })
    const before = await sizes()
    inbox.propose(inbox.actionOf('new', { createdAt: at(MANY), risk: { level: 'low', reasons: [], setBy: 'policy' } }))
    await until(sizes).toEqual(before.map((size) => size + 1))
    expect(await summary()).toBe(`${MANY + 1} waiting`)
    // How many there are is said of each row; its text and its elements are as before.
    expect([...new Set(await changed.jsonValue())]).toEqual(['aria-setsize'])
    expect(await elements()).toBeLessThan(2_000)
    await inbox.page.locator('.inbox-scroll').evaluate((box) => box.scrollTo(0, box.scrollHeight / 2))
    await until(() => inbox.page.locator('[data-row=act_n0]').count()).toBeLessThanOrEqual(1)
    expect(await elements()).toBeLessThan(2_000)
  })

test('where thousands are left out of a decision, the preview names some of them and counts the others by reason', async () => {
  inbox.waiting = manyOf()
  await inbox.open('?view=waiting&order=oldest')
  await until(summary).toBe(`${MANY} waiting`)
  await inbox.page.keyboard.press('x')
  await inbox.page.getByRole('button', { name: `Choose all ${MANY.toLocaleString('en')}` }).click()
  await inbox.page.getByTestId('chosen-bar').getByRole('button', { name: 'Approve…' }).click()
  const left = inbox.page.getByRole('dialog').locator('.bulk-left li')
  await inbox.page.getByRole('heading', { name: `Approve 500 actions of ${MANY}` }).waitFor()
  expect(await left.count()).toBeLessThan(60)
  expect(await left.last().textContent()).toMatch(/^[\d,]+ more (High risk is decided one by one|At most 500 are decided at once)\.$/)
})
