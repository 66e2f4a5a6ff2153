import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, inject, onTestFinished, test } from 'vitest'
import { CRASH_VARIABLES, type Crash, killedLine, pausedLine } from '../crash/crash-at.ts'
import { COMPILE_CACHE } from '../testing/compile-cache.ts'
import { databaseFlags, runCommandLine } from '../testing/run-command.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

// Two backups to one file name. The first stands still, or is killed, when its file is complete and has not got its name.

const hasPgDump = spawnSync('sh', ['-c', 'command -v pg_dump']).status === 0
const onBoth = test.skipIf(inject('database') === 'postgres' && !hasPgDump)
const CRASH_AT = new URL('../crash/crash-at.ts', import.meta.url).href
const MAIN = fileURLToPath(new URL('../../packages/server/src/main.js', import.meta.url))

async function startDesk() {
  const folder = temporaryFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  const target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  onTestFinished(() => target[Symbol.asyncDispose]())
  const server = await startTestServer({ config: { tools: toolsOf(target) } })
  onTestFinished(() => server[Symbol.asyncDispose]())
  await server.admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'something' } })
  return { folder: folder.path, file: join(folder.path, 'desk.backup'), flags: databaseFlags(server.database, server.dataDir) }
}

const POINT = 'backup.before_rename'

/** Starts a backup that stands still, or is killed, when it has reached the point. */
async function startUntil(args: readonly string[], crash: Partial<Crash>) {
  const { path: own, [Symbol.dispose]: remove } = temporaryFolder()
  onTestFinished(remove)
  const reached = join(own, 'reached.txt')
  const child = spawn(
    process.execPath,
    ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', '--import', CRASH_AT, MAIN, 'backup', ...args],
    {
      env: {
        ...COMPILE_CACHE,
        PATH: process.env.PATH,
        [CRASH_VARIABLES.crash]: JSON.stringify({ point: POINT, nth: 1, ...crash }),
        [CRASH_VARIABLES.reached]: reached,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  const line = crash.pauses ? pausedLine(POINT) : killedLine(POINT)
  await expect.poll(() => existsSync(reached) && readFileSync(reached, 'utf8')).toContain(line)
  return child
}

onBoth('a second backup to the same file is refused while the first runs, also with --force, and the first succeeds', async () => {
  const { folder, file, flags } = await startDesk()
  const first = await startUntil([file, ...flags], { pauses: true })
  const [ended, stderr] = [once(first, 'close'), text(first.stderr)]
  for (const force of [[], ['--force']]) {
    const second = await runCommandLine(['backup', file, ...force, ...flags], { PATH: process.env.PATH ?? '' })
    expect(second).toMatchObject({
      code: 1,
      stderr: `countersign: another backup to ${file} is running; wait for its end, or name another file\n`,
    })
  }
  first.kill('SIGCONT')
  expect([await ended, await stderr]).toEqual([[0, null], ''])
  expect(readdirSync(folder)).toEqual(['desk.backup'])
})

onBoth('after kill -9 of a backup the next one to the same file succeeds, and leaves nothing of the first', async () => {
  const { folder, file, flags } = await startDesk()
  await startUntil([file, ...flags], {})
  expect(existsSync(file)).toBe(false)
  expect(await runCommandLine(['backup', file, ...flags], { PATH: process.env.PATH ?? '' })).toMatchObject({ code: 0, stderr: '' })
  expect(readdirSync(folder)).toEqual(['desk.backup'])
})
