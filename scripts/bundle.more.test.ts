import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../verification/testing/test-server.ts'

const ROOT = new URL('../', import.meta.url)
const BUNDLE = 'packages/server/bundle/'

/** Says of each module that is loaded where it is. */
const SAYING = `data:text/javascript,${encodeURIComponent(`import { registerHooks } from 'node:module'
registerHooks({ load(url, context, next) { if (url.startsWith('file:')) console.log('loaded ' + url); return next(url, context) } })`)}`

/** Starts the bundle on an empty folder and ends it when it is ready. Returns the modules that it loaded, by their paths in the checkout. */
async function modulesOf(command: string, ...flags: string[]): Promise<string[]> {
  using folder = temporaryFolder()
  const node = ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', '--import', SAYING]
  const start = fileURLToPath(new URL(`${BUNDLE}start.js`, ROOT))
  const args = [...node, start, command, '--port', '0', '--no-open', '--data', folder.path, ...flags]
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const loaded: string[] = []
  for await (const line of createInterface(server.stdout)) {
    if (line.startsWith('loaded ')) loaded.push(line.slice('loaded '.length + ROOT.href.length))
    if (line.includes('#sign-in=')) server.kill('SIGTERM')
  }
  if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
  return loaded
}

test('npm start loads the server and the shop from the bundle alone, in less than a hundred modules', async () => {
  const loaded = await modulesOf('demo', '--shop-port', '0', '--brain-port', '0')
  expect(loaded.filter((path) => !path.startsWith(BUNDLE))).toEqual([])
  // 1,000 from source, and each takes half a millisecond of a start.
  expect(loaded.length).toBeLessThan(100)
})

test('a configuration that imports Countersign gets the copy of the server that runs it', async () => {
  const loaded = await modulesOf('serve', '--config', fileURLToPath(new URL('examples/objectives/countersign.config.ts', ROOT)))
  expect(loaded).toContain(`${BUNDLE}countersign.js`)
  expect(loaded.filter((path) => !path.startsWith(BUNDLE) && !path.startsWith('examples/objectives/'))).toEqual([])
})
