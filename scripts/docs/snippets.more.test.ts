import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type Block, blocksOf, pagesOf, readBlocks } from './blocks.ts'
import { docstringExamples, exampleProblems } from './docstring-examples.ts'
import { linkProblems } from './links.ts'
import { shellProblems } from './shell-snippets.ts'
import { typeProblems } from './type-snippets.ts'
import { yamlProblems } from './yaml-snippets.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PAGES = pagesOf(ROOT)
const BLOCKS = PAGES.flatMap((page) => blocksOf(ROOT, page))
const inLanguages = (...languages: string[]) => BLOCKS.filter(({ language }) => languages.includes(language))
const at =
  ({ page, line }: Block) =>
  (problem: string) =>
    `${page}:${line}: ${problem}`
const blockOf = (language: string, code: string): Block => ({ page: 'page.md', line: 1, language, attributes: {}, note: '', code })

test('every TypeScript block of the pages compiles', () => {
  expect(inLanguages('ts', 'tsx').length).toBeGreaterThan(10)
  expect(typeProblems(ROOT, inLanguages('ts', 'tsx'))).toEqual([])
})

test('every example of a docstring compiles, but for the names of its surroundings', () => {
  const examples = docstringExamples(ROOT)
  expect(examples.length).toBeGreaterThan(90)
  expect(exampleProblems(ROOT, examples)).toEqual([])
  const [wrong] = examples.filter(({ code }) => code.includes('verifyWebhook('))
  expect(exampleProblems(ROOT, wrong ? [{ ...wrong, code: `${wrong.code}\nawait verifyWebhook(1)` }] : [])).toEqual([
    expect.stringMatching(/^packages\/client\/src\/verify-webhook\.ts:\d+: error TS2345/),
  ])
})

test('every YAML block is a configuration, a policy, routes or a script that its reader accepts', async () => {
  const found = await Promise.all(inLanguages('yaml').map(async (block) => (await yamlProblems(block)).map(at(block))))
  expect(found.flat()).toEqual([])
})

test('every JSON block is JSON', () => {
  for (const block of inLanguages('json')) expect(() => JSON.parse(block.code), at(block)('is not JSON')).not.toThrow()
})

test('every command of the pages exists and has the flags that it is given', () => {
  const inBlocks = inLanguages('sh').flatMap((block) => shellProblems(ROOT, block).map(at(block)))
  const inText = PAGES.flatMap((page) => {
    const text = readFileSync(join(ROOT, page), 'utf8').replace(/^(`{3,}).*?^\1\s*$/gms, '')
    const spans = [...text.matchAll(/`((?:npx )?countersign [a-z][^`\n]*|npm (?:run|start|test)[^`\n]*)`/g)].map(([, code = '']) =>
      code.replaceAll('\\|', '|'),
    )
    return spans.flatMap((code) => shellProblems(ROOT, { page, code }).map((problem) => `${page}: \`${code}\`: ${problem}`))
  })
  expect([...inBlocks, ...inText]).toEqual([])
})

test('every relative link of the pages leads to a file and a heading that exist', () => {
  expect(PAGES.flatMap((page) => linkProblems(ROOT, page))).toEqual([])
})

test('the README has at most 150 lines, and its pictures at most 150 KB', () => {
  const text = readFileSync(join(ROOT, 'README.md'), 'utf8')
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(150)
  const pictures = [...text.matchAll(/(?:src|srcset)="([^"]+\.png)"/g)].map(([, path = '']) => path)
  expect(pictures).toHaveLength(2)
  for (const path of pictures) expect(statSync(join(ROOT, path)).size).toBeLessThan(150_000)
})

test('the checks find what is wrong', async () => {
  const [block] = readBlocks('page.md', '<!-- snippet: declare const x: string -->\n\n```ts\nconst y: number = x\n```\n')
  expect(block).toMatchObject({ line: 4, note: 'declare const x: string' })
  expect(typeProblems(ROOT, block ? [block] : [])).toEqual([expect.stringMatching(/^page\.md:4: error TS2322/)])
  expect(await yamlProblems(blockOf('yaml', 'agents: { desk: { modell: openai/gpt } }'))).toEqual([expect.stringMatching(/modell/)])
  expect(await yamlProblems(blockOf('yaml', 'tools: { hub: { github: { tokenn: x } } }'))).not.toEqual([])
  expect(await yamlProblems(blockOf('yaml', 'rules: [{ name: x, match: { when: "matches(" }, verdict: ask }]'))).not.toEqual([])
  expect(await yamlProblems(blockOf('yaml', 'whatever: 1'))).not.toEqual([])
  const routes = '{ baseUrl: "http://h", tools: { get: { method: GET, path: / } } }'
  const unnamed = `tools: { shop: { routes: ${routes} } }\npolicy: { rules: [{ name: x, match: { tool: get }, verdict: ask }] }`
  expect(await yamlProblems(blockOf('yaml', unnamed))).toEqual([expect.stringContaining('"get" fits no tool')])
  const shell = (code: string) => shellProblems(ROOT, { page: 'README.md', code })
  expect(shell('countersign serve --confg x')).toEqual(['countersign serve has no flag --confg'])
  expect(shell('KEY=$(npx countersign key make --name x)')).toEqual(['countersign key has no command make'])
  expect(shell('npm run nothing')).toEqual(['package.json has no script nothing'])
  expect(shell('node examples/nothing.mjs')).toEqual(['there is no file examples/nothing.mjs'])
  expect(shell('npm start -- --model openai/gpt-5-mini\ncountersign mcp --config x -- npx -y thing --flag')).toEqual([])
})
