import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, defaultClientConditions } from 'vite'
import { expect, test } from 'vitest'

// Of these, 4 KB are the marks for names that look alike: the table of Unicode alone takes 1.4 KB.
const MAX_BYTES = 21 * 1024

test('card, announcer and hooks cost an embedder at most 21 KB, compressed and without React', async () => {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    // The test runner sets NODE_ENV=test, which would compile JSX for React's development build.
    oxc: { jsx: { runtime: 'automatic', development: false } },
    define: { 'process.env.NODE_ENV': '"production"' },
    resolve: { conditions: ['countersign-source', ...defaultClientConditions] },
    // As a page is built: a library's build keeps the white space, which no page carries.
    build: {
      write: false,
      minify: true,
      modulePreload: false,
      rolldownOptions: {
        input: fileURLToPath(new URL('./index.ts', import.meta.url)),
        preserveEntrySignatures: 'strict',
        external: [/^react(\/|$)/],
      },
    },
  })
  const outputs = (Array.isArray(built) ? built : [built]).flatMap((one) => ('output' in one ? one.output : []))
  const bytes = outputs.reduce((sum, file) => sum + (file.type === 'chunk' ? gzipSync(file.code).length : 0), 0)
  expect(bytes).toBeGreaterThan(5_000)
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES)
})
