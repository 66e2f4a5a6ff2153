import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, defaultClientConditions } from 'vite'
import { expect, test } from 'vitest'

/** Bytes of a page's scripts with these exports, compressed, without React and without what is loaded later. */
async function sizeOf(exported: string): Promise<number> {
  const entry = 'virtual:entry'
  const built = await build({
    configFile: false,
    logLevel: 'error',
    // The test runner sets NODE_ENV=test, which would compile JSX for React's development build.
    oxc: { jsx: { runtime: 'automatic', development: false } },
    define: { 'process.env.NODE_ENV': '"production"' },
    resolve: { conditions: ['countersign-source', ...defaultClientConditions] },
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === entry ? entry : null),
        load: (id) =>
          id === entry ? `export ${exported} from ${JSON.stringify(fileURLToPath(new URL('./index.ts', import.meta.url)))}` : null,
      },
    ],
    // As a page is built: a library's build keeps the white space, which no page carries.
    // Its entry is the page's own code, so what a part that is loaded later shares with it needs no chunk of its own.
    build: {
      write: false,
      minify: true,
      modulePreload: false,
      rolldownOptions: { input: entry, preserveEntrySignatures: 'allow-extension', external: [/^react(\/|$)/] },
    },
  })
  const outputs = (Array.isArray(built) ? built : [built]).flatMap((one) => ('output' in one ? one.output : []))
  return outputs.reduce((sum, file) => sum + (file.type === 'chunk' && !file.isDynamicEntry ? gzipSync(file.code).length : 0), 0)
}

test.each([
  // Of these, 4 KB are the marks for names that look alike: the table of Unicode alone takes 1.4 KB.
  { exported: '{ ApprovalCard }', mostKb: 20 },
  // With the live inbox of the client.
  { exported: '{ ApprovalInbox }', mostKb: 26 },
  { exported: '*', mostKb: 27 },
])('a page with $exported of this package carries at most $mostKb KB, compressed and without React', async ({ exported, mostKb }) => {
  const bytes = await sizeOf(exported)
  expect(bytes).toBeGreaterThan(5_000)
  expect(bytes).toBeLessThanOrEqual(mostKb * 1_024)
})
