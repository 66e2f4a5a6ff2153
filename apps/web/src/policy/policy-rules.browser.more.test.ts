import { AxeBuilder } from '@axe-core/playwright'
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
  { rule: 'reads run', tools: 3, hits: 1204, lastHitAt: AT, never: null },
  { rule: 'large refunds', tools: 1, hits: 0, lastHitAt: null, never: null },
  { rule: 'nothing leaves', tools: 1, hits: 1, lastHitAt: AT, never: null },
  { rule: 'old one', tools: 1, hits: 0, lastHitAt: null, never: { why: 'overruled', by: ['nothing leaves'] } },
]
const TEXT = `# Ask Ana before you loosen anything.
default: ask
rules:
  - { name: reads run, match: { effect: read }, verdict: allow }
  - name: large refunds # agreed in May
    match: { tool: shop.refund, when: args.amount > 500 }
    verdict: ask
`
const answers = hostileAnswers(plant(), wire)
let mayRead = true
let server: HostileServer
let browser: Browser
beforeAll(async () => {
  server = await startHostileServer({
    answer(method, path, query) {
      if (path === '/api/policy' && query.get('format') !== 'yaml') {
        const version = { version: 4, inUse: 'force', source: 'api', author: null, reason: '', createdAt: AT }
        return { body: { ...version, document: { default: 'ask', rules: RULES }, shadow: null } }
      }
      if (path === '/api/me') {
        return { body: { principal: { id: 'prn_ann', kind: 'person', name: 'Ann', roles: ['admin'] }, signIn: 'key' } }
      }
      if (path === '/api/policy' && method === 'GET') return { type: 'application/yaml', body: TEXT }
      if (path === '/api/policy/test' && method === 'POST') {
        const issues = [{ path: 'rules.1.match.when', message: 'line 1: a value is missing' }]
        return {
          status: 400,
          type: 'application/problem+json',
          body: { status: 400, code: 'bad_request', title: 'x', detail: 'x', issues },
        }
      }
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
    await page.getByText('4 rules · 1 never decides · 1 without a call in 30 days').waitFor()
    const rows = (await page.getByTestId('policy-rule').allTextContents()).map((text) => text.replaceAll(/\s+/g, ' '))
    expect(rows[0]).toMatch(/^✓ Allowreads run1,204 calls in 30 days, last .*All calls that only read run without asking\.$/)
    expect(rows[1]).toContain('No calls in 30 days')
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
  await page.getByText('4 rules · 1 never decides').waitFor()
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
  await when.fill('args.amount >')
  expect(await text.inputValue()).toBe(TEXT.replace('> 500', '>'))
  // Replay is open below the form, and the YAML is folded.
  expect(await page.getByRole('button', { name: 'Replay', exact: true }).isVisible()).toBe(true)
  expect(await text.isVisible()).toBe(false)
  await page.getByText('All rules as YAML or JSON').click()
  await page.getByRole('button', { name: 'Check' }).press('Enter')
  await form.getByText('line 1: a value is missing').waitFor()
  expect(await when.getAttribute('aria-invalid')).toBe('true')
  // The other way: what is typed in the text is in the form.
  await text.fill(TEXT.replace('> 500', '> 900'))
  expect(await when.inputValue()).toBe('args.amount > 900')
  expect(await when.getAttribute('aria-invalid')).toBe('false')
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
