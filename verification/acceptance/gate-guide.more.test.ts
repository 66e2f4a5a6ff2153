import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { blocksOf } from '../../scripts/docs/blocks.ts'
import { counterpart } from '../testing/counterparts.ts'
import { FRAMEWORKS, MODELS } from '../testing/gate-frameworks.ts'
import { openGateServer } from '../testing/gate-server.ts'
import { PARKINGS } from '../testing/parked-runs.ts'
import { runModule } from '../testing/run-command.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const examplesOf = (...pages: string[]) =>
  pages.flatMap((page) => blocksOf(ROOT, page)).filter(({ attributes }) => attributes.example !== undefined)
const EXAMPLES = examplesOf('docs/guides/gate.md', 'docs/guides/gate-frameworks.md')
const STORED = examplesOf('docs/guides/stored-runs.md')

/** What the guide says is there already: the reader's own code, and a model that makes one call. */
const BEFORE = `
import { MODELS } from '../gate-frameworks.ts'
const call = { id: 'call_1', name: 'setStatus', args: { order: 'ORD-1', status: 'shipped' }, arguments: { order: 'ORD-1', status: 'shipped' } }
const orders = { async setStatus(order, status) { console.log('ran', order, status); return { done: status } } }
`
const modelOf = (example: string): string => {
  const name = example.replace('-middleware', '')
  return name in MODELS ? `MODELS['${name}'](call)` : 'undefined'
}

test('the guide has an example for every framework', () => {
  expect(EXAMPLES.map(({ attributes }) => attributes.example).sort()).toEqual(Object.keys(FRAMEWORKS).sort())
})

/** What the page about stored runs takes from the other pages. */
const BEFORE_STORED = `
import { writeFileSync } from 'node:fs'
import { createClient } from '@countersign/client'
import { importMastra, SET } from '../gate-frameworks.ts'
import { MemorySaver } from '@langchain/langgraph'
import { tool as aiTool } from 'ai'
import { tool as langchainTool } from '@langchain/core/tools'
const { createTool, InMemoryStore } = await importMastra()
const client = createClient({ baseUrl: 'http://127.0.0.1:4319', key: process.env.COUNTERSIGN_KEY })
const runs = new Map()
const checkpointer = new MemorySaver()
const storage = new InMemoryStore()
const execute = ({ order, status }) => orders.setStatus(order, status)
const setStatus = {
  'ai-sdk': aiTool({ inputSchema: SET.schema, execute }),
  langgraph: langchainTool(execute, { name: 'setStatus', ...SET }),
  'langchain-middleware': langchainTool(execute, { name: 'setStatus', ...SET }),
  mastra: createTool({ id: 'setStatus', description: SET.description, inputSchema: SET.schema, execute }),
}
async function decided() {
  writeFileSync(new URL('stopped', import.meta.url), '')
  const { items: [action] } = await client.actions.list()
  if (action) await client.actions.get(action.id, { waitSeconds: 50 })
}
`

/**
 * Runs an example while a person approves the one action that it leads to; resolves with what it wrote and with its actions.
 * @param stops Whether the person waits until its run was stopped.
 */
async function runExample(name: string, code: string, stops = false): Promise<{ lines: string[]; actions: Action[] }> {
  await using desk = await openGateServer()
  // Beside the helpers, so that packages are found as in a project that has them installed.
  const folder = mkdtempSync(join(ROOT, 'verification', 'testing', '.guide-'))
  try {
    const file = join(folder, `${name}.ts`)
    const example = code
      .replaceAll('http://127.0.0.1:4319', desk.server.url)
      .replaceAll(/'@mastra\/core\/(\w+)'/g, (_, part) => `'${pathToFileURL(counterpart(`@mastra/core/dist/${part}/index.js`)).href}'`)
    writeFileSync(file, `${BEFORE}const model = ${modelOf(name)}\n${example}`)
    const ended = runModule([file], { COUNTERSIGN_KEY: desk.key, OPENAI_AGENTS_DISABLE_TRACING: '1', MASTRA_TELEMETRY_DISABLED: '1' })
    const failed = ended.then(({ stderr }) => Promise.reject(new Error(stderr)))
    const stopped = () => expect.poll(() => existsSync(join(folder, 'stopped'))).toBe(true)
    if (stops) await Promise.race([stopped(), failed])
    await desk.decide(await Promise.race([desk.nextWaiting(), failed]), 'approve')
    const { code: exit, stdout, stderr } = await ended
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' })
    return { lines: stdout.trim().split('\n'), actions: await desk.all() }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const byName = (examples: typeof EXAMPLES) => examples.map((block) => [block.attributes.example ?? '', block.code] as const)

test.each(byName(EXAMPLES))('the example of the guide for %s runs its tool once, after a person approved it', async (name, code) => {
  expect(code).toContain('http://127.0.0.1:4319')
  const { lines, actions } = await runExample(name, code)
  expect(lines).toEqual(['ran ORD-1 shipped', name === 'functions' ? '{"done":"shipped"}' : 'I see.'])
  expect(actions).toMatchObject([{ state: 'succeeded', result: { done: 'shipped' } }])
})

test('the page about stored runs has an example for every framework that can stop a run', () => {
  // LangChain has the tool of LangGraph.
  const frameworks = Object.keys(PARKINGS).filter((name) => name !== 'langchain')
  expect(STORED.map(({ attributes }) => attributes.example).sort()).toEqual(frameworks.sort())
})

test.each(byName(STORED))(
  'the example of a stored run of %s goes on after a person approved its call, which runs once',
  async (name, code) => {
    const before = BEFORE_STORED.replace(
      'const setStatus = {',
      name === 'openai-agents' ? 'const all = {' : 'const { [NAME]: setStatus } = {',
    )
    const stored = code.replace('// Later, in this or another process:', 'await decided()')
    expect(stored).not.toBe(code)
    const { lines, actions } = await runExample(name, `${before.replace('NAME', `'${name}'`)}${stored}`, true)
    expect(lines).toEqual(['ran ORD-1 shipped', 'I see.'])
    expect(actions).toMatchObject([{ state: 'succeeded', attempt: 1 }])
  },
)
