import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { callWith } from './call.ts'
import { approve, cards, expect, signInBrowser, test } from './demo.ts'
import { KEY, startServer } from './server.ts'

const DEFINE = fileURLToPath(new URL('../packages/toolkit/src/define.ts', import.meta.url))

/** One tool in code, which the program that asked carries out. */
const CONFIG = `
import { defineTool } from ${JSON.stringify(DEFINE)}
const setStatus = defineTool({
  name: 'setStatus', description: 'Sets the status of an order.', effect: 'write', executor: 'client', timeoutMs: 240_000,
  input: { type: 'object', properties: { order: { type: 'string' } } },
  describe: ({ order }) => 'Ship ' + order,
})
export default { tools: { shop: { prefix: false, tools: [setStatus] } } }
`

test('what an agent carries out itself is left to it by the browser that approved it', async ({ context, page }) => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-e2e-'))
  const { url, link, end } = await startServer(folder, CONFIG)
  try {
    const call = callWith(KEY, () => url)
    const post = async (path: string, body: object) => (await call('POST', path, body)).json()
    await signInBrowser(context, link)
    const run = { run: 'conv-7', url: 'https://ci.example.com/runs/7' }
    const { id } = await post('/api/actions', { tool: 'setStatus', arguments: { order: 'ORD-1' }, context: run })
    await page.goto(`${url}/actions/${id}`)
    const card = cards(page)
    await expect(card.getByRole('figure')).toContainText('Run: conv-7')
    await expect(card.getByRole('link', { name: 'ci.example.com' })).toHaveAttribute('href', run.url)
    await approve(card)
    await expect(card).toContainText('to be carried out by its agent')
    await expect(card.getByRole('button', { name: 'Carry out here' })).toHaveCount(0)

    const { epoch } = await post(`/api/actions/${id}/claim`, {})
    await expect(card).toContainText('Running in its agent')
    await post(`/api/actions/${id}/result`, { epoch, output: { done: true } })
    await expect(card).toHaveAttribute('data-state', 'succeeded')
  } finally {
    await end()
    rmSync(folder, { recursive: true, force: true })
  }
})
