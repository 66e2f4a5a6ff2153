import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommandLine } from '../../../../verification/testing/run-command.ts'
import { temporaryFolder } from '../../../../verification/testing/test-server.ts'

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
