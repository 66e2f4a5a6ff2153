import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { filesNamedIn } from './named-files.ts'

test('the files that a configuration names are found among texts of any length', () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-named-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const name of ['talk.json', 'server.js', 'api.yaml']) writeFileSync(join(folder, name), '{}')
  const document = {
    agents: { desk: { model: 'scripted/talk.json', instructions: 'Be kind. '.repeat(100) } },
    tools: { files: { mcp: { command: 'node', args: ['server.js', '--spec=api.yaml', 'no/such/file.js', 'talk.json/under-a-file'] } } },
    policy: { rules: [{ match: { when: '"x" in '.repeat(60) } }] },
  }
  expect(filesNamedIn(document, folder).sort()).toEqual(['api.yaml', 'server.js', 'talk.json'].map((name) => join(folder, name)))
})

test('objects of a configuration that lead back to each other are looked at once', () => {
  let looks = 0
  const client: Record<string, unknown> = {
    get key() {
      looks++
      return 'x'
    },
  }
  for (const resource of ['charges', 'refunds']) client[resource] = { client }
  expect(filesNamedIn({ tools: { shop: { source: { client } } } }, '.')).toEqual([])
  expect(looks).toBe(1)
})
