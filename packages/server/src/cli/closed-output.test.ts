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
  const child = spawn(process.execPath, ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', MAIN, ...args], {
    env: COMPILE_CACHE,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.destroy()
  const ended = once(child, 'close')
  expect(await text(child.stderr)).toBe(read.stderr)
  expect(await ended).toEqual([read.code, null])
})
