import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { buildConsole } from './testing/console-build.ts'

const MAX_BYTES = 200 * 1024

test('the first page of the console costs at most 200 KB, compressed: all else is loaded when it is opened', async () => {
  const files = await buildConsole()
  // The page itself names whatever is needed before anything is drawn.
  const html = String(files.get('/index.html')?.body)
  const first = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+\.(?:js|css))"/g)].map(([, path = '']) => path)
  const bytes = first.reduce((sum, path) => sum + gzipSync(files.get(path)?.body ?? '').length, gzipSync(html).length)
  expect(first.length).toBeGreaterThan(3)
  expect(bytes).toBeGreaterThan(50_000)
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES)
})
