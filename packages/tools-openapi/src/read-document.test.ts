import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openNetwork } from '@countersign/toolkit'
import { expect, onTestFinished, test } from 'vitest'
import { startTarget } from '../../../verification/testing/target.ts'
import { readDocument } from './read-document.ts'

/** Creates a folder with these files. Documents are in `api/`. */
function folderWith(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-openapi-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'api'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

const documentWith = (ref: string): string =>
  JSON.stringify({ openapi: '3.1.0', info: {}, paths: { '/a': { get: { parameters: [{ $ref: ref }] } }, '/b': { get: {} } } })
const PARAMETER = JSON.stringify({ name: 'planted', in: 'query' })
const network = openNetwork()

test('a document reads nothing but files of its own folder, whichever way it asks', async () => {
  const folder = folderWith({ 'outside.json': PARAMETER, 'api/inside.json': PARAMETER })
  symlinkSync(join(folder, 'outside.json'), join(folder, 'api', 'link.json'))
  const ways = [
    '../outside.json',
    'link.json',
    './../outside.json',
    '%2e%2e/outside.json',
    join(folder, 'outside.json'),
    `file://${folder}/outside.json`,
    'http://127.0.0.1:1/x.json',
    'https://[::1]/x.json',
  ]
  for (const way of ways) {
    writeFileSync(join(folder, 'api', 'doc.json'), documentWith(way))
    const { root, unread } = await readDocument('api/doc.json', folder, network)
    expect(JSON.stringify(root), way).not.toContain('planted')
    expect(unread.join(), way).not.toBe('')
    expect(unread.join(), way).not.toContain(folder)
  }
  writeFileSync(join(folder, 'api', 'doc.json'), documentWith('inside.json'))
  expect(JSON.stringify((await readDocument('api/doc.json', folder, network)).root)).toContain('planted')
})

test('a document from the network refers to its own origin only, and no redirect is followed', async () => {
  const asked: string[] = []
  await using other = await startTarget(({ path }) => {
    asked.push(path)
    return { status: 200, body: JSON.parse(PARAMETER) }
  })
  await using home = await startTarget(({ path }) => {
    if (path === '/doc.json') return { status: 200, body: JSON.parse(documentWith(`${other.url}/x.json`)) }
    return path === '/moved.json' ? { status: 302, headers: { location: `${other.url}/x.json` } } : { status: 404 }
  })
  const { unread } = await readDocument(`${home.url}/doc.json`, '/', network)
  expect(unread.join()).toContain(`leads to ${other.url}: only addresses of ${home.url} are read`)
  await expect(readDocument(`${home.url}/moved.json`, '/', network)).rejects.toThrow('answered 302; redirects are not followed')
  expect(asked).toEqual([])
})

test('what grows without end or is none is refused in words', async () => {
  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x,x]',
    ...Array.from({ length: 12 }, (_, n) => `${'bcdefghijklm'[n]}: &${'bcdefghijklm'[n]} [${`*${'abcdefghijkl'[n]},`.repeat(9)}]`),
  ]
  const cases: [text: string, words: string][] = [
    [bomb.join('\n'), 'cannot be read'],
    [`{"openapi":"3.0.0","paths":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, 'nested more than 200 levels'],
    ['openapi: 3.0.0\npaths:\n  /a: {\n', 'is not YAML or JSON, line'],
    ['openapi: 3.2.0\npaths: {}', 'is written in version 3.2.0'],
    ['asyncapi: 2.0.0', 'has neither "openapi" nor "swagger"'],
    ['openapi: 3.1.0\nwebhooks: { a: {} }', 'only a webhook'],
    ['- a', 'is not an object'],
  ]
  for (const [text, words] of cases) {
    const folder = folderWith({ 'api/doc.yaml': text })
    await expect(readDocument('api/doc.yaml', folder, network), words).rejects.toThrow(words)
  }
  await expect(readDocument('nowhere.yaml', folderWith({}), network)).rejects.toThrow('there is no file nowhere.yaml')
})

test('a document has at most 32 MB and 500 files, all together', async () => {
  const refs = (count: number) => Array.from({ length: count }, (_, nth) => ({ $ref: `p${nth}.json` }))
  const doc = (count: number) => JSON.stringify({ openapi: '3.1.0', info: {}, paths: { '/a': { get: { parameters: refs(count) } } } })
  const folder = folderWith(Object.fromEntries(refs(500).map(({ $ref }) => [`api/${$ref}`, PARAMETER])))
  const unread = async (count: number) => {
    writeFileSync(join(folder, 'api', 'doc.json'), doc(count))
    return (await readDocument('api/doc.json', folder, network)).unread.join('\n')
  }
  expect(await unread(499)).toBe('')
  expect(await unread(500)).toContain('refers to more than 500 files')
  const grow = (bytes: number) => truncateSync(join(folder, 'api', 'p0.json'), bytes)
  const rest = 32_000_000 - doc(1).length
  grow(rest + 1)
  expect(await unread(1)).toContain('is larger than 32 MB together with the files it refers to')
  writeFileSync(join(folder, 'api', 'p0.json'), PARAMETER.padEnd(rest))
  expect(await unread(1)).toBe('')
})
