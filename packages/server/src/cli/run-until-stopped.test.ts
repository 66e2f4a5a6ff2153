import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { openApiClient } from '../../../../verification/testing/api-client.ts'
import { BOOTSTRAP_KEY } from '../../../../verification/testing/bootstrap-key.ts'
import { spawnServer, startChildServer } from '../../../../verification/testing/child-server.ts'
import { checkerAt } from '../../../../verification/testing/openapi.ts'
import { runModule } from '../../../../verification/testing/run-command.ts'
import { temporaryFolder } from '../../../../verification/testing/test-server.ts'

test('a server whose terminal is closed finishes what it carries out, and ends in order', async () => {
  using folder = temporaryFolder()
  const arrived = Promise.withResolvers<ServerResponse>()
  const target = createServer((_, response) => arrived.resolve(response)).listen(0, '127.0.0.1')
  await once(target, 'listening')
  const configFile = join(folder.path, 'countersign.yaml')
  const baseUrl = `http://127.0.0.1:${(target.address() as AddressInfo).port}`
  const routes = { baseUrl, tools: { pay: { method: 'POST', path: '/pay' } } }
  const policy = { rules: [{ name: 'pays', match: { tool: 'shop.pay' }, verdict: 'allow' }] }
  writeFileSync(configFile, JSON.stringify({ tools: { shop: { routes } }, policy }))
  const options = { configFile, dataDir: join(folder.path, 'data') }
  const { child, url, ended } = spawnServer(options)
  try {
    const address = await url
    const admin = openApiClient({ url: address, headers: { authorization: `Bearer ${BOOTSTRAP_KEY}` }, checker: await checkerAt(address) })
    const { id } = await admin.post('/api/actions', { tool: 'shop.pay', arguments: {} })
    const response = await arrived.promise
    const said = linesUntil('Stopping', child)
    child.kill('SIGHUP')
    // The kernel and the shell may each send it, so a second one does not mean that somebody is in a hurry.
    await Promise.race([said, ended])
    child.kill('SIGHUP')
    response.setHeader('content-type', 'application/json').end('{"paid":true}')
    await ended
    expect([child.exitCode, child.signalCode]).toEqual([0, null])
    await using again = await startChildServer(options)
    expect(await again.admin.get(`/api/actions/${id}`)).toMatchObject({ state: 'succeeded', result: { paid: true } })
  } finally {
    child.kill('SIGKILL')
    target.close()
  }
})

async function linesUntil(start: string, { stdout }: ChildProcess): Promise<void> {
  if (!stdout) throw new Error('the child has no output')
  for await (const line of createInterface(stdout)) if (line.startsWith(start)) return
}

test('a server that cannot stop in order ends all the same, and says why', async () => {
  const module = new URL('./run-until-stopped.ts', import.meta.url).href
  // The timer stands for what would keep the process alive, such as a program that a tool has started.
  const code = `
    import { runUntilStopped } from ${JSON.stringify(module)}
    setInterval(() => undefined, 1_000)
    setImmediate(() => process.kill(process.pid, 'SIGTERM'))
    const close = async () => { throw new Error('the disk is gone') }
    await runUntilStopped(close, () => undefined).catch(() => { process.exitCode = 1 })`
  const ended = await runModule(['--input-type=module', '--eval', code])
  expect(ended).toEqual({ code: 1, stdout: '', stderr: 'countersign: it did not stop in order: the disk is gone\n' })
})
