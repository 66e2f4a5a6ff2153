import { AxeBuilder } from '@axe-core/playwright'
import * as wire from '@countersign/core'
import { expect, test } from 'vitest'
import { openPolicyPage } from '../testing/policy-page.ts'
import { FINE, REPLAYED, TEXT } from '../testing/policy-server.ts'

const policy = openPolicyPage(wire)

test('a rule is changed in a form by keys alone, which edits the text and keeps its comments; an error of the server stands at its field', async () => {
  const page = await policy.openNarrow()
  await page.getByRole('button', { name: 'Change the rule large refunds' }).press('Enter')
  const form = page.getByTestId('rule-form')
  const text = page.getByLabel('Document (YAML or JSON)')
  const when = form.getByLabel(/^Condition/)
  expect(await when.inputValue()).toBe('args.amount > 500')
  const message = 'it ends where a value or a bracket is missing (at character 14)'
  policy.server.answered.checked = { ...FINE, problems: [{ path: 'rules.1.match.when', message, at: 13 }] }
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
  policy.server.answered.checked = FINE
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
  await page.context().close()
})

test('a condition is completed with the names of its tools by keys alone; Enter and Tab keep their meaning until somebody goes into the list', async () => {
  policy.server.answered.checked = FINE
  const page = await policy.openNarrow()
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
  await page.context().close()
})

test('the server checks a text once somebody stops typing, not at every key', async () => {
  policy.server.answered.checked = FINE
  const page = await policy.newPage()
  await page.clock.install()
  await page.goto(`${policy.server.url}/policy`)
  await page.getByRole('button', { name: 'Change the rule large refunds' }).press('Enter')
  await page.getByText('It can be used').waitFor()
  await page.clock.pauseAt(Date.now() + 3_600_000)
  const before = policy.server.answered.checks
  await page.getByLabel(/^Condition/).pressSequentially(' && args.amount < 900')
  expect(policy.server.answered.checks).toBe(before)
  await page.clock.resume()
  await page.getByText('It can be used').waitFor()
  expect(policy.server.answered.checks).toBe(before + 1)
  await page.context().close()
})

test('an edit keeps its reason, and that it is only to be tried, on the way to another page and back', async () => {
  policy.server.answered.checked = FINE
  const page = await policy.newPage()
  await page.goto(`${policy.server.url}/policy`)
  await page.getByRole('button', { name: 'Edit', exact: true }).press('Enter')
  await page.getByLabel('Document (YAML or JSON)').fill(TEXT.replace('> 500', '> 900'))
  await page.getByLabel(/^Only try it/).check()
  await page.getByLabel(/^Reason, for the list/).fill('Fewer cards')
  await page.goto(`${policy.server.url}/preferences`)
  await page.goBack()
  await page.getByRole('button', { name: 'Save as trial' }).waitFor()
  expect(await page.getByLabel('Document (YAML or JSON)').inputValue()).toContain('> 900')
  expect(await page.getByLabel(/^Reason, for the list/).inputValue()).toBe('Fewer cards')
  expect(await page.getByLabel(/^Only try it/).isChecked()).toBe(true)
  await page.context().close()
})

test('people, times and risk stand behind More, in both directions with the text', async () => {
  policy.server.answered.checked = {
    ...FINE,
    problems: [{ path: 'rules.1.requires.roles.1', message: 'must have at most 64 characters', at: null }],
  }
  const page = await policy.openNarrow()
  await page.getByRole('button', { name: 'Change the rule large refunds' }).press('Enter')
  const form = page.getByTestId('rule-form')
  await form.getByText('More: risk, people and times').click()
  await form.getByLabel('Approvals needed').fill('2')
  const roles = form.getByLabel('Roles that may vote')
  await roles.pressSequentially('finance')
  // The server finds a mistake while the person is typing. The fields stay open, and the next keys arrive.
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
  await page.context().close()
})

test('an edit is there again after its author looked at a call that it would change or loaded the page anew, and gone once they leave it', async () => {
  policy.server.answered.checked = FINE
  const page = await policy.newPage()
  const changes = [{ was: 'ask', wouldBe: 'allow', count: 1, actionIds: [policy.server.answers.newAction.id] }]
  await page.route('**/api/policy/test', (route) => route.fulfill({ json: { ...REPLAYED, changes } }))
  await page.goto(`${policy.server.url}/policy`)
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
  await page.context().close()
})

test('what is typed while a save is on its way stays in the editor', async () => {
  const page = await policy.newPage()
  const held = Promise.withResolvers<void>()
  const came = Promise.withResolvers<void>()
  await page.route('**/api/policy', async (route) => {
    if (route.request().method() === 'GET') return await route.fallback()
    came.resolve()
    await held.promise
    await route.fulfill({ json: { version: 5 } })
  })
  await page.goto(`${policy.server.url}/policy`)
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
  await page.context().close()
})

test('parts that were left out of a rule do not go to another one that the text has in its place', async () => {
  const [first, second, third] = [
    '  - { name: reads run, match: { effect: read }, verdict: allow }\n',
    '  - { name: large refunds, match: { tool: shop.refund }, verdict: ask, requires: { quorum: 2 }, expires: PT10S }\n',
    '  - { name: mails, match: { tool: mail.* }, verdict: deny }\n',
  ]
  const page = await policy.newPage()
  await page.goto(`${policy.server.url}/policy?change=large%20refunds`)
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
  await page.context().close()
})
