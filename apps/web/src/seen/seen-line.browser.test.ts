import * as wire from '@countersign/core'
import type { Browser } from '@playwright/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HostileServer, startHostileServer } from '../testing/hostile-server.ts'
import { launchBrowser } from '../testing/launch.ts'
import { waitingActions } from '../testing/waiting-action.ts'

const { answers, actionOf } = waitingActions(wire)
const mia = { id: 'prn_me', kind: 'person', name: 'Mia', roles: ['approver'] } as const
const ben = { id: 'prn_ben', kind: 'person', name: 'Ben', roles: ['approver'] } as const
const action = actionOf('one')

let seenBy: wire.SeenBy[] = []
let server: HostileServer
let browser: Browser
beforeAll(async () => {
  server = await startHostileServer({
    answer(method, path, query) {
      if (path === '/api/me') return { body: { principal: mia, signIn: 'key' } }
      if (path === `/api/actions/${action.id}/seen`) return { body: { seenBy } }
      if (path === `/api/actions/${action.id}`) return { body: { ...action, ...(seenBy.length > 0 && { seenBy }) } }
      return answers.answer(method, path, query)
    },
  })
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})

test('an open action names within 15 seconds who else has it on the screen, and never oneself', async () => {
  const page = await browser.newPage()
  page.setDefaultTimeout(280_000)
  await page.clock.install()
  const readOnce = page.waitForResponse((answer) => new URL(answer.url()).pathname === `/api/actions/${action.id}`)
  await page.goto(`${server.url}/actions/${action.id}`)
  await readOnce
  const line = page.getByTestId('seen-by')
  await line.waitFor({ state: 'attached' })
  expect(await line.textContent()).toBe('')
  const at = new Date().toISOString()
  seenBy = [
    { by: ben, revision: action.revision, at },
    { by: mia, revision: action.revision, at },
  ]
  await page.clock.fastForward(15_000)
  await expect.poll(() => line.textContent()).toMatch(/^Seen by Ben, .* ago$/)
  await page.close()
})
