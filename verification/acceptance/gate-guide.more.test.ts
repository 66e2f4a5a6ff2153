import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { blocksOf } from '../../scripts/docs/blocks.ts'
import { counterpart } from '../testing/counterparts.ts'
import { FRAMEWORKS, MODELS } from '../testing/gate-frameworks.ts'
import { openGateServer } from '../testing/gate-server.ts'
import { runModule } from '../testing/run-command.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const EXAMPLES = ['docs/guides/gate.md', 'docs/guides/gate-frameworks.md']
  .flatMap((page) => blocksOf(ROOT, page))
  .filter(({ attributes }) => attributes.example !== undefined)

/** What the guide says is there already: the reader's own code, and a model that makes one call. */
const BEFORE = `
import { MODELS } from '../gate-frameworks.ts'
const call = { id: 'call_1', name: 'setStatus', args: { order: 'ORD-1', status: 'shipped' }, arguments: { order: 'ORD-1', status: 'shipped' } }
const orders = { async setStatus(order, status) { console.log('ran', order, status); return { done: status } } }
`
const modelOf = (name: string): string => (name in MODELS ? `MODELS['${name}'](call)` : 'undefined')

test('the guide has an example for every framework', () => {
  expect(EXAMPLES.map(({ attributes }) => attributes.example).sort()).toEqual(Object.keys(FRAMEWORKS).sort())
})

test.each(EXAMPLES.map((block) => [block.attributes.example ?? '', block.code] as const))(
  'the example of the guide for %s runs its tool once, after a person approved it',
  async (name, code) => {
    await using desk = await openGateServer()
    // Beside the helpers, so that packages are found as in a project that has them installed.
    const folder = mkdtempSync(join(ROOT, 'verification', 'testing', '.guide-'))
    try {
      const file = join(folder, `${name}.ts`)
      const example = code
        .replace('http://127.0.0.1:4319', desk.server.url)
        .replaceAll(/'@mastra\/core\/(\w+)'/g, (_, part) => `'${pathToFileURL(counterpart(`@mastra/core/dist/${part}/index.js`)).href}'`)
      expect(example).not.toBe(code)
      writeFileSync(file, `${BEFORE}const model = ${modelOf(name)}\n${example}`)
      const ended = runModule([file], { COUNTERSIGN_KEY: desk.key, OPENAI_AGENTS_DISABLE_TRACING: '1', MASTRA_TELEMETRY_DISABLED: '1' })
      await desk.decide(await Promise.race([desk.nextWaiting(), ended.then(({ stderr }) => Promise.reject(new Error(stderr)))]), 'approve')
      const { code: exit, stdout, stderr } = await ended
      expect(stderr).toBe('')
      expect(exit).toBe(0)
      const [ran, said] = stdout.trim().split('\n')
      expect(ran).toBe('ran ORD-1 shipped')
      expect(said).toBe(name === 'functions' ? '{"done":"shipped"}' : 'I see.')
      expect(await desk.all()).toMatchObject([{ state: 'succeeded', result: { done: 'shipped' } }])
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)
