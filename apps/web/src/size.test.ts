import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { builtConsole } from './testing/console-build.ts'

const MAX_BYTES = 200 * 1024
const MAX_INBOX_BYTES = 215 * 1024

type Files = Awaited<ReturnType<typeof builtConsole>>

const sizeOf = (files: Files, paths: Iterable<string>): number =>
  [...paths].reduce((sum, path) => sum + gzipSync(files.get(path)?.body ?? '').length, 0)

/** Returns the files that the page itself names: they are needed before anything is drawn. */
const firstOf = (files: Files): string[] =>
  [...String(files.get('/index.html')?.body).matchAll(/(?:src|href)="(\/assets\/[^"]+\.(?:js|css))"/g)].map(([, path = '']) => path)

/** Adds a page and all that it imports to `needed`. */
function takePage(files: Files, needed: Set<string>, page: string): void {
  const take = (path: string): void => {
    if (needed.has(path) || !files.has(path)) return
    needed.add(path)
    for (const [, name] of String(files.get(path)?.body).matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g)) take(`/assets/${name}`)
  }
  for (const path of files.keys()) if (path.includes(`/${page}-`)) take(path)
}

test('the first page of the console costs at most 200 KB, compressed: all else is loaded when it is opened', async () => {
  const files = await builtConsole()
  const needed = new Set(['/index.html', ...firstOf(files)])
  expect([...needed].filter((path) => /\/(?:main|draw)-.*\.(?:js|css)$/.test(path)).length).toBe(3)
  takePage(files, needed, 'new-chat-page')
  expect(sizeOf(files, needed)).toBeGreaterThan(50_000)
  expect(sizeOf(files, needed)).toBeLessThanOrEqual(MAX_BYTES)
})

test('the inbox costs at most 215 KB, compressed, with what draws it', async () => {
  const files = await builtConsole()
  const needed = new Set(['/index.html', ...firstOf(files)])
  const before = needed.size
  takePage(files, needed, 'waiting-page')
  expect(needed.size).toBeGreaterThan(before + 1)
  expect(sizeOf(files, needed)).toBeLessThanOrEqual(MAX_INBOX_BYTES)
})
