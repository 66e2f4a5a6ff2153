import { expect, test } from 'vitest'
import { SAM, sampleAction } from './testing/actions.ts'
import { cardParts, openDetails, scrollToEnd, show, stopClock, untilReady } from './testing/browser.ts'
import { openPage, page, prepareCardPages } from './testing/card-page.ts'

prepareCardPages()

const HIGH = sampleAction({ risk: { level: 'high', reasons: ['moves money'], setBy: 'policy' } })
const CRITICAL = sampleAction({ risk: { level: 'critical', reasons: ['irreversible'], setBy: 'policy' } })

const { calls, card, approve, decline, status, activeIs } = cardParts(() => page)

test('high risk asks again: the focus is on Cancel, Escape returns it to the card', async () => {
  await openPage()
  // Armed, a card stays so for 3 s only.
  await stopClock(page)
  await show(page, { action: HIGH })
  await page.clock.runFor(600)
  await approve().click()
  const dialog = page.getByRole('alertdialog')
  await dialog.waitFor()
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Cancel')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect(await activeIs('article.cs-card')).toBe(true)
  expect(await calls()).toEqual([])
  await page.keyboard.press('a')
  await page.keyboard.press('Enter')
  await dialog.waitFor()
  await page.clock.runFor(600)
  await dialog.getByRole('button', { name: 'Approve' }).click()
  expect(await calls()).toHaveLength(1)
  expect(await activeIs('article.cs-card')).toBe(true)
})

test('the second click of a double click does not confirm a high risk', async () => {
  await openPage()
  await stopClock(page)
  await show(page, { action: HIGH })
  await page.clock.runFor(600)
  await approve().dispatchEvent('click')
  const confirm = page.getByRole('alertdialog').getByRole('button', { name: 'Approve' })
  await confirm.dispatchEvent('click')
  expect(await calls()).toEqual([])
  await page.clock.runFor(600)
  await confirm.dispatchEvent('click')
  expect(await calls()).toHaveLength(1)
})

test('critical risk needs the name of the object typed', async () => {
  await openPage()
  await show(page, { action: CRITICAL })
  await untilReady(page)
  await approve().click()
  const confirm = page.getByRole('alertdialog').getByRole('button', { name: 'Approve' })
  // A phone would begin it with a capital letter.
  expect(await page.getByLabel('Type ORD-001 to confirm').getAttribute('autocapitalize')).toBe('none')
  await page.getByLabel('Type ORD-001 to confirm').fill('ORD-00')
  await page.waitForTimeout(600)
  expect(await confirm.getAttribute('aria-disabled')).toBe('true')
  await page.keyboard.press('Enter')
  expect(await calls()).toEqual([])
  await page.getByLabel('Type ORD-001 to confirm').fill('ORD-001')
  await confirm.click()
  expect(await calls()).toHaveLength(1)
})

test('with edits, critical risk needs the name of the object that they name', async () => {
  await openPage()
  await show(page, { action: CRITICAL, withEditor: true })
  await openDetails(page)
  await card().getByText('Edit before you approve').click()
  await card().locator('.cs-edit textarea').fill('{"orderId":"ORD-002","newStatus":"processing"}')
  await untilReady(page)
  await card().getByRole('button', { name: 'Approve with 1 edit' }).click()
  const named = page.getByRole('alertdialog').locator('.cs-type code')
  expect(await named.textContent()).toBe('ORD-002')
})

test('a confirmation closes when the action changes or is decided elsewhere', async () => {
  await openPage()
  await show(page, { action: HIGH })
  await untilReady(page)
  await approve().click()
  await page.getByRole('alertdialog').waitFor()
  await show(page, { action: { ...HIGH, state: 'declined', votes: [{ by: SAM, verdict: 'decline', at: HIGH.updatedAt }] } })
  await page.getByRole('alertdialog').waitFor({ state: 'detached' })
  expect(await activeIs('article.cs-card')).toBe(true)
  expect(await calls()).toEqual([])
})

test('a long argument with its payload in the tail holds a high risk until it is opened', async () => {
  await openPage()
  const body = `${'safe '.repeat(980)}${'x'.repeat(93)}PAYLOAD`
  await show(page, { action: { ...HIGH, arguments: { orderId: 'ORD-001', body } } })
  await untilReady(page)
  expect(await approve().getAttribute('aria-disabled')).toBe('true')
  await approve().dispatchEvent('click')
  expect(await page.getByRole('alertdialog').count()).toBe(0)
  expect(await calls()).toEqual([])
  await openDetails(page)
  await page.getByText('Raw arguments').click()
  await page.getByRole('button', { name: /characters hidden/ }).click()
  await page.locator('.cs-approve[data-rest=blocked]').waitFor()
  await scrollToEnd(page)
  await page.locator('.cs-approve[aria-disabled=false]').waitFor()
  expect(await card().locator('pre').textContent()).toContain(body)
})

test('a card shows the arguments at once where its rows say only what is different about the tool', async () => {
  await openPage()
  const changed = { field: 'the tool’s description', oldValue: 'Mails', newValue: 'Mails and deletes', ofTool: true as const }
  const says = { field: 'Bot says', newValue: 'Mails', unverified: true as const }
  for (const preview of [[changed], [changed, says]]) {
    await show(page, { action: sampleAction({ preview }) })
    expect(await card().locator('.cs-changes').textContent()).toContain('Mails and deletes')
    await card().locator('details.cs-more[open] details.cs-raw[open] pre', { hasText: 'ORD-001' }).waitFor()
  }
})

test('the risk line names the level, the reason and where the level comes from', async () => {
  await openPage()
  const line = card().locator('p.cs-risk')
  await show(page, { action: sampleAction({ risk: { level: 'medium', reasons: ['changes data'], setBy: 'unverified' } }) })
  expect(await line.textContent()).toBe('Medium risk · changes data (default for writes)')
  await show(page, { action: sampleAction({ risk: { level: 'high', reasons: ['it is a DELETE'], setBy: 'unverified' } }) })
  expect(await line.textContent()).toBe('High risk · it is a DELETE (guessed, not verified)')
})

test('markup, links and unseen characters are plain text and fetch nothing', async () => {
  await openPage()
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  const evil = '<img src=x onerror=alert(1)> [click](https://evil.example) pay\u202Eeem a\u200Bb'
  await show(page, {
    action: sampleAction({
      description: evil,
      arguments: { [evil]: evil },
      preview: [{ field: evil, oldValue: evil, newValue: { [evil]: evil } }],
      previewError: evil,
      risk: { level: 'medium', reasons: [evil], setBy: 'unverified' },
      policy: { verdict: 'ask', rule: evil, version: 1, reason: evil },
      agent: evil,
      tool: evil,
      destination: evil,
    }),
    agentSays: evil,
    runHref: '/run',
  })
  await untilReady(page)
  const shown = '<img src=x onerror=alert(1)> [click](https://evil.example) pay⟦U+202E⟧eem a⟦U+200B⟧b'
  const text = (await card().textContent()) ?? ''
  expect(text.split(shown).length - 1).toBeGreaterThanOrEqual(11)
  expect(text).not.toMatch(/[\u202E\u200B]/)
  expect(await card().locator('img').count()).toBe(0)
  expect(
    await card()
      .locator('a')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href'))),
  ).toEqual(['/run'])
  // Parts of the card itself.
  const own = `${new URL(page.url()).origin}/assets/`
  expect(requests.filter((url) => !(url.startsWith(own) && /^[\w-]+\.js$/.test(url.slice(own.length))))).toEqual([])
})

test('what the agent says about its run stands in the box that is not verified; only a web address is a link, named by its host', async () => {
  await openPage()
  const context = { run: 'conv-7', url: 'https://ci.example.com/runs/7', reason: 'The customer asked for it.' }
  await show(page, { action: sampleAction({ context }) })
  await untilReady(page)
  await openDetails(page)
  const box = card().getByRole('figure')
  expect(await box.textContent()).toBe('Agent says (not verified)Reason: The customer asked for it.Run: conv-7Link: ci.example.com')
  const link = box.getByRole('link')
  expect(await link.getAttribute('href')).toBe(context.url)
  expect(await link.getAttribute('rel')).toBe('noreferrer noopener nofollow')
  // The server refuses such an address; a card does not rely on it.
  await show(page, { action: sampleAction({ context: { url: 'javascript:alert(1)' } }) })
  await untilReady(page)
  expect(await card().getByRole('figure').textContent()).toContain('javascript:alert(1)')
  expect(await card().getByRole('link').count()).toBe(0)
})

test('a card says which host is notified when the action ends, and nothing about it otherwise', async () => {
  await openPage()
  await show(page, { action: sampleAction({ callback: { host: 'agents.example.com' } }) })
  await untilReady(page)
  await openDetails(page)
  expect(await card().textContent()).toContain('When this ends, agents.example.com is notified.')
  await show(page, { action: sampleAction() })
  await untilReady(page)
  expect(await card().textContent()).not.toContain('is notified')
})

test('a result link is followed only over http, https or to this site', async () => {
  await openPage()
  const settled = { state: 'succeeded' as const, attempt: 1 }
  await show(page, { action: sampleAction({ ...settled, resultUrl: 'java\nscript:alert(1)' }) })
  await page.locator('[data-state=succeeded] .cs-line').waitFor()
  expect(await card().getByRole('link').count()).toBe(0)
  await show(page, { action: sampleAction({ ...settled, resultUrl: '/orders/ORD-001' }) })
  await card().getByRole('link', { name: 'View result' }).waitFor()
})

test('an update shows old and new, a creation new only, a deletion old only, what stays is shown once', async () => {
  await openPage()
  await show(page, {
    action: sampleAction({
      preview: [
        { field: 'total', oldValue: 10, newValue: 12.5 },
        { field: 'note', newValue: 'hello' },
        { field: 'tag', oldValue: '' },
        { field: 'issue', oldValue: 'ENG-1', newValue: 'ENG-1' },
        { field: 'paid', oldValue: 1234567890.12, newValue: 1234567890.13 },
        { field: 'far', oldValue: 0, newValue: 1e21 },
      ],
    }),
  })
  const rows = card().locator('.cs-changes li')
  await rows.first().waitFor()
  await card().locator('.cs-delta').first().waitFor()
  expect(await rows.allTextContents()).toEqual([
    'totalfrom 10 →  to 12.5 (+2.5)',
    'notesets hello',
    'tagremoves ""',
    'issueENG-1',
    'paidfrom 1234567890.12 →  to 1234567890.13 (+0.01)',
    'farfrom 0 →  to 1e+21',
  ])
  expect(await card().locator('del').allTextContents()).toEqual(['10', '""', '1234567890.12', '0'])
  expect(await card().locator('ins').allTextContents()).toEqual(['12.5', 'hello', '1234567890.13', '1e+21'])
})

test('declining takes one click; with a reason it takes the preset or the text, and can stop the run', async () => {
  await openPage()
  await show(page, { action: sampleAction(), offerStop: true })
  await untilReady(page)
  await decline().click()
  await show(page, { action: sampleAction({ updatedAt: '2026-11-21T10:44:59.000Z' }), offerStop: true })
  await card().getByRole('button', { name: 'Decline with reason' }).click()
  await card().getByRole('button', { name: 'Wrong target' }).click()
  await card().getByRole('button', { name: 'Send decline' }).click()
  expect(await activeIs('article.cs-card')).toBe(true)
  await show(page, { action: sampleAction({ updatedAt: '2026-11-21T10:45:00.000Z' }), offerStop: true })
  await card().focus()
  await page.locator('.cs-refuse[aria-disabled=false]').waitFor()
  await page.keyboard.press('d')
  expect(await activeIs('textarea')).toBe(true)
  await page.keyboard.type('no, a A d')
  await card().getByRole('button', { name: 'Decline and stop' }).click()
  const { digest } = sampleAction()
  expect((await calls()).map((call) => call.details)).toEqual([
    { revision: 1, digest },
    { revision: 1, digest, reason: 'Wrong target' },
    { revision: 1, digest, reason: 'no, a A d', stop: true },
  ])
})

test('a reason stays in its form until the server has taken the decline', async () => {
  await openPage()
  await show(page, { action: sampleAction() })
  await untilReady(page)
  const open = () => card().getByRole('button', { name: 'Decline with reason' }).click()
  const send = () => card().getByRole('button', { name: 'Send decline' }).click()
  await open()
  await page.getByLabel(/^Reason/).fill('Order 7 is the wrong one')
  await page.evaluate(() => {
    window.cardPage.reply = { kind: 'refuse', error: { code: 'offline', message: 'The server cannot be reached.' } }
  })
  await send()
  await card().getByText('The server cannot be reached').waitFor()
  await untilReady(page)
  await open()
  expect(await page.getByLabel(/^Reason/).inputValue()).toBe('Order 7 is the wrong one')
  await page.evaluate(() => {
    window.cardPage.reply = { kind: 'take' }
  })
  await send()
  expect((await calls()).map((call) => call.details)).toMatchObject([
    { reason: 'Order 7 is the wrong one' },
    { reason: 'Order 7 is the wrong one' },
  ])
  // It waits for further votes: the next one has a reason of its own.
  await show(page, { action: sampleAction({ updatedAt: '2026-11-21T10:44:59.000Z' }) })
  await untilReady(page)
  await open()
  expect(await page.getByLabel(/^Reason/).inputValue()).toBe('')
})

test('the reasons to choose from are those of the action; one press fills in the text, which can still be changed', async () => {
  await openPage()
  await show(page, { action: sampleAction({ declineReasons: ['Ask finance first', 'Already paid \u202Etwice'] }) })
  await untilReady(page)
  await card().getByRole('button', { name: 'Decline with reason' }).click()
  const offered = await card().locator('.cs-presets button').allTextContents()
  expect(offered).toEqual(['Ask finance first', 'Already paid ⟦U+202E⟧twice'])
  await card().getByRole('button', { name: 'Ask finance first' }).click()
  await page.getByLabel(/^Reason/).press('End')
  await page.getByLabel(/^Reason/).pressSequentially(' please')
  await card().getByRole('button', { name: 'Send decline' }).click()
  expect((await calls()).map((call) => call.details)).toMatchObject([{ reason: 'Ask finance first please' }])
})

test('single keys do nothing when shortcuts are off', async () => {
  await openPage()
  await show(page, { action: sampleAction(), shortcuts: false })
  await untilReady(page)
  await card().focus()
  await page.keyboard.press('a')
  await page.keyboard.press('Enter')
  await page.keyboard.press('d')
  expect(await status()).toBe('')
  expect(await card().locator('textarea').count()).toBe(0)
  expect(await calls()).toEqual([])
})

test('a failed action is sent again once; an unknown outcome offers no retry', async () => {
  await openPage()
  const failed = sampleAction({ state: 'failed', attempt: 1, error: { kind: 'http', message: 'The shop said no.', retryable: true } })
  await show(page, { action: failed, withRetry: true })
  await page.waitForTimeout(600)
  await card().getByRole('button', { name: 'Retry' }).dblclick()
  expect((await calls()).map((call) => call.verdict)).toEqual(['retry'])
  await show(page, { action: { ...failed, state: 'outcome_unknown' }, withRetry: true })
  await card().getByText('May or may not have run').waitFor()
  expect(await card().getByRole('button').count()).toBe(0)
})

test('without a live connection the buttons rest, with words', async () => {
  await openPage()
  await show(page, { action: sampleAction(), connection: 'offline' })
  await page.waitForTimeout(600)
  await card().getByText('Offline. Decisions are paused.').waitFor()
  await approve().dispatchEvent('click')
  await decline().dispatchEvent('click')
  expect(await calls()).toEqual([])
})

test('who may not decide reads why, and finds no buttons', async () => {
  await openPage()
  await show(page, { action: sampleAction({ requires: { quorum: 1, declineQuorum: 1, roles: ['finance'], notRequester: false } }) })
  await card().getByText('Waiting for someone with the role finance.').waitFor()
  expect(await approve().count()).toBe(0)
  await card().focus()
  await page.keyboard.press('Control+Enter')
  expect(await calls()).toEqual([])
})

test('a card names everybody who asked, and says when nothing proves the agent’s name', async () => {
  await openPage()
  const asked = sampleAction({ agent: 'ci', agentVerified: false, requesters: [SAM, { ...SAM, id: 'prn_bo', name: 'Bo' }] })
  await show(page, { action: asked })
  await openDetails(page)
  await card().getByText('Asked by ci (not verified) for Sam and Bo').waitFor()
  await show(page, { action: { ...asked, agentVerified: true } })
  await card().getByText('Asked by ci for Sam and Bo').waitFor()
})

test('where several roles are needed together, who has one of them reads which', async () => {
  await openPage()
  const requires = { quorum: 1, declineQuorum: 1, roles: ['approver'], alsoRoles: [['finance', 'legal']], notRequester: false }
  await show(page, { action: sampleAction({ requires }) })
  await card().getByText('Waiting for someone with the role approver and finance or legal.').waitFor()
  expect(await approve().count()).toBe(0)
})

test('the focus stays on the card when its buttons go', async () => {
  await openPage()
  await show(page, { action: sampleAction() })
  await untilReady(page)
  await approve().focus()
  await show(page, { action: sampleAction({ state: 'declined', votes: [{ by: SAM, verdict: 'decline', at: sampleAction().updatedAt }] }) })
  await card().getByText('Declined by Sam').waitFor()
  expect(await activeIs('article.cs-card')).toBe(true)
})

test('a card says when the current values were read, and offers to look again, only where the action rests on what was read', async () => {
  await openPage()
  const seenAgain = sampleAction()
  await show(page, { action: sampleAction(), seenAgain })
  await card()
    .getByText(/^Current values as of/)
    .waitFor()
  expect(await card().getByRole('button', { name: 'Look again' }).count()).toBe(1)

  const preview = [{ field: 'amount', newValue: 50 }]
  await show(page, { action: sampleAction({ preview, precondition: null }), seenAgain })
  await card().locator('.cs-changes', { hasText: 'amount' }).waitFor()
  expect(await card().getByText('Current values').count()).toBe(0)
  expect(await card().getByRole('button', { name: 'Look again' }).count()).toBe(0)
})

test('what a server says about its tool stands in a box of its own, as not verified, and is no change', async () => {
  const said = { field: 'easql says', newValue: 'Drops a table. <b>Harmless</b>\u202e!', unverified: true as const }
  await openPage()
  await show(page, { action: sampleAction({ preview: [said] }) })
  const box = card().locator('figure.cs-says', { hasText: 'easql says' })
  expect(await box.locator('figcaption').textContent()).toBe('easql says (not verified)')
  expect(await box.locator('blockquote').textContent()).toContain('Drops a table. <b>Harmless</b>')
  expect(await box.locator('b').count()).toBe(0)
  expect(await card().locator('.cs-changes').count()).toBe(0)
  expect(await card().getByText('Current values unknown.').count()).toBe(1)
  expect(await card().locator('details.cs-raw').getAttribute('open')).not.toBeNull()

  await show(page, { action: sampleAction({ preview: [{ field: 'status', oldValue: 'new', newValue: 'done' }, said] }) })
  expect(await card().locator('.cs-changes li').allTextContents()).toEqual(['statusfrom new →  to done'])
  expect(await card().locator('figure.cs-says', { hasText: 'easql says' }).count()).toBe(1)
})

test('a change that the agent foresees stands in a box of its own, as not verified, with both values', async () => {
  const foreseen = { field: 'total', oldValue: 5, newValue: 'none\u202e', unverified: true as const }
  await openPage()
  await show(page, { action: sampleAction({ preview: [{ field: 'status', oldValue: 'new', newValue: 'done' }, foreseen] }) })
  const box = card().locator('figure.cs-says', { hasText: 'total' })
  expect(await box.locator('figcaption').textContent()).toBe('total (not verified)')
  expect(await box.locator('blockquote').textContent()).toMatch(/^5 → none.*202E/s)
})
