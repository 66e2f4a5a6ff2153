import * as wire from '@countersign/core'
import { expect, test } from 'vitest'
import { openInboxPage, until } from '../testing/inbox-page.ts'
import { press, untilReady } from '../testing/press.ts'
import { withoutTimers } from '../testing/timers.ts'
import { requires } from '../testing/waiting-action.ts'

const inbox = openInboxPage(wire)
const { actionOf, open, rows, focused, card, cardIsReady } = inbox
/** So long a card stays armed: in these tests until Enter is pressed, however slow the machine. */
const ARMED_MS = 3_000

test('the rows are a list box: one has the focus, arrows, Home and End move it, and it says where it stands', async () => {
  await open()
  await inbox.page.keyboard.press('j')
  await until(focused).toBe('two')
  await inbox.page.keyboard.press('ArrowDown')
  await inbox.page.keyboard.press('ArrowDown')
  expect(await focused()).toBe('three')
  await inbox.page.keyboard.press('Home')
  expect(await focused()).toBe('one')
  await inbox.page.keyboard.press('End')
  await inbox.page.keyboard.press('k')
  expect(await focused()).toBe('two')
  const selected = inbox.page.locator('.inbox-row[aria-selected=true]')
  expect(await selected.getAttribute('data-row')).toBe('act_two')
  expect([await selected.getAttribute('aria-posinset'), await selected.getAttribute('aria-setsize')]).toEqual(['2', '3'])
  expect(await inbox.page.locator('.inbox-row[tabindex="0"]').count()).toBe(1)
  await until(() => card().textContent()).toContain('Send two')
})

test('nothing in the list moves while the focus is in it; what is new waits behind a pill, what is decided stays and says so', async () => {
  await open()
  await inbox.page.keyboard.press('j')
  const before = await inbox.page.locator('[data-row=act_two]').boundingBox()
  const urgent = actionOf('urgent', { expiresAt: new Date(Date.now() + 3_600_000).toISOString() })
  inbox.propose(urgent)
  await inbox.page.getByTestId('waiting-fresh').waitFor()
  inbox.decline('act_one')
  await inbox.page.locator('[data-row=act_one][data-decided=true]').waitFor()
  await until(() => inbox.page.getByTestId('waiting-summary').textContent()).toBe('3 waiting')
  expect(await rows()).toEqual(['one', 'two', 'three'])
  expect(await inbox.page.locator('[data-row=act_two]').boundingBox()).toEqual(before)
  expect(await focused()).toBe('two')
  expect(await inbox.page.getByTestId('waiting-fresh').textContent()).toBe('1 new')
  await inbox.page.getByTestId('waiting-fresh').click()
  await until(rows).toEqual(['urgent', 'two', 'three'])
  expect(await focused()).toBe('urgent')
})

test('keys act from anywhere on the page but never in a field, and not at all once they are switched off', async () => {
  await open()
  await inbox.page.getByRole('link', { name: 'Policy' }).focus()
  await inbox.page.keyboard.press('j')
  await until(focused).toBe('two')
  await inbox.page.keyboard.press('/')
  const field = inbox.page.getByRole('searchbox', { name: 'Search actions' })
  await inbox.page.keyboard.type('jkade?/')
  expect(await field.inputValue()).toBe('jkade?/')
  await inbox.page.getByText('Nothing matches this search').waitFor()
  expect(await inbox.page.getByRole('dialog').count()).toBe(0)
  await inbox.page.keyboard.press('Escape')
  await until(() => field.inputValue()).toBe('')
  await until(rows).toEqual(['one', 'two', 'three'])
  await inbox.page.keyboard.press('Escape')
  await until(focused).toBe('one')
  await inbox.page.keyboard.press('?')
  await inbox.page.getByRole('dialog').waitFor()
  // A dialog has the keys for itself.
  await inbox.page.keyboard.press('j')
  await inbox.page.getByRole('button', { name: 'Switch off' }).click()
  await inbox.page.getByRole('button', { name: 'Close' }).click()
  await inbox.page.getByRole('dialog').waitFor({ state: 'detached' })
  await inbox.page.locator('[data-row=act_two]').click()
  for (const key of ['j', 'k', 'a', 'd', 'e', '/']) await inbox.page.keyboard.press(key)
  expect(await focused()).toBe('two')
  expect(await card().textContent()).not.toContain('Press Enter')
  // What everybody expects of a list stays.
  await inbox.page.keyboard.press('ArrowDown')
  expect(await focused()).toBe('three')
  expect(inbox.decisions).toEqual([])
})

test('Escape ends a search for good, also right before a reload, and also when the address takes the search at that very moment', async () => {
  await open()
  const field = inbox.page.getByRole('searchbox', { name: 'Search actions' })
  const search = async () => new URL(inbox.page.url()).search
  await inbox.page.keyboard.press('/')
  await inbox.page.keyboard.type('two')
  await until(search).toBe('?q=two')
  await inbox.page.keyboard.press('Escape')
  await inbox.page.reload()
  await until(rows).toEqual(['one', 'two', 'three'])
  expect([await search(), await field.inputValue()]).toEqual(['', ''])
  // The page is drawn with an address only after the browser has it.
  await inbox.page.evaluate(() => {
    const replace = history.replaceState.bind(history)
    history.replaceState = (...given) => {
      history.replaceState = replace
      replace(...given)
      document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))
    }
  })
  await inbox.page.keyboard.press('/')
  await inbox.page.keyboard.type('two')
  await until(() => field.inputValue()).toBe('')
  await until(search).toBe('')
  await until(rows).toEqual(['one', 'two', 'three'])
})

test('in a tall window a short card stands at the top of its pane, and the room that is left is below it', async () => {
  await inbox.page.setViewportSize({ width: 1_440, height: 2_000 })
  await open()
  await cardIsReady()
  // The texts of these tests are long ones.
  await card().evaluate((card) => Object.assign((card as HTMLElement).style, { maxHeight: '100px', overflow: 'hidden' }))
  const place = inbox.page.locator('.inbox-pane-card')
  await until(async () => (await place.boundingBox())?.height).toBeGreaterThan(1_000)
  // Both at one moment: what is above them may still grow.
  const belowTop = () =>
    place.evaluate((place) => {
      const card = place.querySelector('.cs-card')?.getBoundingClientRect()
      return (card?.y ?? Number.NaN) - place.getBoundingClientRect().y
    })
  await until(belowTop).toBeLessThan(40)
})

test('A arms the card that is shown, by the rules of the card: it rests while it is new, and A alone approves nothing', async () => {
  await withoutTimers(inbox.page, ARMED_MS)
  await open()
  await cardIsReady()
  // Both in one task, so that the card of the second row has only just come whenever the second one is heard.
  await inbox.page.evaluate(() => {
    for (const key of ['j', 'a'])
      (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
  })
  await until(() => card().textContent()).toContain('Ignored')
  await cardIsReady()
  await inbox.page.keyboard.press('a')
  await until(() => card().textContent()).toContain('Press Enter to approve: Send two')
  expect(inbox.decisions).toEqual([])
  await inbox.page.keyboard.press('Enter')
  await until(() => Promise.resolve(inbox.decisions)).toEqual(['act_two'])
  await until(focused).toBe('three')
})

test('who gives an action more time by key stays with it: the next one is selected only once it needs them no more', async () => {
  const [expiresAt, extendableUntil] = [1, 2].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString())
  inbox.waiting[0] = actionOf('one', { expiresAt, extendableUntil, extension: undefined })
  await open()
  await cardIsReady()
  const extended = { ...inbox.waiting[0], expiresAt: extendableUntil, updatedAt: '2099-01-01T00:00:00.000Z' }
  await inbox.page.route('**/api/actions/act_one/extend', (route) => route.fulfill({ json: extended }))
  // The preview of these actions is empty, so the details are open.
  const extend = card().getByRole('button', { name: /^Extend until/ })
  await untilReady(extend)
  await extend.focus()
  const answer = inbox.page.waitForResponse((response) => response.url().endsWith('/extend'))
  await inbox.page.keyboard.press('Enter')
  await answer
  await until(() => card().locator('.cs-status').textContent()).not.toBe('Sending…')
  expect(await inbox.page.locator('.inbox-row[aria-selected=true]').getAttribute('data-row')).toBe('act_one')
  expect(await card().textContent()).toContain('Send one')
})

test('the answer of a decision that comes late moves nothing once another row is selected', async () => {
  await withoutTimers(inbox.page, ARMED_MS)
  const asked = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  await inbox.page.route('**/api/actions/act_one/decision', async (route) => {
    asked.resolve()
    await held.promise
    await route.fulfill({ json: { ...inbox.waiting[0], state: 'succeeded', updatedAt: '2099-01-01T00:00:00.000Z' } })
  })
  await open()
  await cardIsReady()
  await inbox.page.keyboard.press('a')
  await until(() => card().textContent()).toContain('Press Enter to approve: Send one')
  await inbox.page.keyboard.press('Enter')
  await asked.promise
  await inbox.page.keyboard.press('j')
  await inbox.page.keyboard.press('j')
  await until(() => card().textContent()).toContain('Send three')
  await cardIsReady()
  await inbox.page.keyboard.press('d')
  const reason = card().getByRole('textbox', { name: /^Reason/ })
  await until(() => reason.evaluate((field) => field === document.activeElement)).toBe(true)
  await inbox.page.keyboard.type('Wrong')
  const answer = inbox.page.waitForResponse((response) => response.url().endsWith('/act_one/decision'))
  held.resolve()
  await (await answer).finished()
  // Runs once the page has taken the answer.
  await inbox.page.evaluate(() => scheduler.postTask(() => {}, { priority: 'background' }))
  await inbox.page.keyboard.type(' account')
  expect(await reason.evaluateAll((fields) => fields.map((field) => (field as HTMLTextAreaElement).value))).toEqual(['Wrong account'])
  expect(await inbox.page.locator('.inbox-row[aria-selected=true]').getAttribute('data-row')).toBe('act_three')
})

/** Opens the form for a reason on the first card, and begins one. */
async function beginReason() {
  await open()
  await cardIsReady()
  await inbox.page.keyboard.press('d')
  const reason = card().getByRole('textbox', { name: /^Reason/ })
  await until(() => reason.evaluate((field) => field === document.activeElement)).toBe(true)
  await inbox.page.keyboard.type('Not')
  return reason
}

test('who goes on typing a reason while the action changes approves nothing', async () => {
  const asked = actionOf('one', { revision: 1, revised: null, createdAt: '2026-11-21T10:00:00.000Z' })
  inbox.waiting[0] = asked
  const reason = await beginReason()
  const by = { id: 'prn_ben', kind: 'person', name: 'Ben', roles: [] }
  const changed = {
    revision: 2,
    digest: `sha256:${'b'.repeat(64)}`,
    revised: { why: 'edit', reason: 'Ben edited it.', by, at: '2098-01-01T00:00:00.000Z' },
    updatedAt: '2098-01-01T00:00:00.000Z',
  }
  const { id, ...update } = { ...asked, ...changed }
  // The page reads an action of another revision again.
  inbox.waiting[0] = actionOf('one', update)
  inbox.server.push('/api/events', 'action_update', { proposalId: id, ...update })
  await until(() => card().textContent()).toContain('Ben edited it.')
  await until(() => card().locator('.cs-status').textContent()).toBe('This changed while you looked. Review it again.')
  await inbox.page.keyboard.type(' that way\n')
  expect(await reason.evaluateAll((fields) => fields.map((field) => (field as HTMLTextAreaElement).value))).toEqual(['Not that way\n'])
  const sent = inbox.page.waitForRequest((request) => request.url().endsWith('/act_one/decision'))
  // A press that came while it moved does not count, and is made again.
  await press(card().getByRole('button', { name: 'Send decline' }))
  const { revision, digest } = changed
  expect((await sent).postDataJSON()).toMatchObject({ verdict: 'decline', reason: 'Not that way', revision, digest })
})

test('the letters of a reason are no keys of the inbox after somebody else decided and its form is gone', async () => {
  const reason = await beginReason()
  // It listens before the action is declined, and types as soon as the field is gone: a person does not look up so soon.
  const typed = await reason.evaluateHandle((field) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const observer = new MutationObserver(() => {
      if (field.isConnected) return
      observer.disconnect()
      for (const key of ['j', 'm', 'x', 'a', 'Enter'])
        (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
      resolve()
    })
    observer.observe(document.body, { subtree: true, childList: true })
    return { promise }
  })
  inbox.decline('act_one')
  await typed.evaluate(({ promise }) => promise)
  expect(await inbox.page.evaluate(() => document.activeElement?.className)).toBe('cs-card')
  expect(await inbox.page.locator('.inbox-row[aria-selected=true]').getAttribute('data-row')).toBe('act_one')
  expect(await inbox.page.getByRole('dialog').count()).toBe(0)
  expect(inbox.decisions).toEqual([])
})

test('who takes an approval back by its button, and by keys alone, goes on at the heading of the page, not at its top', async () => {
  await open()
  await cardIsReady()
  // By the clock of the server: in the real time of a slow machine the bar would be gone.
  const times = { updatedAt: '2099-01-01T00:00:00.000Z', startsAt: '2099-01-01T01:00:00.000Z' }
  await inbox.page.route('**/api/actions/*/decision', (route) =>
    route.fulfill({ json: { ...inbox.waiting[0], state: 'approved', ...times } }),
  )
  await inbox.page.route('**/api/actions/*/undo', (route) => route.fulfill({ json: inbox.waiting[0] }))
  await press(card().getByRole('button', { name: /^Approve/ }))
  await inbox.page.getByTestId('undo-bar').getByRole('button').focus()
  await inbox.page.keyboard.press('Enter')
  await inbox.page.getByTestId('undo-bar').waitFor({ state: 'detached' })
  expect(await inbox.page.evaluate(() => document.activeElement?.tagName)).toBe('H1')
})

test('what begins to wait is announced with the keys that answer it, and without them for who may not decide it or has them switched off', async () => {
  await open()
  const heard = inbox.page.getByTestId('live-regions').locator('[aria-live=polite]')
  inbox.propose(actionOf('mine'))
  await until(() => heard.textContent()).toMatch(/^Approval needed: Send mine, .* press A and then Enter/)
  inbox.propose(actionOf('finance', { requires: { ...requires, roles: ['finance'] } }))
  await until(() => heard.textContent()).toMatch(/^Approval needed: Send finance, \w+ risk\.$/)
  await inbox.page.evaluate(() => localStorage.setItem('countersign-shortcuts', 'off'))
  await open()
  inbox.propose(actionOf('another'))
  await until(() => heard.textContent()).toMatch(/^Approval needed: Send another, \w+ risk\.$/)
})

test('an action of high risk asks for its second step, by key too', async () => {
  inbox.waiting = [actionOf('risky', { risk: { level: 'high', reasons: [], setBy: 'policy' } })]
  await withoutTimers(inbox.page, ARMED_MS)
  await open()
  await cardIsReady()
  await inbox.page.keyboard.press('a')
  await until(() => card().textContent()).toContain('Press Enter to approve')
  await inbox.page.keyboard.press('Enter')
  await inbox.page.getByRole('alertdialog').waitFor()
  for (const key of ['a', 'j', 'e']) await inbox.page.keyboard.press(key)
  expect(await inbox.page.getByRole('alertdialog').count()).toBe(1)
  expect(inbox.decisions).toEqual([])
})

test('each view counts what it holds, live', async () => {
  inbox.waiting = [
    actionOf('plain'),
    actionOf('late', { overdue: true }),
    actionOf('finance', { requires: { ...requires, roles: ['finance'] } }),
    actionOf('lost', { state: 'outcome_unknown' }),
  ]
  await open()
  const counts = async () =>
    Object.fromEntries(
      await Promise.all(
        ['mine', 'waiting', 'overdue', 'unknown'].map(async (view) => [view, await inbox.page.getByTestId(`count-${view}`).textContent()]),
      ),
    )
  await until(counts).toEqual({ mine: '3', waiting: '4', overdue: '1', unknown: '1' })
  await until(() => inbox.page.getByTestId('waiting-count').textContent()).toBe('3 for you')
  // The title is set after the page is drawn.
  await until(() => inbox.page.title()).toBe('(3, 1 overdue, 1 outcome unknown) Inbox – Countersign')
  inbox.propose(actionOf('fresh'))
  await until(counts).toEqual({ mine: '4', waiting: '5', overdue: '1', unknown: '1' })
  for (const [name, found] of [
    ['Overdue', ['late']],
    ['Unknown outcome', ['lost']],
  ] as const) {
    await inbox.page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name }).click()
    await until(rows).toEqual(found)
  }
})

test('what was typed on a card is there after the window was narrow for a moment, and meanwhile no key reaches the card', async () => {
  const size = { width: 1_200, height: 700 }
  await inbox.page.setViewportSize(size)
  await open()
  await cardIsReady()
  await card().getByRole('button', { name: 'Decline with reason' }).click()
  const reason = card().getByRole('textbox', { name: /^Reason/ })
  await reason.fill('A long reason')
  await inbox.page.setViewportSize({ width: 820, height: 1_180 })
  await card().waitFor({ state: 'hidden' })
  await inbox.page.setViewportSize(size)
  await card().waitFor()
  expect(await reason.count()).toBe(1)
  expect(await reason.inputValue()).toBe('A long reason')
  await inbox.page.setViewportSize({ width: 820, height: 1_180 })
  await card().waitFor({ state: 'hidden' })
  await inbox.page.locator('[data-row=act_one]').focus()
  await inbox.page.keyboard.press('a')
  await until(async () => new URL(inbox.page.url()).pathname).toBe('/actions/act_one')
  expect(inbox.decisions).toEqual([])
})
