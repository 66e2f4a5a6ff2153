import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, defaultClientConditions } from 'vite'
import { expect, test } from 'vitest'

/** Bytes of a page's scripts with these exports, compressed, without React: what it waits for, and what each card loads once it is on the screen. */
async function sizesOf(exported: string): Promise<{ first: number; later: number }> {
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
  const chunks = outputs.filter((file) => file.type === 'chunk')
  const withImports = (name: string): string[] => {
    const found = chunks.find(({ fileName }) => fileName === name)
    return found ? [name, ...found.imports.flatMap(withImports)] : []
  }
  const first = new Set(chunks.filter(({ isEntry }) => isEntry).flatMap(({ fileName }) => withImports(fileName)))
  const later = new Set(chunks.filter(({ name }) => name === 'more').flatMap(({ fileName }) => withImports(fileName)))
  const bytesOf = (isIn: (name: string) => boolean) =>
    chunks.reduce((sum, { fileName, code }) => sum + (isIn(fileName) ? gzipSync(code).length : 0), 0)
  return { first: bytesOf((name) => first.has(name)), later: bytesOf((name) => later.has(name) && !first.has(name)) }
}

test.each([
  // Without the marks for names that look alike, 4 KB with their table of Unicode: a card loads them where its text is not plain.
  { exported: '{ ApprovalCard }', mostKb: 15 },
  // With the live inbox of the client.
  { exported: '{ ApprovalInbox }', mostKb: 21.8 },
  // With the marks: `showInvisible` marks at once.
  { exported: '*', mostKb: 27.1 },
])(
  'a page with $exported of this package carries at most $mostKb KB, compressed and without React; behind a card come at most 4.5 more',
  async ({ exported, mostKb }) => {
    const { first, later } = await sizesOf(exported)
    expect(first).toBeGreaterThan(5_000)
    expect(first).toBeLessThanOrEqual(mostKb * 1_024)
    expect(later).toBeGreaterThan(1_000)
    expect(later).toBeLessThanOrEqual(4.5 * 1_024)
  },
)
