import type { ServerResponse } from 'node:http'
import type { Action, Delegation, Principal } from '@countersign/client'
import type { Route } from '@playwright/test'
import { expect, test } from 'vitest'
import { frame, serve, startStream } from '../../../client/src/testing/log-server.ts'
import { ADA, ago, sampleAction } from '../testing/actions.ts'
import { holdScripts, openPage, page, prepareCardPages } from '../testing/card-page.ts'

prepareCardPages()

interface Scene {
  me?: () => Principal
  /** Newest first, as the server lists them. */
  actions?: readonly Action[]
  /** Holds back those behind the first `held`. */
  older?: Promise<void>
  held?: number
  delegations?: readonly Pick<Delegation, 'from' | 'to' | 'state'>[]
}

/** Shows the inbox of Ada with one action, on a page whose server answers each connection to the stream with the next of `streams`. */
async function openInbox(
  streams: ((route: Route) => unknown)[],
  tools: unknown[] = [],
  { me = () => ADA, actions = [sampleAction()], older, held = 1_000, delegations = [] }: Scene = {},
): Promise<void> {
  await openPage()
  await page.route('**/api/me', (route) => route.fulfill({ json: { principal: me(), signIn: 'key' } }))
  await page.route('**/api/delegations?*', (route) => route.fulfill({ json: { items: delegations, nextCursor: null } }))
  await page.route('**/api/tools', (route) => route.fulfill({ json: { items: tools } }))
  await page.route('**/api/actions?*', async (route) => {
    const query = new URL(route.request().url()).searchParams
    const listed = query.get('state') === 'proposed' && !query.has('delegated') ? actions : []
    const from = Number(query.get('cursor') ?? 0)
    if (from >= held) await older
    const next = from + 200
    await route.fulfill({ json: { items: listed.slice(from, next), nextCursor: next < listed.length ? String(next) : null } })
  })
  await page.route('**/api/events', (route) => streams.shift()?.(route))
  await page.evaluate(() => window.cardPage.showInbox())
}

/** Shows the inbox on a page whose server sends the events of the test. */
async function openInboxWithEvents() {
  let stream: ServerResponse | undefined
  let seq = 0
  const server = await serve({
    'GET /api/events': (_, response) => {
      stream = response
      startStream(response)
    },
  })
  await openInbox([(route) => route.continue({ url: `${server.baseUrl}/api/events` })])
  await page.clock.install()
  return {
    send: (event: Omit<Parameters<typeof frame>[0], 'seq'>) =>
      stream?.write(frame({ ...event, seq: ++seq } as Parameters<typeof frame>[0])),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

const live = (route: Route) => route.fulfill({ contentType: 'text/event-stream', body: ': here\n\n' })
const refused = (route: Route) =>
  route.fulfill({ status: 403, contentType: 'application/problem+json', json: { code: 'forbidden', detail: 'Ada may not read this.' } })

const row = () => page.getByRole('button', { name: sampleAction().description })

test('an inbox that was refused says why, and Try again opens it anew', async () => {
  await openInbox([live, refused, live])
  await row().waitFor()
  const alert = page.getByRole('alert').filter({ hasText: 'Ada may not read this.' })
  await alert.getByRole('button', { name: 'Try again' }).click()
  await alert.waitFor({ state: 'detached' })
  await row().waitFor()
})

const forFinance = sampleAction({ requires: { quorum: 1, declineQuorum: 1, roles: ['finance'], notRequester: false } })
const approve = () => page.getByRole('button', { name: /^Approve: / })

test('what a delegate may decide has its buttons', async () => {
  const fay: Principal = { id: 'prn_fay', kind: 'person', name: 'Fay', roles: ['finance'] }
  await openInbox([live], [], { actions: [forFinance], delegations: [{ from: fay, to: ADA, state: 'standing' }] })
  await row().click()
  await approve().waitFor()
})

test('a role that the person gets while the page is open brings the buttons, and one that they lose takes them', async () => {
  let roles = ['approver']
  // A stream that stays open: one that ends at once is not seen to be live.
  let stream: ServerResponse | undefined
  await using server = await serve({
    'GET /api/events': (_, response) => {
      stream = response
      startStream(response)
    },
  })
  const pass = (route: Route) => route.continue({ url: `${server.baseUrl}/api/events` })
  const changeTo = (changed: string[]) => {
    roles = changed
    stream?.end()
  }
  await openInbox([pass, pass, pass], [], { actions: [forFinance], me: () => ({ ...ADA, roles }) })
  await row().click()
  const whyNot = page.getByText('Waiting for someone with the role finance.')
  await whyNot.waitFor()
  changeTo(['finance'])
  await approve().waitFor()
  changeTo(['approver'])
  await whyNot.waitFor()
  expect(await approve().count()).toBe(0)
})

/** So many actions, the newest first. */
const many = (length: number) =>
  Array.from({ length }, (_, minutes) =>
    sampleAction({
      id: `act_${String(2_000 - minutes).padStart(25, '0')}`,
      description: `Ship order ${minutes}`,
      createdAt: ago(minutes * 60),
    }),
  )

test('of more than 1,000 waiting actions the oldest, whose deadlines are next, come first, and the count says how many are there', async () => {
  const actions = many(1_001)
  const older = Promise.withResolvers<void>()
  await openInbox([live], [], { actions, older: older.promise })
  await page.getByText('1000+ waiting').waitFor()
  older.resolve()
  await page.getByText('1001 waiting').waitFor()
  expect(await page.getByRole('listitem').first().textContent()).toContain('Ship order 1000')
})

test('a card that is open stays, whatever is read after it', async () => {
  await using server = await serve({ 'GET /api/events': (_, response) => startStream(response) })
  const older = Promise.withResolvers<void>()
  const staying = (route: Route) => route.continue({ url: `${server.baseUrl}/api/events` })
  await openInbox([staying], [], { actions: many(260), older: older.promise, held: 200 })
  await page.getByRole('button', { name: /^Ship order 199/ }).click()
  await page.getByRole('button', { name: 'Decline with reason' }).click()
  const reason = page.getByRole('textbox', { name: /^Reason/ })
  await reason.fill('Wrong account')
  older.resolve()
  await page.getByText('260 waiting').waitFor()
  expect(await page.getByRole('listitem').first().textContent()).toContain('Ship order 259')
  expect(await reason.count()).toBe(1)
  expect(await reason.inputValue()).toBe('Wrong account')
  expect(await reason.evaluate((field) => field === document.activeElement)).toBe(true)
  await page.getByRole('button', { name: 'Show more (209)' }).click()
  await page.getByRole('button', { name: 'Show more (160)' }).waitFor()
})

test('a card whose action runs for long stays until somebody closes it, says that it failed, and gives the focus to the title', async () => {
  await using inbox = await openInboxWithEvents()
  let moves = 0
  const move = (state: Action['state']) =>
    inbox.send({ type: 'action_update', data: { proposalId: sampleAction().id, state, revision: 1, updatedAt: ago(-++moves) } })
  const card = page.locator('.cs-inbox').getByRole('article', { name: sampleAction().description })
  const close = page.getByRole('button', { name: `Close: ${sampleAction().description}` })
  await row().click()
  await card.waitFor()
  expect(await close.count()).toBe(0)
  move('approved')
  move('executing')
  await close.waitFor()
  await page.clock.runFor(10_000)
  move('failed')
  await page.clock.runFor(1_000)
  const alarm = page.locator('.cs-inbox [aria-live=assertive]')
  await expect.poll(() => alarm.textContent()).toContain(sampleAction().description)
  await page.clock.runFor(10_000)
  await card.getByRole('button', { name: /^Retry/ }).waitFor()
  await close.click()
  expect(await page.getByRole('heading', { name: 'Approvals' }).evaluate((title) => title === document.activeElement)).toBe(true)
  await page.clock.runFor(10_000)
  await page.getByText('Nothing waits for you.').waitFor()
})

test('a card that goes with the focus gives it to the title of the inbox, and an approval is announced with keys only where they act', async () => {
  await using inbox = await openInboxWithEvents()
  await row().click()
  const card = page.locator('.cs-inbox').getByRole('article', { name: sampleAction().description })
  await expect.poll(() => card.evaluate((element) => element === document.activeElement)).toBe(true)
  const data = { proposalId: sampleAction().id, state: 'declined', revision: 1, updatedAt: ago(-1) } as const
  inbox.send({ type: 'action_update', data })
  const finance = { ...forFinance, id: 'act_finance', description: 'Pay the invoice', createdAt: ago(-2), updatedAt: ago(-2) }
  inbox.send({ type: 'action_proposed', data: { proposal: finance } })
  await page.getByRole('button', { name: /^Pay the invoice/ }).waitFor()
  await page.clock.runFor(10_000)
  await card.waitFor({ state: 'detached' })
  expect(await page.getByRole('heading', { name: 'Approvals' }).evaluate((title) => title === document.activeElement)).toBe(true)
  const polite = page.locator('.cs-inbox [aria-live=polite]')
  await expect.poll(() => polite.textContent()).toContain('Approval needed: Pay the invoice')
  expect(await polite.textContent()).not.toContain('press A')
})

test('where the form for edits cannot be loaded, the card says so, and page and card stand', async () => {
  await openInbox([live])
  const form = await holdScripts(/arguments-editor.*\.js/)
  await row().click()
  await page.getByText('Details', { exact: true }).click()
  await page.getByText('Edit before you approve').click()
  await form.fail()
  await page.getByText('A part of this card could not be loaded. Reload the page.').waitFor()
  expect(await page.getByRole('heading', { name: 'Cards' }).count()).toBe(1)
  expect(await page.getByRole('button', { name: /^Approve: / }).count()).toBe(1)
})

test('the form for edits offers an argument that was not given, also one with the name of a member that every object inherits', async () => {
  const properties = { constructor: { type: 'string' }, toString: { enum: ['a', 'b'] } }
  await openInbox([live], [{ name: sampleAction().tool, inputSchema: { type: 'object', properties } }])
  await row().click()
  await page.getByText('Details', { exact: true }).click()
  await page.getByText('Edit before you approve').click()
  await page.getByRole('button', { name: 'Add Constructor' }).click()
  expect(await page.getByLabel('Constructor').inputValue()).toBe('')
  expect(await page.getByRole('button', { name: 'Add To string' }).count()).toBe(1)
})

test('an edit of one word leaves the line ends of a text of Windows as they are', async () => {
  const actions = [sampleAction({ arguments: { note: 'one\r\ntwo\r\nthree' } })]
  const properties = { note: { type: 'string' } }
  await openInbox([live], [{ name: sampleAction().tool, inputSchema: { type: 'object', properties } }], { actions })
  await row().click()
  await page.getByText('Details', { exact: true }).click()
  await page.getByText('Edit before you approve').click()
  await page.getByLabel('Note').fill('one\n2\nthree')
  await page.getByText('JSON', { exact: true }).click()
  const edited = page.locator('.cs-edit-json')
  expect(JSON.parse(await edited.inputValue())).toEqual({ note: 'one\r\n2\r\nthree' })
})

test('the wheel scrolls the page on from an amount that was typed, and leaves the amount as it is', async () => {
  await openInbox([live], [{ name: sampleAction().tool, inputSchema: { type: 'object', properties: { cents: { type: 'integer' } } } }])
  await row().click()
  await page.getByText('Details', { exact: true }).click()
  await page.getByText('Edit before you approve').click()
  await page.getByRole('button', { name: 'Add Cents' }).click()
  await page.setViewportSize({ width: 900, height: 500 })
  const cents = page.getByLabel('Cents')
  await cents.fill('500')
  await cents.hover()
  const scrolled = () => page.evaluate(() => scrollY)
  const before = await scrolled()
  await page.mouse.wheel(0, -100)
  await expect.poll(scrolled).not.toBe(before)
  expect(await cents.inputValue()).toBe('500')
})

test('an edit that is made while another field is incomplete is kept, and both are sent', async () => {
  const properties = { orderId: { type: 'string' }, newStatus: { type: 'string' }, quantity: { type: 'integer' } }
  await openInbox([live], [{ name: sampleAction().tool, inputSchema: { type: 'object', properties } }])
  await row().click()
  await page.getByText('Details', { exact: true }).click()
  await page.getByText('Edit before you approve').click()
  await page.getByRole('button', { name: 'Add Quantity' }).click()
  await page.getByLabel('Quantity').fill('')
  await page.getByLabel('Order ID').fill('ORD-00')
  await page.getByLabel('Order ID').press('End')
  await page.getByLabel('Order ID').pressSequentially('2')
  expect(await page.getByLabel('Order ID').inputValue()).toBe('ORD-002')
  await page.getByText('What you edited is not complete yet.').waitFor()
  await page.getByLabel('Quantity').fill('3')
  const edits = page.getByRole('list', { name: /^Edits/ }).getByRole('listitem')
  await expect.poll(() => edits.allTextContents()).toEqual(['orderIdORD-001 → ORD-002', 'quantitynothing → 3'])
  expect(await page.getByLabel('Order ID').inputValue()).toBe('ORD-002')
})

test('among the edits, a value that is not there looks unlike the text "nothing"', async () => {
  await openInbox([live], [{ name: sampleAction().tool, inputSchema: { type: 'object', properties: { note: { type: 'string' } } } }])
  await row().click()
  await page.getByText('Details', { exact: true }).click()
  await page.getByText('Edit before you approve').click()
  await page.getByRole('button', { name: 'Add Note' }).click()
  await page.getByLabel('Note').fill('nothing')
  const edit = page.getByRole('list', { name: /^Edits/ }).getByRole('listitem')
  await expect.poll(() => edit.textContent()).toBe('notenothing → nothing')
  expect(await edit.getByRole('emphasis').count()).toBe(1)
  expect(await edit.getByRole('deletion').getByRole('emphasis').textContent()).toBe('nothing')
})
