import { AxeBuilder } from '@axe-core/playwright'
import * as wire from '@countersign/core'
import { expect, test } from 'vitest'
import { NARROW, openPolicyPage } from '../testing/policy-page.ts'
import { TEXT } from '../testing/policy-server.ts'

const policy = openPolicyPage(wire)

test.for([false, true])(
  'the policy is a list of sentences with hits, and rules that do nothing are marked in words, dark: %s',
  async (dark) => {
    const colorScheme = dark ? 'dark' : 'light'
    const page = await policy.newPage({ viewport: NARROW, colorScheme })
    await page.goto(`${policy.server.url}/policy?rule=old%20one`)
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
    await page.context().close()
  },
)

test('who may not read statistics sees the rules and the marks without numbers', async () => {
  policy.server.answered.mayRead = false
  const page = await policy.newPage()
  await page.goto(`${policy.server.url}/policy`)
  await page.getByText('4 rules · 1 never decides · 1 with a conflict').waitFor()
  expect(await page.getByText('in 30 days').count()).toBe(0)
  await page.context().close()
  policy.server.answered.mayRead = true
})

test('a trial that another version has overtaken is not activated over it: it opens in the editor, compared with that version', async () => {
  policy.server.answered.trial = { version: 3, basedOn: 4 }
  const page = await policy.newPage()
  await page.goto(`${policy.server.url}/policy`)
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
  policy.server.answered.trial = undefined
  await page.context().close()
})

test('the trial that somebody asked to compare replaces no text that they edit by then', async () => {
  policy.server.answered.trial = { version: 3, basedOn: 2 }
  const page = await policy.newPage()
  const held = Promise.withResolvers<void>()
  await page.route('**/api/policy/versions/3', async (route) => {
    await held.promise
    await route.continue()
  })
  await page.goto(`${policy.server.url}/policy`)
  await page.getByTestId('shadow').getByRole('button', { name: 'Compare with version 4' }).click()
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const field = page.getByLabel('Document (YAML or JSON)')
  await field.fill(`${TEXT}# mine`)
  const came = page.waitForResponse('**/api/policy/versions/3')
  held.resolve()
  await (await came).finished()
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))))
  expect(await field.inputValue()).toBe(`${TEXT}# mine`)
  await page.context().close()
  policy.server.answered.trial = undefined
})
