import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dumpDatabase } from '../../../../verification/testing/database.ts'
import { runCommandLine } from '../../../../verification/testing/run-command.ts'
import { openTestDatabase } from '../../../../verification/testing/test-database.ts'
import { startTestServer, temporaryFolder } from '../../../../verification/testing/test-server.ts'

test('serve ends when another program listens at its port', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'countersign.yaml')
  writeFileSync(file, '{}\n')
  const other = createServer()
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done))
  const { port } = other.address() as AddressInfo
  try {
    const flags = ['--no-open', '--port', `${port}`, '--config', file, '--data', folder.path, '--log-level', 'warn']
    const { code, stdout, stderr } = await runCommandLine(['serve', ...flags])
    expect(stderr).toBe(
      `countersign: port ${port} is in use: stop what listens there, or choose another with --port (0 takes any free one)\n`,
    )
    expect([code, stdout]).toEqual([1, ''])
  } finally {
    other.close()
  }
})

test.each(['sqlite', 'postgres'])('%s: a start that fails because its port is taken does not migrate the database', async (kind) => {
  using folder = temporaryFolder()
  await using postgres = kind === 'postgres' ? await openTestDatabase({ isEmpty: true }) : undefined
  const other = createServer()
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done))
  try {
    const { port } = other.address() as AddressInfo
    const place = { dataDir: join(folder.path, 'data'), environment: postgres ? { DATABASE_URL: postgres.url } : {} }
    await expect(startTestServer({ config: {}, place, flags: { port } })).rejects.toThrow(`port ${port} is in use`)
    expect(existsSync(join(place.dataDir, 'countersign.db'))).toBe(false)
    if (postgres) expect(await dumpDatabase({ kind: 'postgres', url: postgres.url })).toEqual({})
  } finally {
    other.close()
  }
})

test('a start that fails because its port is taken leaves the policy in force as it was', async () => {
  const shop = { routes: { baseUrl: 'http://127.0.0.1:9', tools: { pay: { method: 'POST' as const, path: '/pay' } } } }
  const config = (verdict: 'allow' | 'deny') => ({
    tools: { shop },
    policy: { default: 'ask' as const, rules: [{ name: 'pay', match: { tool: 'shop.pay' }, verdict }] },
  })
  await using server = await startTestServer({ config: config('deny') })
  await server.stop()
  const before = await server.dump()
  const other = createServer()
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done))
  try {
    const { database, dataDir } = server
    const environment = database.kind === 'postgres' ? { DATABASE_URL: database.url } : {}
    const { port } = other.address() as AddressInfo
    const start = startTestServer({ config: config('allow'), place: { dataDir, environment }, flags: { port } })
    await expect(start).rejects.toThrow(`port ${port} is in use`)
  } finally {
    other.close()
  }
  const after = await server.dump()
  expect(after.policy_version).toEqual(before.policy_version)
  expect(after.policy_version).toHaveLength(1)
  expect(after.audit).toEqual(before.audit)
})
