import * as wire from '@countersign/core'
import { expect, test } from 'vitest'
import { plant } from '../testing/hostile.ts'
import { hostileAnswers } from '../testing/hostile-answers.ts'
import { startHostileServer } from '../testing/hostile-server.ts'
import { launchBrowser } from '../testing/launch.ts'

test('what another admin changed meanwhile is said beside the roles as they are now, and only a new press changes those', async () => {
  const { answer } = hostileAnswers(plant(), wire)
  await using server = await startHostileServer({ answer })
  await using browser = await launchBrowser()
  const page = await browser.newPage()
  // The driver's own limit is 30 s: too short for a busy machine.
  page.setDefaultTimeout(280_000)
  const person = answer('GET', '/api/people/prn_to', new URLSearchParams())?.body as wire.PersonDetails
  let now = ['approver', 'finance']
  const sent: unknown[] = []
  const detail = 'the roles of Bob changed since they were shown: they are viewer now. Nothing was changed'
  await page.route('**/api/people/prn_to', async (route) => {
    const body = route.request().postDataJSON()
    if (body) {
      sent.push(body)
      if (sent.length === 1) {
        now = ['viewer']
        return await route.fulfill({ status: 409, json: { code: 'revision_mismatch', status: 409, detail } })
      }
      now = body.roles
    }
    await route.fulfill({ json: { ...person, name: 'Bob', roles: now, providedRoles: null } })
  })
  await page.goto(`${server.url}/people/prn_to`)
  const roles = page.getByTestId('role')
  const add = page.getByLabel('Another role')
  await page.getByText('finance').waitFor()
  await add.fill('legal')
  await page.getByRole('button', { name: 'Add the role' }).click()
  await page.getByRole('alert').getByText(detail).waitFor()
  await page.getByText('finance', { exact: true }).waitFor({ state: 'detached' })
  expect(await roles.allInnerTexts()).toEqual([expect.stringContaining('viewer')])
  expect(await page.getByRole('alert').textContent()).toBe(detail)
  await page.getByRole('button', { name: 'Add the role' }).click()
  await page.getByRole('button', { name: 'Remove the role legal' }).waitFor()
  await page.getByRole('alert').waitFor({ state: 'detached' })
  expect(await add.inputValue()).toBe('')
  // Another change leaves what is being typed.
  await add.fill('audit')
  await page.getByRole('button', { name: 'Remove the role legal' }).click()
  await page.getByRole('button', { name: 'Remove the role legal' }).waitFor({ state: 'detached' })
  expect(await add.inputValue()).toBe('audit')
  expect(sent).toEqual([
    { roles: ['approver', 'finance', 'legal'], was: ['approver', 'finance'] },
    { roles: ['viewer', 'legal'], was: ['viewer'] },
    { roles: ['viewer'], was: ['viewer', 'legal'] },
  ])
})
