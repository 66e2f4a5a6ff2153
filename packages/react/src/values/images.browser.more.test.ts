import { AxeBuilder } from '@axe-core/playwright'
import { expect, test } from 'vitest'
import { sampleAction } from '../testing/actions.ts'
import { openDetails, show } from '../testing/browser.ts'
import { openPage, page, prepareCardPages } from '../testing/card-page.ts'

prepareCardPages()

const card = () => page.getByTestId('approval-card')

/** Two pixels of red. */
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAADUlEQVR4nGP4z8AARAAH/gH/Mlj8uAAAAABJRU5ErkJggg=='

/** The data URL of a picture that a browser made, longer than the card shows of a text. */
const drawn = () =>
  page.evaluate(() => {
    const canvas = document.createElement('canvas')
    canvas.width = 60
    canvas.height = 40
    const context = canvas.getContext('2d')
    for (let at = 0; at < 200; at++) {
      if (context) context.fillStyle = `hsl(${at * 7} 80% 50%)`
      context?.fillRect((at * 13) % 60, (at * 7) % 40, 9, 5)
    }
    return canvas.toDataURL('image/png')
  })

test('a picture in a value is drawn from the value itself, with its size; its text stays there, and still has to be read', async () => {
  await openPage()
  const url = await drawn()
  const action = sampleAction({
    risk: { level: 'high', reasons: [], setBy: 'policy' },
    arguments: { photo: url },
    preview: [
      { field: 'photo', newValue: url },
      { field: 'icon', newValue: DOT },
    ],
  })
  await show(page, { action })
  const images = card().locator('.cs-changes img')
  expect(await images.evaluateAll((all) => all.map((image) => image.getAttribute('alt')))).toMatchObject([
    expect.stringMatching(/^The value: PNG, 60 × 40 pixels, [\d,]+ bytes$/),
    'The value: PNG, 2 × 1 pixels, 70 bytes',
  ])
  // Decoded, so the policy of the page allowed it.
  await images.evaluateAll((all) => Promise.all(all.map((image) => (image as HTMLImageElement).decode())))
  await page.locator('.cs-approve[data-rest=blocked]').waitFor()
  await openDetails(page)
  await card().locator('.cs-raw summary').click()
  await card().locator('.cs-raw img').waitFor()
  expect((await new AxeBuilder({ page }).include('.cs-card').analyze()).violations).toEqual([])
})

test('an edit shows the pictures of both its values, a list as a list, and a long text behind its length', async () => {
  await openPage()
  const [before, after] = [await drawn(), DOT]
  await show(page, { action: sampleAction({ arguments: { photo: before, tags: ['a', 'b'] } }), withEditor: true })
  await openDetails(page)
  await card().locator('.cs-edit summary').click()
  await card()
    .getByLabel('Arguments')
    .fill(JSON.stringify({ photo: after, tags: ['a', 'b', 'c'] }))
  const edits = card().getByRole('list', { name: /^Edits/ })
  await edits.locator('del img').waitFor()
  expect(await edits.locator('ins img').count()).toBe(1)
  expect(await edits.locator('.cs-item').allTextContents()).toEqual(['a', 'b', 'a', 'b', 'c'])
  await edits.getByRole('button', { name: /hidden/ }).waitFor()
  expect((await new AxeBuilder({ page }).include('.cs-card').analyze()).violations).toEqual([])
  await card().locator('.cs-approve').filter({ hasText: 'with 2 edits' }).waitFor()
})

test('no address of a picture is fetched, no SVG is drawn, and text that names a picture stays text', async () => {
  await openPage()
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  const values = [
    'https://evil.example/pixel.png',
    '<img src="https://evil.example/pixel.png">',
    '![a](https://evil.example/pixel.png)',
    `data:image/svg+xml;base64,${btoa('<svg xmlns="http://www.w3.org/2000/svg"><image href="https://evil.example/a.png"/></svg>')}`,
    `data:image/png;base64,${btoa('<svg/>')}`,
  ]
  const preview = values.map((newValue) => ({ field: 'photo', newValue }))
  await show(page, { action: sampleAction({ preview, arguments: { values } }) })
  expect(await card().locator('img, svg, image').count()).toBe(0)
  expect(await card().locator('ins').allTextContents()).toEqual(values)
  expect(asked.filter((url) => url.includes('evil'))).toEqual([])
})

test('a picture is never wider than its card, on a phone either', async () => {
  await openPage({ viewport: { width: 320, height: 640 } })
  const wide = await page.evaluate(() => {
    const canvas = document.createElement('canvas')
    canvas.width = 3_000
    canvas.height = 20
    return canvas.toDataURL('image/png')
  })
  await show(page, { action: sampleAction({ preview: [{ field: 'photo', oldValue: DOT, newValue: wide }] }) })
  await card().locator('ins img').waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
})
