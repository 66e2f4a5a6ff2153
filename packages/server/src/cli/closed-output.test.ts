import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { spawnServer } from '../../../../verification/testing/child-server.ts'
import { COMPILE_CACHE } from '../../../../verification/testing/compile-cache.ts'
import { runCommandLine } from '../../../../verification/testing/run-command.ts'
import { temporaryFolder } from '../../../../verification/testing/test-server.ts'

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url))

async function runWithoutReader(args: readonly string[]): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', MAIN, ...args], {
    env: COMPILE_CACHE,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.destroy()
  const ended = once(child, 'close')
  const stderr = await text(child.stderr)
  const [code] = await ended
  return { code, stderr }
}

test('a server whose output nobody reads any more, as with `| head -1`, goes on deciding and stops in order', async () => {
  using folder = temporaryFolder()
  const configFile = join(folder.path, 'countersign.yaml')
  writeFileSync(configFile, '{}\n')
  const { child, url, ended } = spawnServer({ configFile, dataDir: folder.path })
  try {
    const address = await url
    child.stdout?.destroy()
    child.stderr?.destroy()
    expect((await fetch(`${address}/readyz`)).status).toBe(200)
    child.kill('SIGTERM')
    await ended
    expect([child.exitCode, child.signalCode]).toEqual([0, null])
  } finally {
    child.kill('SIGKILL')
  }
})

test('a command whose reader is gone ends as it does with one, without a stack trace', async () => {
  using folder = temporaryFolder()
  const configFile = join(folder.path, 'countersign.yaml')
  writeFileSync(configFile, '{}\n')
  const args = ['doctor', '--config', configFile, '--data', join(folder.path, 'data')]
  const read = await runCommandLine(args)
  expect(read.stdout).not.toBe('')
  expect(await runWithoutReader(args)).toEqual({ code: read.code, stderr: read.stderr })
})

test('a key whose reader is gone is revoked again: nobody has its secret', async () => {
  using folder = temporaryFolder()
  const data = ['--data', folder.path]
  const lost = await runWithoutReader(['key', 'create', '--name', 'lost', '--kind', 'agent', '--role', 'agent', ...data])
  const said = /^countersign: the key could not be printed, so key_\w+ was revoked again\n$/
  expect(lost).toEqual({ code: 1, stderr: expect.stringMatching(said) })
  expect((await runCommandLine(['key', 'list', ...data])).stdout).toMatch(/^key_\w+ {2}lost .* {2}revoked /)
})
