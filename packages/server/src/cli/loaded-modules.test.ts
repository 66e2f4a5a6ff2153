import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url))

/** Prints the address of every module that the process loads. */
const LISTING = `import { registerHooks } from 'node:module'
const loaded = []
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
process.on('exit', () => process.stderr.write(JSON.stringify(loaded)))`

/** Returns the modules that a command loads. */
function loadedBy(...words: string[]): string[] {
  const listing = `data:text/javascript,${encodeURIComponent(LISTING)}`
  const flags = ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', '--import', listing]
  const { status, stderr } = spawnSync(process.execPath, [...flags, MAIN, ...words], { encoding: 'utf8' })
  expect(status).toBe(0)
  const loaded: string[] = JSON.parse(stderr)
  return loaded.filter((url) => url.startsWith('file:'))
}

const OF_THE_SERVER = /\/node_modules\/(kysely|fastify|pino|yaml|pg|@modelcontextprotocol)\/|\/server\/src\/(store|http|gate|agent|engine)/

test.each([
  ['hook', 200],
  ['inbox', 60],
  ['approve', 60],
  ['tail', 60],
  ['run', 60],
  ['mcp', 60],
])('countersign %s starts without the code of the server', (command, most) => {
  const loaded = loadedBy(command, '--help')
  expect(loaded.filter((url) => OF_THE_SERVER.test(url))).toEqual([])
  expect(loaded.length).toBeLessThanOrEqual(most)
})

test('the same listing finds the code of the server in a command that needs it', () => {
  expect(loadedBy('serve', '--help').filter((url) => OF_THE_SERVER.test(url)).length).toBeGreaterThan(100)
})
