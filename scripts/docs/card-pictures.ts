// `npm run docs:pictures`: takes the pictures of the README from the console of the shop example.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { launchBrowser } from '../../apps/web/src/testing/launch.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PICTURES = join(ROOT, 'docs', 'public')
const MAX_BYTES = 150_000

const data = mkdtempSync(join(tmpdir(), 'countersign-pictures-'))
const ports = ['--port', '0', '--brain-port', '0']
const demo = spawn(
  process.execPath,
  [
    ...['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', 'packages/server/src/main.js', 'demo'],
    ...[...ports, '--data', data, '--no-open'],
  ],
  // No key of a provider: the scripted model answers the same each time.
  { cwd: ROOT, env: { PATH: process.env.PATH }, stdio: ['ignore', 'pipe', 'inherit'] },
)
const ended = once(demo, 'exit')

async function readLink(): Promise<string> {
  for await (const line of createInterface(demo.stdout)) {
    const link = /http:\S+#sign-in=\S+/.exec(line)?.[0]
    if (link !== undefined) return link
  }
  throw new Error('the demo ended before it printed a link')
}

try {
  const link = await readLink()
  await using browser = await launchBrowser()
  const context = await browser.newContext({ deviceScaleFactor: 2, viewport: { width: 1040, height: 900 } })
  const page = await context.newPage()
  await page.goto(link)
  await page.getByTestId('account').waitFor()
  const message = page.getByRole('textbox', { name: 'Message' })
  await message.fill('Mark ORD-001 as processing')
  await message.press('Enter')
  const card = page.getByTestId('approval-card')
  await card
    .getByRole('button', { name: /^Approve/ })
    .and(page.locator('[aria-disabled=false]'))
    .waitFor()
  // The pointer over a button would show.
  await page.mouse.move(0, 0)
  mkdirSync(PICTURES, { recursive: true })
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const path = join(PICTURES, `card-${colorScheme}.png`)
    await card.screenshot({ path, animations: 'disabled' })
    const bytes = statSync(path).size
    if (bytes > MAX_BYTES) throw new Error(`${path} has ${bytes} bytes; ${MAX_BYTES} is the most`)
    console.log(`${path}: ${bytes} bytes`)
  }
} finally {
  demo.kill('SIGTERM')
  await ended
  rmSync(data, { recursive: true })
}
