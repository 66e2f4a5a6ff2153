import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { builtConsole } from './testing/console-build.ts'

const MAX_BYTES = 200 * 1024
const MAX_INBOX_BYTES = 250 * 1024

type Files = Awaited<ReturnType<typeof builtConsole>>

const sizeOf = (files: Files, paths: Iterable<string>): number =>
  [...paths].reduce((sum, path) => sum + gzipSync(files.get(path)?.body ?? '').length, 0)

/** Returns the files that the page itself names: they are needed before anything is drawn. */
const firstOf = (files: Files): string[] =>
  [...String(files.get('/index.html')?.body).matchAll(/(?:src|href)="(\/assets\/[^"]+\.(?:js|css))"/g)].map(([, path = '']) => path)

test('the first page of the console costs at most 200 KB, compressed: all else is loaded when it is opened', async () => {
  const files = await builtConsole()
  const first = firstOf(files)
  const bytes = sizeOf(files, ['/index.html', ...first])
  expect(first.length).toBeGreaterThan(3)
  expect(bytes).toBeGreaterThan(50_000)
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES)
})

test('the inbox costs at most 250 KB, compressed, with the first page', async () => {
  const files = await builtConsole()
  const needed = new Set(['/index.html', ...firstOf(files)])
  const take = (path: string): void => {
    if (needed.has(path) || !files.has(path)) return
    needed.add(path)
    for (const [, name] of String(files.get(path)?.body).matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g)) take(`/assets/${name}`)
  }
  const [inbox = ''] = [...files.keys()].filter((path) => /\/waiting-page-.*\.js$/.test(path))
  const before = needed.size
  take(inbox)
  for (const path of files.keys()) if (/\/waiting-page-.*\.css$/.test(path)) needed.add(path)
  expect(needed.size).toBeGreaterThan(before + 1)
  expect(sizeOf(files, needed)).toBeLessThanOrEqual(MAX_INBOX_BYTES)
})
