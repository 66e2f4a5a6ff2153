import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommandLine } from '../../../verification/testing/run-command.ts'
import { startTestServer, temporaryFolder } from '../../../verification/testing/test-server.ts'
import { type Clock, systemClock } from './clock.ts'
import { makePrivateFile } from './private-files.ts'

const talk = {
  config: { agents: { desk: { model: 'scripted/talk.json' } } },
  scripts: { talk: [{ text: 'Hi.' }] },
  logLevel: 'warn' as const,
}
const isRoot = process.getuid?.() === 0
const NOBODY = '65534'
const DAY_MS = 86_400_000

/** Returns the files below a folder that another user of this machine can read. */
function readableByOthers(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  return files.filter((file) => {
    if (!isRoot) return (statSync(file).mode & 0o077) !== 0
    return spawnSync('setpriv', ['--reuid', NOBODY, '--regid', NOBODY, '--clear-groups', 'head', '-c', '1', file]).status === 0
  })
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

async function changeSomething(server: Awaited<ReturnType<typeof startTestServer>>): Promise<void> {
  await server.admin.post('/api/sessions', {})
  await server.settle()
}

test('another user of the machine reads no file of a data folder, whatever the umask is and whoever made the folder', async () => {
  using place = temporaryFolder()
  chmodSync(place.path, 0o755)
  const made = join(place.path, 'made')
  const given = join(place.path, 'given')
  mkdirSync(given)
  chmodSync(given, 0o755)
  writeFileSync(join(given, 'theirs.txt'), 'not ours')
  const before = process.umask(0o000)
  try {
    for (const dataDir of [made, given]) {
      const keyFile = join(dataDir, 'key-of-the-record.pem')
      await using server = await startTestServer({ ...talk, place: { dataDir, environment: { COUNTERSIGN_AUDIT_KEY_FILE: keyFile } } })
      await changeSomething(server)
      expect(modeOf(keyFile)).toBe('600')
      const backup = join(place.path, `${basename(dataDir)}.backup`)
      expect(await runCommandLine(['backup', backup, '--data', dataDir])).toMatchObject({ code: 0 })
      expect(modeOf(backup)).toBe('600')
      expect(readableByOthers(dataDir)).toEqual(dataDir === given ? [join(given, 'theirs.txt')] : [])
      expect(readdirSync(dataDir)).toEqual(expect.arrayContaining(['countersign.db', 'countersign.db-wal', 'countersign.db-shm']))
      for (const name of readdirSync(dataDir))
        if (name !== 'theirs.txt') expect(`${name} ${modeOf(join(dataDir, name))}`).toBe(`${name} 600`)
    }
  } finally {
    process.umask(before)
  }
  expect([modeOf(made), modeOf(given)]).toEqual(['700', '755'])
})

test('files that an earlier version left open are tightened at the start, and the log says which', async () => {
  using place = temporaryFolder()
  chmodSync(place.path, 0o755)
  const dataDir = join(place.path, 'data')
  const keyFile = join(place.path, 'record.pem')
  const start = () => startTestServer({ ...talk, place: { dataDir, environment: { COUNTERSIGN_AUDIT_KEY_FILE: keyFile } } })
  {
    await using server = await start()
    await changeSomething(server)
  }
  mkdirSync(join(dataDir, 'before-restore-1'))
  writeFileSync(join(dataDir, 'before-restore-1', 'countersign.db'), 'an older database')
  execFileSync('chmod', ['-R', 'go+rX', dataDir, keyFile])
  expect(readableByOthers(place.path).length).toBeGreaterThan(3)
  await using server = await start()
  await changeSomething(server)
  expect(readableByOthers(place.path)).toEqual([])
  expect([modeOf(dataDir), modeOf(join(dataDir, 'before-restore-1')), modeOf(keyFile)]).toEqual(['700', '700', '600'])
  const told = server.errors.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'files.tightened')
  expect(told.map(({ file }) => file)).toEqual(expect.arrayContaining(['countersign.db', 'record.pem', 'data', 'before-restore-1']))
  expect(told[0]).toMatchObject({ was: expect.stringMatching(/^07?[64]?[45]\d?/), is: expect.stringMatching(/^0[67]00$/) })
})

test('whatever the mode of a backup is, only its owner reads and writes the database that is restored from it', async () => {
  using place = temporaryFolder()
  const dataDir = join(place.path, 'data')
  await startTestServer({ ...talk, place: { dataDir, environment: {} } }).then((server) => server[Symbol.asyncDispose]())
  const backup = join(place.path, 'desk.backup')
  expect(await runCommandLine(['backup', backup, '--data', dataDir])).toMatchObject({ code: 0 })
  for (const mode of [0o400, 0o644]) {
    chmodSync(backup, mode)
    const restored = join(place.path, `${mode}`)
    expect(await runCommandLine(['restore', backup, '--data', restored])).toMatchObject({ code: 0, stderr: '' })
    expect([modeOf(join(restored, 'countersign.db')), modeOf(backup)]).toEqual(['600', mode.toString(8)])
  }
})

test.skipIf(!isRoot)('what root makes in the data folder of another user belongs to that user', async () => {
  using place = temporaryFolder()
  const dataDir = join(place.path, 'data')
  const backup = join(place.path, 'desk.backup')
  const serve = async (clock: Clock, environment = {}, flags = {}) => {
    await using server = await startTestServer({ ...talk, clock, flags, place: { dataDir, environment } })
    const { id } = await server.admin.post('/api/sessions', {})
    await server.admin.post(`/api/sessions/${id}/messages`, { content: 'Hello' })
    await server.settle()
  }
  const run = async (...args: string[]) => expect(await runCommandLine([...args, '--data', dataDir])).toMatchObject({ code: 0, stderr: '' })
  await serve({ ...systemClock, nowMs: () => Date.now() - 60 * DAY_MS })
  await run('backup', backup)
  execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, dataDir])
  for (const name of ['owner.lock', 'archive.lock']) rmSync(join(dataDir, name), { force: true })
  await run('restore', backup, '--force')
  await run('archive')
  await serve(systemClock, { COUNTERSIGN_AUDIT_HEAD_FILE: join(dataDir, 'record.head') }, { acceptCopy: true })
  const made = readdirSync(dataDir, { recursive: true }).map(String)
  for (const name of ['countersign.db', 'owner.lock', 'archive.lock', 'instance', 'database.state', 'record.head'])
    expect(made).toContain(name)
  for (const part of ['before-restore-', '.jsonl.gz', '.manifest.json']) expect(made.join()).toContain(part)
  expect(made.filter((name) => statSync(join(dataDir, name)).uid !== Number(NOBODY))).toEqual([])
  expect(statSync(backup).uid).toBe(0)
})

test.skipIf(!isRoot)('root does not give away the file that a link in the data folder leads to', () => {
  using place = temporaryFolder()
  const [dataDir, target] = [join(place.path, 'data'), join(place.path, 'target')]
  mkdirSync(dataDir)
  execFileSync('chown', [`${NOBODY}:${NOBODY}`, dataDir])
  symlinkSync(target, join(dataDir, 'archive.lock'))
  makePrivateFile(join(dataDir, 'archive.lock'))
  expect(statSync(target).uid).toBe(0)
})
