import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { COMPILE_CACHE } from '../testing/compile-cache.ts'
import { runCommandLine } from '../testing/run-command.ts'
import { redeem, sendSignIn, tokenOf } from '../testing/sign-in.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

const MAIN = fileURLToPath(new URL('../../packages/server/src/main.js', import.meta.url))
const talk = { config: { agents: { desk: { model: 'scripted/talk.json' } } }, scripts: { talk: [{ text: 'Hi.' }] } }

test('countersign sign-in prints a link that signs in once; the file it reads is for its owner alone and goes with the server', async () => {
  await using server = await startTestServer(talk)
  const { port } = new URL(server.url)
  const file = join(server.dataDir, `sign-in-${port}.json`)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const made = await runCommandLine(['sign-in', '--no-open', '--data', server.dataDir])
  expect(made).toMatchObject({ code: 0, stderr: '' })
  const link = made.stdout.trim()
  expect(link).toMatch(new RegExp(`^http://(localhost|127\\.0\\.0\\.1):${port}/#sign-in=[\\w-]{72}$`))
  expect(await redeem(link)).toMatchObject({ status: 200, person: 'prn_local' })
  expect(await redeem(link)).toMatchObject({ status: 401, detail: expect.stringContaining('was used already') })
  const { items } = await server.admin.get('/api/audit?kind=sign_in_refused')
  expect(items).toMatchObject([{ data: { how: 'local', reason: 'used' } }])

  // Every start makes a new secret, so an old link or an old copy of the file is worthless.
  const before = server.signInLink()
  await server.restart()
  expect((await sendSignIn(server.url, { link: tokenOf(before) })).status).toBe(401)
  expect(existsSync(file)).toBe(server.url.endsWith(`:${port}`))
  await server.stop()
  expect(readdirSync(server.dataDir).filter((name) => name.startsWith('sign-in-'))).toEqual([])
  const none = await runCommandLine(['sign-in', '--no-open', '--data', server.dataDir])
  expect(none).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^countersign: no server that signs people in on this machine is running .*With a public address,/),
  })
})

test('of several servers with one data folder, the command asks for the port; a file that a killed server left is no server', async () => {
  await using server = await startTestServer(talk)
  const { port } = new URL(server.url)
  await using other = await startTestServer(talk)
  const [name = ''] = readdirSync(other.dataDir).filter((file) => file.startsWith('sign-in-'))
  writeFileSync(join(server.dataDir, name), readFileSync(join(other.dataDir, name)))
  writeFileSync(join(server.dataDir, 'sign-in-1.json'), JSON.stringify({ origin: 'http://localhost:1', secret: 'left behind' }))
  writeFileSync(join(server.dataDir, 'sign-in-2.json'), '{ "orig')
  const command = (...more: string[]) => runCommandLine(['sign-in', '--no-open', '--data', server.dataDir, ...more])
  expect(await command()).toMatchObject({ code: 1, stderr: expect.stringContaining('choose one with --port') })
  const chosen = await command('--port', port)
  expect(await redeem(chosen.stdout.trim())).toMatchObject({ status: 200 })
  expect(await command('--port', '1')).toMatchObject({ code: 1, stderr: expect.stringContaining('no server on port 1') })
})

test('countersign mcp tells the agent’s client how to sign in, and never a link', async () => {
  using folder = temporaryFolder()
  const config = join(folder.path, 'countersign.json')
  writeFileSync(config, '{}')
  const dataDir = join(folder.path, 'data')
  const args = ['mcp', '--config', config, '--data', dataDir, '--port', '0']
  const child = spawn(process.execPath, ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', MAIN, ...args], {
    env: { ...COMPILE_CACHE, PATH: process.env.PATH },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit')
  let said = ''
  try {
    const url = await new Promise<string>((resolve, reject) => {
      child.stderr.on('data', (chunk) => {
        said += chunk
        const found = /decide about calls at (http:\S+)\n.*to sign in there.*\n/.exec(said)?.[1]
        if (found) resolve(found)
      })
      child.once('exit', () => reject(new Error(said)))
    })
    expect(said).toContain(`to sign in there, run: npm run countersign -- sign-in --data ${dataDir}`)
    expect(said).not.toContain('#sign-in')
    const refused = await fetch(`${url}/api/sign-in`, {
      method: 'POST',
      headers: { origin: url, 'content-type': 'application/json' },
      body: '{}',
    })
    expect(refused.status).toBe(401)
    const made = await runCommandLine(['sign-in', '--no-open', '--data', dataDir])
    expect(await redeem(made.stdout.trim())).toMatchObject({ status: 200, person: 'prn_local' })
  } finally {
    child.stdin.end()
    await ended
  }
})
