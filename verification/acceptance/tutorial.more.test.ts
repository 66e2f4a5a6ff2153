import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { launchBrowser } from '../../apps/web/src/testing/launch.ts'
import { press } from '../../apps/web/src/testing/press.ts'
import { blocksOf } from '../../scripts/docs/blocks.ts'
import { freePort } from '../testing/free-port.ts'
import { type Background, openPageShell, type PageShell } from '../testing/page-shell.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PAGE = 'docs/start/first-tool.md'

/** Runs the page's blocks in order, as its reader would, on other ports. */
class Reader {
  readonly #shell: PageShell
  readonly #blocks
  readonly #onPorts: (text: string) => string

  constructor(shell: PageShell, onPorts: (text: string) => string) {
    this.#shell = shell
    this.#blocks = blocksOf(ROOT, PAGE)
    this.#onPorts = onPorts
  }

  /** Writes the files that come next on the page, and runs the block after them. */
  async next(replace: (code: string) => string = (code) => code): Promise<{ stdout: string; background: Background | undefined }> {
    for (;;) {
      const block = this.#blocks.shift()
      if (!block) throw new Error('the page has no more blocks')
      const code = replace(this.#onPorts(block.code))
      const { file, background: ready } = block.attributes
      if (file !== undefined) this.#shell.write(file, code)
      else if (ready !== undefined) return { stdout: '', background: await this.#shell.start(code, ready) }
      else return { stdout: await this.#shell.run(code), background: undefined }
    }
  }

  async start(): Promise<Background> {
    const { background } = await this.next()
    if (!background) throw new Error('the block does not go on running')
    return background
  }

  get left(): number {
    return this.#blocks.length
  }
}

test('the tutorial works as it is written: routes, the console, the terminal, and the same tool in TypeScript', async () => {
  const [port, bankPort] = [await freePort(), await freePort()].map(String)
  const environment = { COUNTERSIGN_PORT: `${port}`, COUNTERSIGN_URL: `http://127.0.0.1:${port}` }
  await using shell = openPageShell(environment)
  const reader = new Reader(shell, (text) => text.replaceAll('4319', `${port}`).replaceAll('4500', `${bankPort}`))
  // The project of Start. Its packages are there already.
  const project = blocksOf(ROOT, 'docs/start/index.md').find(({ code }) => code.includes('npm init'))
  await shell.run(`${project?.code}`.replace(/^npm install .*$/m, ''))
  const bank = await reader.start()
  const { stdout: checked } = await reader.next()
  expect(checked).toContain('bank.setBalance')
  const server = await reader.start()

  // In the console.
  await using browser = await launchBrowser()
  const page = await browser.newPage()
  // A busy machine is slow: only what hangs is to end.
  page.setDefaultTimeout(240_000)
  await page.goto(/http:\S+#sign-in=\S+/.exec(server.output)?.[0] ?? '')
  await page.getByTestId('account').waitFor()
  const message = page.getByRole('textbox', { name: 'Message' })
  await message.fill('Ana is owed five euros')
  await message.press('Enter')
  const card = page.getByTestId('approval-card')
  await card.getByRole('heading', { name: 'Set the balance of ana to 3000 cents' }).waitFor()
  // The card is there before the part that formats its numbers.
  await card.locator('del .cs-exact').waitFor()
  expect([await card.locator('del').textContent(), await card.locator('ins').textContent()]).toEqual([
    '2,500, stored as 2500',
    '3,000, stored as 3000',
  ])
  expect(bank.output).not.toContain('cents')
  await press(card.getByRole('button', { name: /^Approve/ }))
  await bank.printed('ana now has 3000 cents')
  await page.getByText('The balance of Ana is 30.00 now.').waitFor()

  // In the terminal: the page's `act_…` is the id from the list.
  await reader.next()
  const { stdout: proposed } = await reader.next()
  const { id, state, createdAt, expiresAt } = JSON.parse(proposed)
  expect(state).toBe('proposed')
  // The policy of the page says so.
  expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(86_400_000)
  const { stdout: listed } = await reader.next((code) => code.replace('act_…', id))
  expect(listed).toContain('Set the balance of ben to 1000 cents')
  await bank.printed('ben now has 1000 cents')

  // In TypeScript.
  await server.stop()
  rmSync(join(shell.folder, 'countersign.yaml'))
  await reader.start()
  const { stdout: refused } = await reader.next()
  expect(JSON.parse(refused)).toMatchObject({ code: 'impossible', reason: 'There is no customer carl.' })
  const again = await shell.run(
    `curl -s -H "authorization: Bearer $AGENT_KEY" -H 'content-type: application/json' -d '{"tool":"bank.setBalance","arguments":{"customer":"ben","cents":700}}' http://127.0.0.1:${port}/api/actions`,
  )
  const action = JSON.parse(again)
  expect(action).toMatchObject({
    description: 'Set the balance of ben to 7.00',
    preview: [{ field: 'cents', oldValue: 1000, newValue: 700 }],
  })
  await shell.run(`npx countersign approve ${action.id}`)
  await bank.printed('ben now has 700 cents')
  expect(reader.left).toBe(0)

  // The customer closes the account while people decide: what the bank refuses is not called done.
  const closing = await shell.run(
    `curl -s -H "authorization: Bearer $AGENT_KEY" -H 'content-type: application/json' -d '{"tool":"bank.setBalance","arguments":{"customer":"ben","cents":600}}' http://127.0.0.1:${port}/api/actions`,
  )
  await bank.stop()
  await using closed = createServer((request, response) =>
    response
      .writeHead(request.method === 'PUT' ? 404 : 200, { 'content-type': 'application/json' })
      .end(JSON.stringify(request.method === 'PUT' ? { message: 'There is no customer ben.' } : { customer: 'ben', cents: 700 })),
  )
  await once(closed.listen(Number(bankPort), '127.0.0.1'), 'listening')
  const { id: refusedId } = JSON.parse(closing)
  await shell.run(`npx countersign approve ${refusedId}`)
  const read = `curl -s -H "authorization: Bearer $COUNTERSIGN_KEY" 'http://127.0.0.1:${port}/api/actions/${refusedId}?wait=60&until=settled'`
  let ended = JSON.parse(await shell.run(read))
  while (ended.state === 'approved' || ended.state === 'executing') ended = JSON.parse(await shell.run(read))
  expect(ended).toMatchObject({ state: 'failed', error: { kind: 'refused' } })
})
