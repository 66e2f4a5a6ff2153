import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test as base, type Locator, type Page } from '@playwright/test'
import { copyActions, openSqliteForBench } from '../bench/database.ts'
import type { Action } from '../packages/core/src/index.ts'
import { startTarget, type Target, toolsOf } from '../verification/testing/target.ts'
import { type Call, callWith } from './call.ts'
import { expect, signInBrowser } from './demo.ts'
import { KEY, startServer } from './server.ts'

export interface Office {
  url: string
  target: Target
  call: Call
  propose(what: string, more?: object): Promise<Action>
  /** The same by an agent, which is somebody else than the person at the console. */
  agentProposes(what: string, more?: object): Promise<Action>
}

/** A server on which `many` actions wait, under `policy`. */
export const test = base.extend<{ many: number; policy: { rules: readonly object[] }; office: Office }>({
  many: [0, { option: true }],
  policy: [{ rules: [] }, { option: true }],
  office: async ({ context, many, policy }, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'countersign-e2e-'))
    await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
    const config = { tools: toolsOf(target), policy: { ...policy, limits: { waitingPerAgent: 20_000 } } }
    let server = await startServer(folder, config)
    const call = callWith(KEY, () => server.url)
    const propose: Office['propose'] = async (what, more = {}) =>
      expect201(await call('POST', '/api/actions', { tool: 'keyed', arguments: { what }, ...more }))
    const agentProposes: Office['agentProposes'] = async (what, more = {}) => {
      const body = { tool: 'keyed', arguments: { what }, ...more }
      return expect201(await callWith(agentKey, () => server.url)('POST', '/api/actions', body))
    }
    if (many > 0) {
      const { id } = await propose('first')
      await server.end()
      const database = await openSqliteForBench(folder)
      await copyActions(database, id, many - 1)
      // One by one through the API it would take minutes.
      await database.run(`update action set description = 'Do letter ' || substr(id, -5)`)
      await database.close()
      server = await startServer(folder, config)
    }
    await signInBrowser(context, server.link)
    const made = await call('POST', '/api/keys', { name: 'desk', kind: 'agent', agent: 'desk', roles: ['agent'] })
    const agentKey: string = (await made.json()).key
    await use({ url: server.url, target, call, propose, agentProposes })
    await server.end()
    await rm(folder, { recursive: true })
  },
})

async function expect201(answer: Response): Promise<Action> {
  expect(answer.status).toBe(201)
  return answer.json()
}

export const rows = (page: Page): Locator => page.getByTestId('waiting-row')
export const rowOf = (page: Page, id: string): Locator => page.locator(`[data-row="${id}"]`)
export const idOf = (at: number): string => `act_${String(at).padStart(26, '0')}`
export const nodes = (page: Page): Promise<number> => page.evaluate(() => document.querySelectorAll('*').length)
export const boxOf = async (row: Locator) => (await row.boundingBox()) ?? { x: -1, y: -1, width: 0, height: 0 }

export async function openInbox(page: Page, office: Office, search = ''): Promise<void> {
  await page.goto(`${office.url}/waiting${search}`)
  await rows(page).first().waitFor()
}
