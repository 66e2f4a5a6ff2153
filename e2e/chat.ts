import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { test as base, type Page } from '@playwright/test'
import type { Action, MessageList } from '../packages/core/src/index.ts'
import { COMPILE_CACHE } from '../verification/testing/compile-cache.ts'
import { freePort } from '../verification/testing/free-port.ts'
import { startTarget, type Target, toolsOf } from '../verification/testing/target.ts'
import { callWith } from './call.ts'
import { signInBrowser } from './demo.ts'
import { KEY, startServer } from './server.ts'

const MAIN = fileURLToPath(new URL('../packages/server/src/main.js', import.meta.url))

/** A call of a tool that may be sent again under its key. */
export const CALL = { tool: 'keyed', arguments: { what: 'x' } }

export interface Chat {
  /** Where Countersign is. */
  url: string
  /** Where the page is. */
  page: string
  target: Target
  actions(): Promise<Action[]>
  decide(action: Action, decision: object): Promise<number>
  /** The messages that the model received in a session. */
  messages(sessionId: string): Promise<MessageList['items']>
  kill(): Promise<void>
  start(): Promise<void>
}

/**
 * Makes these pages send at once: the answer to a person that each sends is held until every page has sent one. Otherwise the first one closes
 * the cards of the others before their buttons are pressed.
 */
export async function sendTogether(pages: readonly Page[]): Promise<void> {
  const sent = pages.map(() => Promise.withResolvers<void>())
  const all = Promise.all(sent.map(({ promise }) => promise))
  const hold = (page: Page, at: number) =>
    page.route(/\/(api\/(chat|copilotkit)\b|decision$)/, async (route) => {
      if (route.request().method() === 'POST') {
        sent[at]?.resolve()
        await all
      }
      await route.fallback()
    })
  await Promise.all(pages.map(hold))
}

type StartFrontEnd = (settings: { port: number; countersign: string; key: string }) => Promise<{ url: string; close(): Promise<void> }>

/** Tests on the page of an example, which Ana sees, before a server with this script for its model. */
export const chatTest = (startFrontEnd: StartFrontEnd) =>
  base.extend<{ script: { steps: object[] }; policy: { rules: object[] }; chat: Chat }>({
    script: [{ steps: [{ calls: [CALL] }, { text: 'Done.' }] }, { option: true }],
    policy: [{ rules: [{ name: 'reads run', match: { effect: 'read' }, verdict: 'allow' }] }, { option: true }],
    chat: async ({ context, page, script, policy }, use) => {
      const folder = await mkdtemp(join(tmpdir(), 'countersign-e2e-'))
      await using target = await startTarget(() => ({ status: 200, body: { id: 4 } }))
      await writeFile(join(folder, 'planner.json'), JSON.stringify(script))
      const port = `${await freePort()}`
      const config = { tools: toolsOf(target), agents: { planner: { model: 'scripted/planner.json', tools: ['*'] } }, policy }
      const open = () => startServer(folder, config, { flags: ['--port', port] })
      let server = await open()
      const flags = ['--name', 'Ana', '--kind', 'person', '--role', 'approver', '--scope', 'propose', '--scope', 'decide']
      const makeKey = [
        '--conditions=countersign-source',
        MAIN,
        'key',
        'create',
        '--data',
        join(folder, 'data'),
        '--expires-in',
        'P1D',
        ...flags,
      ]
      const made = await promisify(execFile)(process.execPath, makeKey, { env: { ...COMPILE_CACHE, PATH: process.env.PATH } })
      const frontEnd = await startFrontEnd({ port: 0, countersign: `http://127.0.0.1:${port}`, key: made.stdout.trim() })
      await signInBrowser(context, server.link)
      await page.goto(frontEnd.url)
      const call = callWith(KEY, () => server.url)
      await use({
        url: server.url,
        page: frontEnd.url,
        target,
        actions: async () => (await (await call('GET', '/api/actions')).json()).items,
        decide: async ({ id, revision, digest }, decision) =>
          (await call('POST', `/api/actions/${id}/decision`, { revision, digest, ...decision })).status,
        messages: async (sessionId) => (await (await call('GET', `/api/sessions/${sessionId}/messages`)).json()).items,
        kill: () => server.end('SIGKILL'),
        async start() {
          server = await open()
        },
      })
      await frontEnd.close()
      await server.end()
      await rm(folder, { recursive: true })
    },
  })
