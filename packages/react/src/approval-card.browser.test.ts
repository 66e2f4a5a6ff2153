import { expect, test } from 'vitest'
import { ADA, ago, SAM, sampleAction } from './testing/actions.ts'
import { cardParts, settled, show, stopClock, untilReady } from './testing/browser.ts'
import { openPage, page, prepareCardPages } from './testing/card-page.ts'
import type { Reply } from './testing/page.tsx'

prepareCardPages()

const HIGH = sampleAction({ risk: { level: 'high', reasons: ['moves money'], setBy: 'policy' } })

const { calls, card, approve, decline, status, activeIs } = cardParts(() => page)

test('typing goes on undisturbed while a card arrives', async () => {
  await openPage()
  await page.getByLabel('Message').focus()
  await page.keyboard.type('a b')
  await show(page, { action: sampleAction() })
  await page.keyboard.type(' c\n')
  expect(await page.evaluate(() => window.cardPage.sent)).toEqual(['a b c'])
  expect(await activeIs('input[name=message]')).toBe(true)
  expect(await calls()).toEqual([])
})

test('an action that becomes overdue says so and moves nothing; the mark goes with the decision', async () => {
  await openPage({ viewport: { width: 320, height: 900 } })
  const mark = card().locator('.cs-overdue')
  const boxes = () =>
    page.locator('article, button, .cs-bar').evaluateAll((all) => all.map((one) => JSON.stringify(one.getBoundingClientRect())))
  const asked = sampleAction({ createdAt: ago(432) })
  await show(page, { action: asked }, { action: sampleAction({ id: 'act_below' }) })
  await untilReady(page)
  await page.waitForFunction(() => document.querySelectorAll('.cs-refuse[aria-disabled=false]').length === 2)
  const before = await boxes()
  expect(await mark.count()).toBe(0)
  await show(page, { action: { ...asked, overdue: true } }, { action: sampleAction({ id: 'act_below' }) })
  await mark.waitFor()
  expect(await mark.textContent()).toBe('Overdue: undecided for 7 min')
  expect(await boxes()).toEqual(before)
  expect(await approve().first().getAttribute('aria-disabled')).toBe('false')
  const described = (await card().first().getAttribute('aria-describedby'))?.split(' ')[0]
  expect(await mark.getAttribute('id')).toBe(described)
  await show(page, { action: { ...asked, overdue: true, state: 'declined' } }, { action: sampleAction({ id: 'act_below' }) })
  await mark.waitFor({ state: 'detached' })
})

test('a card takes no focus, on load or on arrival', async () => {
  await openPage()
  await show(page, { action: sampleAction() })
  await untilReady(page)
  expect(await activeIs('body')).toBe(true)
})

test('Enter and Space on the page or on the card decide nothing', async () => {
  await openPage()
  await show(page, { action: sampleAction() })
  await untilReady(page)
  await page.keyboard.press('Enter')
  await page.keyboard.press('Space')
  await card().focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Space')
  expect(await calls()).toEqual([])
})

test('A arms and says so, Enter commits once', async () => {
  await openPage()
  await stopClock(page)
  await show(page, { action: sampleAction() })
  await page.clock.runFor(600)
  await card().focus()
  await page.keyboard.press('a')
  expect(await calls()).toEqual([])
  expect(await status()).toBe('Press Enter to approve: Set order ORD-001 to processing')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  expect(await calls()).toEqual([
    { actionId: sampleAction().id, verdict: 'approve', details: { revision: 1, digest: sampleAction().digest } },
  ])
  expect(await status()).toBe('Sent. Waiting for the server.')
})

test('an armed card lapses after 3 s, and Escape disarms it at once', async () => {
  await openPage()
  await stopClock(page)
  await show(page, { action: sampleAction() })
  await page.clock.runFor(600)
  await card().focus()
  await page.keyboard.press('a')
  await page.clock.runFor(2_900)
  expect(await status()).toMatch(/^Press Enter/)
  await page.clock.runFor(200)
  expect(await status()).toBe('')
  await page.keyboard.press('Enter')
  await page.keyboard.press('a')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Enter')
  expect(await calls()).toEqual([])
})

test('while armed, Enter on another control keeps its own meaning', async () => {
  await openPage()
  await stopClock(page)
  await show(page, { action: sampleAction() })
  await page.clock.runFor(600)
  await card().focus()
  await page.keyboard.press('a')
  await decline().focus()
  await page.keyboard.press('Enter')
  expect((await calls()).map((call) => call.verdict)).toEqual(['decline'])
})

test('Ctrl+Enter approves only with the focus in the card', async () => {
  await openPage()
  await show(page, { action: sampleAction() })
  await untilReady(page)
  await page.getByLabel('Message').focus()
  await page.keyboard.press('Control+Enter')
  expect(await calls()).toEqual([])
  await card().focus()
  await page.keyboard.press('Control+Enter')
  expect((await calls()).map((call) => call.verdict)).toEqual(['approve'])
})

const rests = async (disturb: () => Promise<unknown>) => {
  await disturb()
  await approve().dispatchEvent('click')
  await page.clock.runFor(400)
  await approve().dispatchEvent('click')
  expect(await calls()).toEqual([])
  expect(await status()).toBe('Ignored: this just moved or changed. Press again.')
  await page.clock.runFor(200)
  await approve().dispatchEvent('click')
  expect(await calls()).toHaveLength(1)
  expect(await status()).toBe('Sent. Waiting for the server.')
}

/** Why Approve cannot be pressed; null when it can. */
const rest = async () => {
  const [isDisabled, why] = await approve().evaluate((button) => [button.getAttribute('aria-disabled'), button.getAttribute('data-rest')])
  expect(isDisabled).toBe(String(why !== null))
  return why
}

test('a click within 500 ms of the arrival is ignored, one after 600 ms counts', async () => {
  await openPage()
  await stopClock(page)
  await rests(() => show(page, { action: sampleAction() }))
})

test('a click right after the card moved by 8 px is ignored', async () => {
  await openPage()
  await stopClock(page)
  await show(page, { action: sampleAction() })
  await page.clock.runFor(600)
  await rests(() => page.evaluate(() => window.cardPage.setAbovePx(8)))
})

test('a move of the card is noticed without any click, and a small one is not a move', async () => {
  await openPage()
  // It says so for half a second only, which a look from outside would miss on a clock that runs.
  await stopClock(page)
  await show(page, { action: sampleAction() })
  await page.clock.runFor(600)
  await page.evaluate(() => window.cardPage.setAbovePx(4))
  await settled(page)
  expect(await rest()).toBe(null)
  await page.evaluate(() => window.cardPage.setAbovePx(120))
  await settled(page)
  expect(await rest()).toBe('moved')
  await page.clock.runFor(600)
  await approve().click()
  expect(await calls()).toHaveLength(1)
})

test('small steps that add up to a move are noticed without any click', async () => {
  await openPage()
  await stopClock(page)
  await show(page, { action: sampleAction() })
  await page.clock.runFor(600)
  const rests: unknown[] = []
  for (const px of [7, 9]) {
    await page.evaluate((px) => window.cardPage.setAbovePx(px), px)
    await settled(page)
    rests.push(await rest())
  }
  expect(rests).toEqual([null, 'moved'])
})

test('the first moment in which a button says that it can be pressed, it can', async () => {
  await openPage()
  await page.evaluate(() => {
    new MutationObserver(() => document.querySelector<HTMLElement>('.cs-approve[aria-disabled=false]')?.click()).observe(document.body, {
      subtree: true,
      attributeFilter: ['aria-disabled'],
    })
  })
  for (let revision = 1; revision <= 10; revision++) {
    await show(page, { action: sampleAction({ revision, digest: `sha256:${revision}` }) })
    await page.waitForFunction((count) => window.cardPage.calls.length === count, revision)
  }
})

test('a button says why it cannot be pressed', async () => {
  await openPage()
  await stopClock(page)
  await show(page, { action: sampleAction() })
  await expect.poll(rest).toBe('new')
  await page.clock.runFor(600)
  await expect.poll(rest).toBe(null)
  await page.evaluate(() => window.cardPage.setAbovePx(120))
  await page.locator('.cs-approve[data-rest=moved]').waitFor()
  await expect.poll(rest).toBe('moved')
  await page.clock.runFor(600)
  await show(page, { action: sampleAction(), connection: 'offline' })
  await expect.poll(rest).toBe('paused')
  // The line about the connection goes, and the buttons move; the browser tells of it a frame or several later, each time with a new rest.
  await show(page, { action: sampleAction() })
  await expect.poll(() => page.clock.runFor(600).then(rest)).toBe(null)
  await page.evaluate(() => {
    window.cardPage.reply = { kind: 'hang' }
  })
  // The browser may tell of the move once more before the press: on a stopped clock, that rest would last.
  await expect
    .poll(async () => {
      await page.clock.runFor(600)
      if ((await rest()) === null) await approve().dispatchEvent('click')
      return rest()
    })
    .toBe('busy')
})

test('a press in a dialog that does not count is said there', async () => {
  await openPage()
  await stopClock(page)
  await show(page, { action: HIGH })
  await page.clock.runFor(600)
  await approve().dispatchEvent('click')
  const dialog = page.getByRole('alertdialog')
  const stood = await dialog.boundingBox()
  await dialog.locator('[type=submit][data-rest=new]').dispatchEvent('click')
  expect(await dialog.getByRole('status').textContent()).toBe('Ignored: this just moved or changed. Press again.')
  // Saying so moves nothing: a dialog that grew would swallow the next press as well.
  expect(await dialog.boundingBox()).toEqual(stood)
  expect(await calls()).toEqual([])
  await page.clock.runFor(600)
  await dialog.locator('[type=submit][aria-disabled=false]').dispatchEvent('click')
  expect(await calls()).toHaveLength(1)
})

test('on a phone too, saying that a press was ignored moves nothing, so the next press counts when the rest is over', async () => {
  await openPage({ viewport: { width: 320, height: 900 } })
  await stopClock(page)
  for (const action of [sampleAction(), HIGH]) {
    await show(page, { action: { ...action, digest: action.risk.level } })
    const place = () =>
      page
        .locator('article, .cs-decide button, dialog, dialog button')
        .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().y))
    const press = action === HIGH ? page.locator('dialog [type=submit]') : approve()
    await approve().waitFor()
    if (action === HIGH) {
      await page.clock.runFor(600)
      await approve().dispatchEvent('click')
    }
    await press.and(page.locator('[data-rest=new]')).waitFor()
    const before = await place()
    const made = (await calls()).length
    await press.dispatchEvent('click')
    await page.getByText('Ignored: this just moved or changed. Press again.').waitFor()
    expect(await place()).toEqual(before)
    await page.clock.runFor(500)
    await press.dispatchEvent('click')
    expect(await calls()).toHaveLength(made + 1)
  }
})

test('a click right after the window came back is ignored', async () => {
  await openPage()
  await stopClock(page)
  await show(page, { action: sampleAction() })
  await page.clock.runFor(600)
  await rests(() => page.evaluate(() => window.dispatchEvent(new Event('focus'))))
})

test('a changed action disarms, says so and rests', async () => {
  await openPage()
  await stopClock(page)
  await show(page, { action: sampleAction() })
  await page.clock.runFor(600)
  await card().focus()
  await page.keyboard.press('a')
  const changed = sampleAction({ revision: 2, digest: 'sha256:0000', description: 'Set order ORD-002 to processing' })
  await rests(async () => {
    await show(page, { action: changed })
    expect(await status()).toBe('This changed while you looked. Review it again.')
    await page.keyboard.press('Enter')
  })
  expect((await calls())[0]?.details).toEqual({ revision: 2, digest: 'sha256:0000' })
})

test('the letters of a sentence are no shortcuts of the page after its field is gone, until the person paused for a second', async () => {
  await openPage()
  await show(page, { action: sampleAction() })
  await untilReady(page)
  await card().focus()
  await page.keyboard.press('d')
  await page.locator('.cs-decline textarea').waitFor()
  const decided = sampleAction({ state: 'declined', votes: [{ by: SAM, verdict: 'decline', at: ago(1) }], updatedAt: ago(1) })
  // All in one task: on a slow machine the second would be over.
  const heard = await page.evaluate(
    ([cards, message]) => {
      const heard: string[] = []
      document.addEventListener('keydown', ({ key }) => heard.push(key))
      const type = (keys: string[], afterMs: number, field?: string) => {
        for (const key of keys) {
          const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ctrlKey: key === 'c' })
          Object.defineProperty(event, 'timeStamp', { value: performance.now() + afterMs })
          const target = field === undefined ? document.activeElement : document.querySelector(field)
          target?.dispatchEvent(event)
        }
      }
      window.cardPage.show(JSON.parse(cards ?? ''))
      type([' ', 'x', 'Enter'], 0)
      type(['Tab', 'Escape', 'c'], 0)
      type(['m'], 0, message)
      type(['y'], 900)
      type(['z'], 1_800)
      type(['j'], 2_900)
      type(['k'], 3_000)
      return heard
    },
    [JSON.stringify([{ me: ADA, action: decided }]), 'input[name=message]'],
  )
  expect(await activeIs('.cs-card')).toBe(true)
  expect(heard).toEqual(['Tab', 'Escape', 'c', 'm', 'j', 'k'])
})

test.each(['Escape', 'Control+Enter'])('after %s in a form, the next key is meant for the page', async (how) => {
  await openPage()
  await show(page, { action: sampleAction({ state: 'outcome_unknown' }), withOutcomes: true })
  await page.getByRole('button', { name: 'Mark done' }).and(page.locator('[aria-disabled=false]')).click()
  await page.getByRole('textbox', { name: /^What did you see/ }).fill('It is there.')
  await page.evaluate(() => {
    document.addEventListener('keydown', ({ key }) => window.cardPage.sent.push(key))
  })
  await page.keyboard.press(how)
  await show(page, { action: sampleAction({ state: 'succeeded', updatedAt: ago(1) }), withOutcomes: true })
  await page.keyboard.press('j')
  expect(await page.evaluate(() => window.cardPage.sent.at(-1))).toBe('j')
})

test('a double click is one request', async () => {
  await openPage()
  await page.evaluate(() => {
    window.cardPage.reply = { kind: 'hang' }
  })
  await show(page, { action: sampleAction() })
  await untilReady(page)
  await approve().dblclick()
  expect(await calls()).toHaveLength(1)
  expect(await status()).toBe('Sending…')
  expect(await card().getAttribute('data-state')).toBe('proposed')
})

test('a refused decision says who was first, and one about an old version asks to review again', async () => {
  await openPage()
  const taken = sampleAction({ state: 'approved', votes: [{ by: SAM, verdict: 'approve', at: '2026-11-21T10:44:52.000Z' }] })
  const reply: Reply = { kind: 'refuse', error: { code: 'already_decided', message: 'no', action: taken } }
  await page.evaluate((text) => {
    window.cardPage.reply = JSON.parse(text)
  }, JSON.stringify(reply))
  await show(page, { action: sampleAction() })
  await untilReady(page)
  await approve().click()
  await page.getByText('Already approved by Sam 8 s ago.').waitFor()
  await page.evaluate(() => {
    window.cardPage.reply = { kind: 'refuse', error: { code: 'revision_mismatch', message: 'no' } }
  })
  await show(page, { action: sampleAction({ id: 'act_2' }) })
  await untilReady(page)
  await approve().click()
  await page.getByText('This changed while you looked. Review it again.').waitFor()
})
