import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../../verification/testing/test-server.ts'

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url))

/**
 * Prints, when the process ends, which a signal makes it do, the address of every module it has loaded, Node's own modules, and V8's space for
 * new objects.
 */
const LISTING = `import { registerHooks } from 'node:module'
import { getHeapSpaceStatistics } from 'node:v8'
const loaded = []
const newSpaceBytes = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
process.once('SIGUSR2', () => process.exit())
process.on('exit', () => process.stderr.write(JSON.stringify({ loaded, ofNode: process.moduleLoadList, newSpaceBytes: newSpaceBytes() })))`

const LISTED = `data:text/javascript,${encodeURIComponent(LISTING)}`
const COMMAND = ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', '--import', LISTED, MAIN]

interface Listing {
  loaded: string[]
  ofNode: string[]
  newSpaceBytes: number
}

/** Reads the listing, the last line of a process. */
function readListing(stderr: string): Listing {
  const { loaded, ...others }: Listing = JSON.parse(stderr.split('\n').at(-1) ?? '')
  return { ...others, loaded: loaded.filter((url) => url.startsWith('file:')) }
}

/** Returns the modules that a command loads. */
function listingOf(...words: string[]): Listing {
  const { status, stderr } = spawnSync(process.execPath, [...COMMAND, ...words], { encoding: 'utf8' })
  expect(status).toBe(0)
  return readListing(stderr)
}

/** Returns the listing of the demo when it is ready. */
async function listDemo(dataDir: string): Promise<Listing> {
  const ports = ['--port', '0', '--shop-port', '0', '--brain-port', '0']
  const demo = spawn(process.execPath, [...COMMAND, 'demo', '--no-open', '--data', dataDir, ...ports], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exit = once(demo, 'exit')
  const stderr = text(demo.stderr)
  demo.stdout.on('data', (chunk) => {
    if (String(chunk).includes('Try:')) demo.kill('SIGUSR2')
  })
  expect(await exit).toEqual([0, null])
  return readListing(await stderr)
}

const OF_THE_SERVER = /\/node_modules\/(kysely|fastify|pino|yaml|pg|@modelcontextprotocol)\/|\/server\/src\/(store|http|gate|agent|engine)/

/** Node's `fetch`, which an `import` of `node:http` loads as well: see `net/node-http.ts` of the toolkit. */
const FETCH = /deps\/undici/

test.each([
  ['hook', 192],
  ['inbox', 60],
  ['approve', 60],
  ['tail', 60],
  ['run', 60],
  ['mcp', 60],
])('countersign %s starts without the code of the server', (command, most) => {
  const { loaded, ofNode } = listingOf(command, '--help')
  expect(loaded.filter((url) => OF_THE_SERVER.test(url))).toEqual([])
  expect(loaded.length).toBeLessThanOrEqual(most)
  expect(ofNode.filter((name) => FETCH.test(name))).toEqual([])
})

/** Loaded by the configurations and requests that need them. */
const NOT_FOR_A_START =
  /\/node_modules\/(ajv|@fastify\/ajv-compiler|@ai-sdk\/(openai|anthropic|google)|ai|@modelcontextprotocol|openid-client|pg|graphile-worker|web-push|unbash)\/|\/server\/src\/dispatch\/cluster\//

test('the demo starts without databases, providers, protocols and compilers that it does not use, and keeps new objects in 8 MB', async () => {
  using folder = temporaryFolder()
  const { loaded, ofNode, newSpaceBytes } = await listDemo(folder.path)
  expect(loaded.filter((url) => NOT_FOR_A_START.test(url))).toEqual([])
  expect(ofNode.filter((name) => FETCH.test(name))).toEqual([])
  expect(loaded.length).toBeGreaterThan(1_000)
  expect(loaded.length).toBeLessThanOrEqual(1_450)
  // 2 to 4 MB once it is ready; the end of a slow process may take some more. Without that limit it is 34 to 48 MB.
  expect(newSpaceBytes).toBeLessThanOrEqual(8 * 2 ** 20)
})

test('the same listing finds the code of the server in a command that needs it', () => {
  expect(listingOf('serve', '--help').loaded.filter((url) => OF_THE_SERVER.test(url)).length).toBeGreaterThan(100)
})
