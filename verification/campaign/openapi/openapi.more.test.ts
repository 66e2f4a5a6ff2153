import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openSearch } from '../../../packages/server/src/agent/catalogue/search.ts'
import { counterpart } from '../../testing/counterparts.ts'
import { QUERIES } from './github-queries.ts'
import { openDocument, runDocument, startCatcher } from './run-documents.ts'
import { tableOfDocuments } from './table.ts'

const GITHUB = counterpart('@octokit/openapi/generated/api.github.com.json')

/** One of each kind: every style of a parameter, forms and files, 2.0, several files. The campaign has all of them, 200 calls each. */
const SLICE = [
  'oas-examples/3.1/json/parameters-style.json',
  'oas-examples/3.0/json/file-uploads.json',
  'oas-examples/3.0/json/form-data.json',
  'features/2.0.x/form-data.json',
  'features/2.0.x/full.yaml',
  'multi-file/nested_files/openapi.yaml',
  'small/petstore.swagger2.json',
]

test('what the tools of published documents send is what each document prescribes, read by its own rules', async () => {
  await using catcher = await startCatcher()
  for (const document of SLICE) {
    const run = await runDocument(document, catcher, { calls: 25, seed: 7 })
    expect({ document, violations: run.violations, notDrawn: run.notDrawn }).toEqual({ document, violations: [], notDrawn: [] })
    expect(run.calls).toBeGreaterThan(10)
  }
})

test('every document at hand opens, or says why not: as documents.md lists it', async () => {
  const written = readFileSync(new URL('./documents.md', import.meta.url), 'utf8')
  const listed = /<!-- documents -->\n([\s\S]*?)<!-- \/documents -->/.exec(written)?.[1]
  expect(listed).toBe(await tableOfDocuments())
})

test('GitHub opens whole, and of what people ask of it 19 in 20 are among the first five tools found', async () => {
  const tools = (await openDocument(GITHUB, 'https://api.github.com')).tools.all()
  expect(tools.length).toBe(1_223)
  expect(tools.every(({ name, modelName }) => /^api\.[\w.-]{1,90}$/.test(name) && /^[\w-]{1,64}$/.test(modelName))).toBe(true)
  expect(new Set(tools.map(({ modelName }) => modelName)).size).toBe(tools.length)
  const search = openSearch(tools)
  const missed = QUERIES.filter(([query, meant]) => {
    const found = search.find(query, 5).map(({ name }) => name.slice('api.'.length))
    return !meant.split('|').some((operation) => found.includes(operation))
  })
  expect(missed.length / QUERIES.length).toBeLessThan(0.05)
})
