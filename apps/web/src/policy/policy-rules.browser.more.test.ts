import { AxeBuilder } from '@axe-core/playwright'
import type { CheckedPolicy } from '@countersign/core'
import * as wire from '@countersign/core'
import type { Browser } from '@playwright/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { plant } from '../testing/hostile.ts'
import { hostileAnswers } from '../testing/hostile-answers.ts'
import { type HostileServer, startHostileServer } from '../testing/hostile-server.ts'
import { launchBrowser } from '../testing/launch.ts'

const AT = '2026-11-22T10:00:00.000Z'
const RULES = [
  { name: 'reads run', match: { effect: 'read' }, verdict: 'allow' },
  { name: 'large refunds', match: { tool: 'shop.refund', when: 'args.amount > 500' }, verdict: 'ask', requires: { quorum: 2 } },
  { name: 'nothing leaves', match: { tool: 'mail.*' }, verdict: 'deny', reason: 'mail is off' },
  { name: 'old one', match: { tool: 'mail.send' }, verdict: 'allow' },
]
const USES = [
  { rule: 'reads run', tools: 3, hits: 1204, lastHitAt: AT, never: null, warnings: [], conflicts: [] },
  {
    ...{ rule: 'large refunds', tools: 1, hits: 0, lastHitAt: null, never: null },
    conflicts: [{ with: 'reads run', isCertain: false, text: 'the rule "refunds" above matches first: its quorum of 1 applies, not 2' }],
    warnings: ['names args.amuont, which shop.refund does not have; it has amount'],
  },
  { rule: 'nothing leaves', tools: 1, hits: 1, lastHitAt: AT, never: null, warnings: [], conflicts: [] },
  { rule: 'old one', tools: 1, hits: 0, lastHitAt: null, never: { why: 'overruled', by: ['nothing leaves'] }, warnings: [], conflicts: [] },
]
const TEXT = `# Ask Ana before you loosen anything.
default: ask
rules:
  - { name: reads run, match: { effect: read }, verdict: allow }
  - name: large refunds # agreed in May
    match: { tool: shop.refund, when: args.amount > 500 }
    verdict: ask
`
const NAMES = {
  tools: 1,
  variables: [{ name: 'agent', type: 'map<string, string>', fields: ['name'] }],
  functions: [{ name: 'startsWith', on: 'text', example: 'args.name.startsWith("A")', gives: 'true if the text begins so' }],
  arguments: [
    { path: 'args.amount', types: ['number'], values: [], tools: 1 },
    { path: 'args.note', types: ['string'], values: [], tools: 1 },
  ],
}
const COUNTS = { allow: 3, ask: 2, deny: 0 }
const REPLAYED = { version: null, since: AT, evaluated: 5, skipped: 0, truncated: false, was: COUNTS, wouldBe: COUNTS, changes: [] }
const FINE: CheckedPolicy = { problems: [], warnings: [], rules: [] }
const answers = hostileAnswers(plant(), wire)
let checked = FINE
let checks = 0
let mayRead = true
/** The version on trial, and the one that was in force when the trial began. */
let trial: { version: number; basedOn: number } | undefined
let server: HostileServer
let browser: Browser
beforeAll(async () => {
  server = await startHostileServer({
    answer(method, path, query) {
      if (path === '/api/policy' && query.get('format') !== 'yaml') {
        const version = { version: 4, inUse: 'force', source: 'api', author: null, reason: '', createdAt: AT }
        const shadow = trial ? { ...version, version: trial.version, inUse: 'shadow' } : null
        return { body: { ...version, document: { default: 'ask', rules: RULES }, shadow } }
      }
      if (path === '/api/policy/shadow' && trial)
        return { body: { ...trial, since: AT, evaluated: 0, differences: 0, counts: [], samples: [] } }
      if (path === '/api/policy/versions/3') {
        const document = { default: 'deny', rules: [{ name: 'as tried', match: { tool: 'mail.*' }, verdict: 'ask' }] }
        return { body: { version: 3, inUse: 'shadow', source: 'api', author: null, reason: '', createdAt: AT, document, changes: [] } }
      }
      if (path === '/api/policy/rollback') {
        // Somebody saved the version in force just now.
        trial = { version: 3, basedOn: 2 }
        return { status: 409, body: { code: 'revision_mismatch', detail: 'version 4 came into force', version: 4 } }
      }
      if (path === '/api/me') {
        return { body: { principal: { id: 'prn_ann', kind: 'person', name: 'Ann', roles: ['admin'] }, signIn: 'key' } }
      }
      if (path === '/api/policy' && method === 'GET') return { type: 'application/yaml', body: TEXT }
      if (path === '/api/policy/check') {
        checks++
        return { body: checked }
      }
      if (path === '/api/policy/test') return { body: REPLAYED }
      if (path === '/api/policy/names') return { body: NAMES }
      if (path === '/api/policy/rules') {
        const hidden = { hits: null, lastHitAt: null }
        const items = USES.map((use) => (mayRead ? use : { ...use, ...hidden }))
        return { body: { version: 4, days: 30, items, default: mayRead ? { hits: 7, lastHitAt: AT } : hidden, isComplete: true } }
      }
      if (path === '/api/hold') return { body: { held: false, why: null, since: null, epoch: 1, open: null } }
      return answers.answer(method, path, query)
    },
  })
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})

test.for([false, true])(
  'the policy is a list of sentences with hits, and rules that do nothing are marked in words, dark: %s',
  async (dark) => {
    const colorScheme = dark ? 'dark' : 'light'
    const context = await browser.newContext({ viewport: { width: 320, height: 800 }, locale: 'en-GB', colorScheme })
    const page = await context.newPage()
    // The driver's own limit is 30 s: too short for a busy machine.
    page.setDefaultTimeout(280_000)
    await page.goto(`${server.url}/policy?rule=old%20one`)
    await page.getByText('4 rules · 1 never decides · 1 with a conflict · 1 without a call in 30 days').waitFor()
    const rows = (await page.getByTestId('policy-rule').allTextContents()).map((text) => text.replaceAll(/\s+/g, ' '))
    expect(rows[0]).toMatch(/^✓ Allowreads run1,204 calls in 30 days, last .*All calls that only read run without asking\.$/)
    expect(rows[1]).toContain('No calls in 30 days')
    expect(rows[1]).toContain(
      'Conflict: the rule "refunds" above matches first: its quorum of 1 applies, not 2. That rule decided 1,204 calls in 30 days.',
    )
    expect(rows[1]).toContain('The rule names args.amuont, which shop.refund does not have; it has amount.')
    expect(rows[1]).toContain('Calls of shop.refund need 2 approvals by approver where args.amount > 500.')
    expect(rows[2]).toMatch(/^✕ Deny.*Calls of mail\.\* are denied: mail is off\.$/)
    expect(rows[3]).toContain('Never decides: “nothing leaves” decides about all of its calls.')
    expect(await page.locator('[data-testid=policy-rule][aria-current=true]').textContent()).toContain('old one')
    expect(await page.getByTestId('policy-default').textContent()).toContain('All other calls need approval')
    const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']).analyze()
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
    await page.getByRole('link', { name: '1,204 calls in 30 days by reads run' }).press('Enter')
    await page.waitForURL('**/history?rule=reads+run')
    await page.goBack()
    await page.getByTestId('policy-default').waitFor()
    await context.close()
  },
)

test('who may not read statistics sees the rules and the marks without numbers', async () => {
  mayRead = false
  const page = await browser.newPage({ locale: 'en-GB' })
  page.setDefaultTimeout(280_000)
  await page.goto(`${server.url}/policy`)
  await page.getByText('4 rules · 1 never decides · 1 with a conflict').waitFor()
  expect(await page.getByText('in 30 days').count()).toBe(0)
  await page.close()
})

test('a rule is changed in a form by keys alone, which edits the text and keeps its comments; an error of the server stands at its field', async () => {
  mayRead = true
  const context = await browser.newContext({ viewport: { width: 320, height: 800 }, locale: 'en-GB' })
  const page = await context.newPage()
  page.setDefaultTimeout(280_000)
  await page.goto(`${server.url}/policy`)
  await page.getByRole('button', { name: 'Change the rule large refunds' }).press('Enter')
  const form = page.getByTestId('rule-form')
  const text = page.getByLabel('Document (YAML or JSON)')
  const when = form.getByLabel(/^Condition/)
  expect(await when.inputValue()).toBe('args.amount > 500')
  const message = 'it ends where a value or a bracket is missing (at character 14)'
  checked = { ...FINE, problems: [{ path: 'rules.1.match.when', message, at: 13 }] }
  await when.fill('args.amount >')
  expect(await text.inputValue()).toBe(TEXT.replace('> 500', '>'))
  // The YAML is folded.
  expect(await text.isVisible()).toBe(false)
  await form.getByText(message).waitFor()
  await page.getByTestId('replay').getByText('The numbers follow once the text can be used.').waitFor()
  expect(await when.getAttribute('aria-invalid')).toBe('true')
  await page.getByTestId('policy-checked').getByText(message).waitFor()
  await when.press('Home')
  await form.getByRole('button', { name: 'Go to character 14' }).press('Enter')
  expect(await when.evaluate((field: HTMLTextAreaElement) => [document.activeElement === field, field.selectionStart])).toEqual([true, 13])
  // The other way: what is typed in the text is in the form.
  checked = FINE
  await page.getByText('All rules as YAML or JSON').click()
  await text.fill(TEXT.replace('> 500', '> 900'))
  expect(await when.inputValue()).toBe('args.amount > 900')
  expect(await when.getAttribute('aria-invalid')).toBe('false')
  await page.getByText('It can be used').waitFor()
  await form.getByLabel('Verdict').selectOption('deny')
  await form.getByLabel('Reason that the agent is given').fill('too much')
  expect(await text.inputValue()).toContain('name: large refunds # agreed in May')
  expect(await text.inputValue()).toContain('# Ask Ana before you loosen anything.')
  await form.getByRole('button', { name: 'Add a rule' }).press('Enter')
  expect(await form.getByLabel('Name').inputValue()).toBe('new rule')
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']).analyze()
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([])
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
  await text.fill('rules: [')
  await form.waitFor({ state: 'detached' })
  await page.getByText('The form opens once the text below can be read').waitFor()
  await context.close()
})

test('a condition is completed with the names of its tools by keys alone; Enter and Tab keep their meaning until somebody goes into the list', async () => {
  checked = FINE
  const context = await browser.newContext({ viewport: { width: 320, height: 800 }, locale: 'en-GB' })
  const page = await context.newPage()
  page.setDefaultTimeout(280_000)
  await page.goto(`${server.url}/policy`)
  await page.getByRole('button', { name: 'Change the rule large refunds' }).press('Enter')
  const when = page.getByLabel(/^Condition/)
  await when.fill('')
  expect(await page.getByRole('listbox').count()).toBe(0)
  await when.press('Control+Space')
  const options = page.getByRole('listbox').getByRole('option')
  await options.first().waitFor()
  expect(await options.allTextContents()).toEqual(['args.amountnumber', 'args.notestring', 'agenthas name'])
  expect(await when.getAttribute('aria-activedescendant')).toBe(await options.first().getAttribute('id'))
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']).analyze()
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([])
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
  await when.press('Escape')
  await options.first().waitFor({ state: 'detached' })
  await when.pressSequentially('no')
  await page.getByText('1 suggestion, press down to choose').waitFor({ state: 'attached' })
  expect(await when.getAttribute('aria-activedescendant')).toBeNull()
  await when.press('ArrowDown')
  await when.press('Enter')
  expect(await when.inputValue()).toBe('args.note')
  await when.pressSequentially('.st')
  await when.press('ArrowDown')
  await when.press('Enter')
  await when.pressSequentially('"A"')
  expect(await when.inputValue()).toBe('args.note.startsWith("A")')
  await when.press('End')
  await when.pressSequentially(' && ag')
  await options.first().waitFor()
  await when.press('Enter')
  expect(await when.inputValue()).toBe('args.note.startsWith("A") && ag\n')
  await when.pressSequentially('ag')
  await options.first().waitFor()
  await when.press('Tab')
  expect(await when.evaluate((field) => document.activeElement === field)).toBe(false)
  expect(await page.getByRole('listbox').count()).toBe(0)
  await context.close()
})

test('the server checks a text once somebody stops typing, not at every key', async () => {
  checked = FINE
  const page = await browser.newPage({ locale: 'en-GB' })
  page.setDefaultTimeout(280_000)
  await page.clock.install()
  await page.goto(`${server.url}/policy`)
  await page.getByRole('button', { name: 'Change the rule large refunds' }).press('Enter')
  await page.getByText('It can be used').waitFor()
  await page.clock.pauseAt(Date.now() + 3_600_000)
  const before = checks
  await page.getByLabel(/^Condition/).pressSequentially(' && args.amount < 900')
  expect(checks).toBe(before)
  await page.clock.resume()
  await page.getByText('It can be used').waitFor()
  expect(checks).toBe(before + 1)
  await page.close()
})

test('an edit keeps its reason, and that it is only to be tried, on the way to another page and back', async () => {
  checked = FINE
  const page = await browser.newPage({ locale: 'en-GB' })
  page.setDefaultTimeout(280_000)
  await page.goto(`${server.url}/policy`)
  await page.getByRole('button', { name: 'Edit', exact: true }).press('Enter')
  await page.getByLabel('Document (YAML or JSON)').fill(TEXT.replace('> 500', '> 900'))
  await page.getByLabel(/^Only try it/).check()
  await page.getByLabel(/^Reason, for the list/).fill('Fewer cards')
  await page.goto(`${server.url}/preferences`)
  await page.goBack()
  await page.getByRole('button', { name: 'Save as trial' }).waitFor()
  expect(await page.getByLabel('Document (YAML or JSON)').inputValue()).toContain('> 900')
  expect(await page.getByLabel(/^Reason, for the list/).inputValue()).toBe('Fewer cards')
  expect(await page.getByLabel(/^Only try it/).isChecked()).toBe(true)
  await page.close()
})

test('people, times and risk stand behind More, in both directions with the text', async () => {
  checked = { ...FINE, problems: [{ path: 'rules.1.requires.roles.1', message: 'must have at most 64 characters', at: null }] }
  const context = await browser.newContext({ viewport: { width: 320, height: 800 }, locale: 'en-GB' })
  const page = await context.newPage()
  page.setDefaultTimeout(280_000)
  await page.goto(`${server.url}/policy`)
  await page.getByRole('button', { name: 'Change the rule large refunds' }).press('Enter')
  const form = page.getByTestId('rule-form')
  await form.getByText('More: risk, people and times').click()
  await form.getByLabel('Approvals needed').fill('2')
  const roles = form.getByLabel('Roles that may vote')
  await roles.pressSequentially('finance')
  // What the server says meanwhile opens the fields; nothing closes them under somebody who types on.
  await form.getByText('must have at most 64 characters').waitFor()
  await page.keyboard.type(', cfo')
  expect(await roles.inputValue()).toBe('finance, cfo')
  await form.getByLabel('Not the person who asked').check()
  await form.getByLabel('Time to decide').fill('PT90M')
  await form.getByText('90 minutes').waitFor()
  await form.getByLabel('Risk').selectOption('high')
  await form.getByText('must have at most 64 characters').waitFor()
  expect(await roles.getAttribute('aria-invalid')).toBe('true')
  const text = page.getByLabel('Document (YAML or JSON)')
  const more =
    '    requires:\n      quorum: 2\n      roles: [ finance, cfo ]\n      notRequester: true\n    expires: PT90M\n    risk: high\n'
  expect(await text.inputValue()).toBe(TEXT + more)
  await page.getByText('All rules as YAML or JSON').click()
  await text.fill(TEXT)
  expect(await roles.inputValue()).toBe('')
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']).analyze()
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([])
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
  await context.close()
})

test('an edit is there again after its author looked at a call that it would change or loaded the page anew, and gone once they leave it', async () => {
  checked = FINE
  const page = await browser.newPage({ locale: 'en-GB' })
  page.setDefaultTimeout(280_000)
  const changes = [{ was: 'ask', wouldBe: 'allow', count: 1, actionIds: [answers.newAction.id] }]
  await page.route('**/api/policy/test', (route) => route.fulfill({ json: { ...REPLAYED, changes } }))
  await page.goto(`${server.url}/policy`)
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const text = page.getByLabel('Document (YAML or JSON)')
  const edited = TEXT.replace('500', '800')
  await text.fill(edited)
  await page.getByTestId('replayed').getByRole('link').click()
  await page.getByRole('heading', { level: 1, name: /^Action/ }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'Policy' }).waitFor()
  await page.getByText('Version 4').first().waitFor()
  expect(await text.inputValue()).toBe(edited)
  await page.reload()
  await text.waitFor()
  expect(await text.inputValue()).toBe(edited)
  await page.getByText('Edit, based on version 4').waitFor()
  await page.getByRole('button', { name: 'Leave without saving' }).click()
  await page.getByRole('link', { name: 'Tools', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Tools' }).waitFor()
  await page.goBack()
  await page.getByTestId('policy-default').waitFor()
  expect(await text.count()).toBe(0)
  await page.close()
})

test('a trial that another version has overtaken is not activated over it: it opens in the editor, compared with that version', async () => {
  trial = { version: 3, basedOn: 4 }
  const page = await browser.newPage({ locale: 'en-GB' })
  page.setDefaultTimeout(280_000)
  await page.goto(`${server.url}/policy`)
  const section = page.getByTestId('shadow')
  const activate = section.getByRole('button', { name: 'Activate' })
  await activate.click()
  await section.getByRole('alert').getByText('version 4 came into force').waitFor()
  await section
    .getByText('Version 4 came into force after this trial began. Activating the trial would take back what it changed.')
    .waitFor()
  expect(await activate.count()).toBe(0)
  await section.getByRole('button', { name: 'Compare with version 4' }).click()
  await page.getByRole('heading', { name: 'Edit, based on version 4' }).waitFor()
  expect(await page.getByLabel('Document (YAML or JSON)').inputValue()).toBe(
    'default: deny\nrules:\n  - name: as tried\n    match:\n      tool: mail.*\n    verdict: ask\n',
  )
  // An edit that is open already is not replaced.
  expect(await section.getByRole('button').allTextContents()).toEqual(['End the trial'])
  trial = undefined
  await page.close()
})

test('the trial that somebody asked to compare replaces no text that they edit by then', async () => {
  trial = { version: 3, basedOn: 2 }
  const page = await browser.newPage({ locale: 'en-GB' })
  page.setDefaultTimeout(280_000)
  const held = Promise.withResolvers<void>()
  await page.route('**/api/policy/versions/3', async (route) => {
    await held.promise
    await route.continue()
  })
  await page.goto(`${server.url}/policy`)
  await page.getByTestId('shadow').getByRole('button', { name: 'Compare with version 4' }).click()
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const field = page.getByLabel('Document (YAML or JSON)')
  await field.fill(`${TEXT}# mine`)
  const came = page.waitForResponse('**/api/policy/versions/3')
  held.resolve()
  await (await came).finished()
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))))
  expect(await field.inputValue()).toBe(`${TEXT}# mine`)
  await page.close()
  trial = undefined
})

test('what is typed while a save is on its way stays in the editor', async () => {
  const page = await browser.newPage({ locale: 'en-GB' })
  page.setDefaultTimeout(280_000)
  const held = Promise.withResolvers<void>()
  const came = Promise.withResolvers<void>()
  await page.route('**/api/policy', async (route) => {
    if (route.request().method() === 'GET') return await route.fallback()
    came.resolve()
    await held.promise
    await route.fulfill({ json: { version: 5 } })
  })
  await page.goto(`${server.url}/policy`)
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const field = page.getByLabel('Document (YAML or JSON)')
  await field.fill(`${TEXT}# first`)
  await page.getByLabel(/^Reason/).fill('why')
  await page.getByRole('button', { name: 'Save and activate' }).click()
  await came.promise
  await field.fill(`${TEXT}# second`)
  // The page reads the policy again when it has the answer.
  const read = page.waitForResponse((response) => response.request().method() === 'GET' && response.url().endsWith('/api/policy'))
  held.resolve()
  await read
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))))
  expect(await field.inputValue()).toBe(`${TEXT}# second`)
  await page.close()
})

test('parts that were left out of a rule do not go to another one that the text has in its place', async () => {
  const [first, second, third] = [
    '  - { name: reads run, match: { effect: read }, verdict: allow }\n',
    '  - { name: large refunds, match: { tool: shop.refund }, verdict: ask, requires: { quorum: 2 }, expires: PT10S }\n',
    '  - { name: mails, match: { tool: mail.* }, verdict: deny }\n',
  ]
  const page = await browser.newPage({ locale: 'en-GB' })
  page.setDefaultTimeout(280_000)
  await page.goto(`${server.url}/policy?change=large%20refunds`)
  await page.getByText('All rules as YAML or JSON').click()
  const field = page.getByLabel('Document (YAML or JSON)')
  const verdict = page.getByTestId('rule-form').getByLabel('Verdict')
  const hint = page.getByText('People and times are left out, and return with Ask')
  await field.fill(`default: ask\nrules:\n${first}${second}${third}`)
  await verdict.selectOption('allow')
  await hint.waitFor()
  // A comment that is typed elsewhere changes nothing.
  await field.fill(`# mine\n${await field.inputValue()}`)
  await hint.waitFor()
  await field.fill((await field.inputValue()).replace(first ?? '', ''))
  await hint.waitFor({ state: 'detached' })
  await verdict.selectOption('ask')
  await expect.poll(() => field.inputValue()).toMatch(/name: mails.*verdict: ask/)
  expect(await field.inputValue()).not.toMatch(/quorum|expires/)
  await page.close()
})
