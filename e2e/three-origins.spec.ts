import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@playwright/test'
import { COMPILE_CACHE } from '../verification/testing/compile-cache.ts'
import { freePort } from '../verification/testing/free-port.ts'
import { browserOf } from './demo.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const EXAMPLE = join(ROOT, 'examples/three-origins')
const MAIN = join(ROOT, 'packages/server/src/main.js')
const KEY = 'e2e-bootstrap-key-0123456789'
const BRAIN_KEY = 'e2e-brain-key-0123456789'

/** A process of the example, ready once it has said where it is. */
async function startProcess(
  args: string[],
  environment: Record<string, string>,
  says: RegExp,
): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...COMPILE_CACHE, PATH: process.env.PATH, ...environment },
  })
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
      const found = says.exec(text)?.[1]
      if (found) resolve(found)
    })
    child.once('exit', (code) => reject(new Error(`${args.at(0)} ended with ${code}:\n${text}`)))
  })
  return { url, child }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

test('a front end, a brain and a server on three origins: asked on the page, approved on the page, done once', async ({
  page,
  browser,
}) => {
  const data = await mkdtemp(join(tmpdir(), 'countersign-e2e-'))
  const started: ChildProcess[] = []
  const start = async (...args: Parameters<typeof startProcess>) => {
    const { url, child } = await startProcess(...args)
    started.push(child)
    return url
  }
  try {
    const port = await freePort()
    const says = /is at (http:\S+)/
    const brain = await start([join(EXAMPLE, 'brain.mjs')], { BRAIN_KEY, BRAIN_PORT: '0' }, says)
    const frontEnd = await start(
      [join(EXAMPLE, 'front-end.mjs')],
      { FRONT_END_PORT: '0', COUNTERSIGN_URL: `http://127.0.0.1:${port}` },
      says,
    )
    const server = await start(
      [
        ...['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', MAIN, 'serve', '--no-open', '--log-level', 'error'],
        ...['--config', join(EXAMPLE, 'countersign.yaml'), '--data', join(data, 'data'), '--port', String(port)],
      ],
      { BRAIN_KEY, BRAIN_URL: brain, FRONT_END_URL: frontEnd, COUNTERSIGN_BOOTSTRAP_KEY: KEY },
      /ready at (http:\S+)/,
    )
    const local = `http://127.0.0.1:${port}`
    const ofServer = async (path: string) => (await fetch(local + path, { headers: { authorization: `Bearer ${KEY}` } })).json()
    expect(new Set([brain, frontEnd, server].map((url) => new URL(url).port)).size).toBe(3)
    expect((await fetch(brain, { method: 'POST', body: '{}' })).status).toBe(401)

    await page.goto(frontEnd)
    await page.getByLabel('New objective').fill('Answer within a day')
    await page.getByLabel('Your key').fill('wrong-key-0123456789abcdef')
    await page.getByRole('button', { name: 'Ask' }).click()
    // Refusals of the server are readable there, too.
    await expect(page.getByRole('alert')).toHaveText('this key is not known here')

    await page.getByLabel('Your key').fill(KEY)
    await page.getByRole('button', { name: 'Ask' }).click()
    await page.getByRole('button', { name: 'Approve' }).click()
    await expect(page.getByRole('listitem').filter({ hasText: /^succeeded$/ })).toHaveCount(1)
    await expect(page.getByRole('listitem').filter({ hasText: /^Done, / })).toHaveCount(1)
    const { items } = await ofServer('/api/actions')
    expect(items).toHaveLength(1)
    expect(items[0]).toMatchObject({ tool: 'goals.createObjective', state: 'succeeded', agent: 'desk' })
    // The brain was told the agent, the session and the person.
    const shown = await page.getByRole('listitem').first().textContent()
    expect(shown).toBe(`${items[0].requestedBy.name}, desk proposes this in ${items[0].sessionId}.`)

    // From the same page, a browser that is signed in to the console reads nothing and changes nothing with that.
    const signedIn = await browserOf(browser, local, KEY)
    const foreign = await signedIn.newPage()
    await foreign.goto(frontEnd)
    const secret = (await signedIn.storageState()).origins.flatMap(({ localStorage }) => localStorage)[0]?.value ?? ''
    expect(secret).not.toBe('')
    const tries = await foreign.evaluate(
      ([url, value]) =>
        Promise.all(
          [
            () => fetch(`${url}/api/sessions`, { credentials: 'include' }),
            () => fetch(`${url}/api/sessions`, { headers: { 'countersign-console': value ?? '' } }),
          ].map((one) =>
            one().then(
              (answer) => String(answer.status),
              () => 'refused by the browser',
            ),
          ),
        ),
      [local, secret],
    )
    expect(tries).toEqual(['refused by the browser', 'refused by the browser'])
    await signedIn.close()

    // A page of an origin that is not listed reads nothing, even with the key.
    const unlisted = await start([join(EXAMPLE, 'front-end.mjs')], { FRONT_END_PORT: '0', COUNTERSIGN_URL: local }, says)
    await page.goto(unlisted)
    const answer = await page.evaluate(
      ([url, key]) =>
        fetch(`${url}/api/sessions`, { headers: { authorization: `Bearer ${key}` } }).then(
          () => 'read',
          () => 'refused by the browser',
        ),
      [local, KEY],
    )
    expect(answer).toBe('refused by the browser')
  } finally {
    for (const child of started.reverse()) await end(child)
    await rm(data, { recursive: true, force: true })
  }
})
