import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { BOOTSTRAP_KEY } from '../testing/bootstrap-key.ts'
import { COMPILE_CACHE } from '../testing/compile-cache.ts'
import { openHeld } from '../testing/held-place.ts'
import { databaseFlags } from '../testing/run-command.ts'
import { type Target, toolsOf } from '../testing/target.ts'
import { type TestServer, temporaryFolder } from '../testing/test-server.ts'

// `countersign serve` lists the open actions of a copy before it accepts the copy.

const MAIN = fileURLToPath(new URL('../../packages/server/src/main.js', import.meta.url))
const IS_READY = 'Countersign is ready'
const END = 'The link works once'

/** Returns what the command says until it is ready, and ends it with kill -9. */
async function saidBy({ database, dataDir }: TestServer, target: Target, flags: readonly string[]): Promise<string> {
  const { path, [Symbol.dispose]: remove } = temporaryFolder()
  onTestFinished(remove)
  const config = join(path, 'countersign.json')
  writeFileSync(config, JSON.stringify({ tools: toolsOf(target) }))
  const args = ['serve', '--config', config, '--port', '0', '--log-level', 'fatal', '--no-open', ...databaseFlags(database, dataDir)]
  const child = spawn(
    process.execPath,
    ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', MAIN, ...args, ...flags],
    {
      env: { ...COMPILE_CACHE, COUNTERSIGN_BOOTSTRAP_KEY: BOOTSTRAP_KEY },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const ended = once(child, 'exit')
  let said = ''
  for await (const chunk of child.stdout) {
    said += chunk
    if (said.includes(END)) break
  }
  child.kill('SIGKILL')
  await ended
  return said
}

test('serve says how many actions a copy holds and which ones would start, and with --accept-copy says so before it accepts', async () => {
  await using place = await openHeld()
  const { server, target } = place
  await server.stop()
  const open = [
    '3 approved actions, which may start',
    '2 that were under way, and their outcome becomes unknown',
    '1 that waits for a decision',
    'unkeyed: Do u2 once',
    'unkeyed: Do u3 once',
    'keyed: Do k2',
  ]
  const held = await saidBy(server, target, [])
  expect(open.filter((words) => !held.includes(words))).toEqual([])
  const accepted = await saidBy(server, target, ['--accept-copy'])
  const before = accepted.slice(0, accepted.indexOf(IS_READY))
  expect(open.filter((words) => !before.includes(words))).toEqual([])
})
