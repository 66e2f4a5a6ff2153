import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { COMPILE_CACHE } from '../testing/compile-cache.ts'
import { openFaultProxy } from '../testing/fault-proxy.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

const MAIN = fileURLToPath(new URL('../../packages/server/src/main.js', import.meta.url))
const SOURCE = ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning']

test('`run` goes on after its connection was cut, and after it was refused: nothing is printed twice, and nothing is missing', async () => {
  const target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  const call = { calls: [{ tool: 'keyed', arguments: { what: 'once' } }] }
  const server = await startTestServer({
    config: { tools: toolsOf(target), agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } } },
    scripts: { desk: [call, { text: 'All done.' }] },
  })
  const proxy = await openFaultProxy({ host: '127.0.0.1', port: Number(new URL(server.url).port) })
  onTestFinished(async () => {
    await proxy[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
    await target[Symbol.asyncDispose]()
  })
  const { key } = await server.makeKey({ name: 'Ana', kind: 'person', roles: ['approver', 'member'] })
  const env = { ...COMPILE_CACHE, COUNTERSIGN_URL: `http://127.0.0.1:${proxy.port}`, COUNTERSIGN_KEY: key }
  const child = spawn(process.execPath, [...SOURCE, MAIN, 'run', 'do it', '--json'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  const errors = text(child.stderr)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const seen: { type: string; data: { proposal?: { id: string }; message?: { content: string } } }[] = []
  while (seen.at(-1)?.type !== 'action_proposed') seen.push(JSON.parse((await lines.next()).value ?? ''))
  // The network is away for a while, and people decide meanwhile.
  proxy.refuse(true)
  proxy.cutAll()
  const id = seen.at(-1)?.data.proposal?.id
  await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  await server.admin.get(`/api/actions/${id}?wait=30&until=settled`)
  proxy.refuse(false)
  for await (const line of { [Symbol.asyncIterator]: () => lines }) seen.push(JSON.parse(line))
  expect((await ended)[0]).toBe(0)
  expect(await errors).toContain('the connection was cut: connecting again')
  expect(seen.filter(({ type }) => type === 'action_proposed')).toHaveLength(1)
  expect(seen.filter(({ data }) => data.message?.content === 'All done.')).toHaveLength(1)
  expect(seen.at(-1)?.type).toBe('done')
  expect(target.writes).toHaveLength(1)
})
