import AxeBuilder from '@axe-core/playwright'
import { callWith } from './call.ts'
import { expect } from './demo.ts'
import { type Office, test } from './office.ts'

const rule = (role: string) => ({ name: 'letters', match: { tool: 'keyed' }, verdict: 'ask', requires: { roles: [role] } })

async function saveRules({ call }: Office, rules: readonly object[]): Promise<void> {
  const { version } = await (await call('GET', '/api/policy')).json()
  const saved = await call(
    'PUT',
    '/api/policy',
    { document: { default: 'ask', rules }, reason: 'other people' },
    { 'if-match': `"${version}"` },
  )
  expect(saved.status).toBe(200)
}

test.use({ policy: { rules: [rule('finance')] } })

test('an admin looks again at what waits for a role that the policy does not have any more: it waits for the new one', async ({
  page,
  office,
}) => {
  const { id } = await office.agentProposes('mine')
  await saveRules(office, [rule('treasury')])
  await page.goto(`${office.url}/actions/${id}`)
  await expect(page.getByTestId('action-page')).toContainText('Waiting for someone with the role finance.')
  await page.screenshot({ path: test.info().outputPath('look-again.png') })
  expect((await new AxeBuilder({ page }).include('.action-tasks').analyze()).violations).toEqual([])
  await page.getByRole('button', { name: 'Look again' }).click()
  await expect(page.getByTestId('action-page')).toContainText('Waiting for someone with the role treasury.')
  await expect(page.getByRole('button', { name: 'Approve' })).toHaveCount(0)
})

test('an admin withdraws what was allowed to an agent, which has not claimed it', async ({ page, office }) => {
  const made = await (await office.call('POST', '/api/keys', { name: 'gone', kind: 'agent', agent: 'gone', roles: ['agent'] })).json()
  const agent = callWith(made.key, () => office.url)
  const tool = { name: 'look.up', description: 'Looks', input: { type: 'object' }, effect: 'read' }
  expect((await agent('POST', '/api/tools', tool)).status).toBeLessThan(300)
  await saveRules(office, [{ name: 'looks', match: { tool: 'look.up' }, verdict: 'allow' }])
  const { id, state } = await (await agent('POST', '/api/actions', { tool: 'look.up', arguments: {} })).json()
  expect(state).toBe('approved')
  await page.goto(`${office.url}/actions/${id}`)
  await page.getByRole('button', { name: 'Withdraw' }).click()
  await expect(page.getByTestId('action-page')).toContainText('Withdrawn by')
  await expect(page.getByRole('button', { name: 'Withdraw' })).toHaveCount(0)
})
