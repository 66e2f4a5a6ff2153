// `npm start` runs the server from here: its 900 modules and those of its dependencies in a few files, because finding and linking modules took
// half the time of a start. Only for this checkout: places are written into it as they are on this machine.
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'vite'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const at = (path: string): string => join(root, path)
const server = at('packages/server')
const outDir = join(server, 'bundle')

/** The modules that the server imports by their path, and those that a configuration may import. It gets the copy in the bundle: classes and settings are the server's own. */
const SHARED: Readonly<Record<string, string>> = {
  countersign: at('packages/server/src/index.ts'),
  core: at('packages/core/src/index.ts'),
  'core-text': at('packages/core/src/text/index.ts'),
  toolkit: at('packages/toolkit/src/index.ts'),
  'toolkit-internal': at('packages/toolkit/src/internal.ts'),
  zod: at('node_modules/zod/index.js'),
  shop: at('examples/shop/src/index.ts'),
  'shop-script': at('examples/shop/src/desk/script.ts'),
}

/** Loaded by few servers, or by their paths: these stay where they are. */
const APART = ['pg', 'graphile-worker', '@modelcontextprotocol/client', '@modelcontextprotocol/server', 'openid-client']

/** Lets a module find the files beside its source, wherever its code is. */
const inPlace: Plugin = {
  name: 'in-place',
  transform: {
    filter: { code: /import\.meta\.url|__dirname|__filename/ },
    handler: (code, id) =>
      code
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
        .replaceAll(/\b__dirname\b/g, JSON.stringify(dirname(id)))
        .replaceAll(/\b__filename\b/g, JSON.stringify(id)),
  },
}

await build({
  ...{ configFile: false, root, logLevel: 'warn', plugins: [inPlace] },
  ssr: { noExternal: true, external: APART, resolve: { conditions: ['countersign-source', 'node', 'module'] } },
  build: {
    ...{ ssr: true, outDir, emptyOutDir: true, minify: false, target: 'node24' },
    rolldownOptions: {
      input: { main: join(server, 'src/main.js'), ...SHARED },
      external: [/^@ai-sdk\/(anthropic|google|openai)$/],
      output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js', comments: false },
    },
  },
})

const shared = Object.entries(SHARED).map(([name, path]) => [pathToFileURL(path).href, pathToFileURL(join(outDir, `${name}.js`)).href])
writeFileSync(
  join(outDir, 'start.js'),
  `import { registerHooks } from 'node:module'
const shared = new Map(${JSON.stringify(shared, undefined, 2)})
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    const url = shared.get(found.url)
    return url === undefined ? found : { ...found, url, format: 'module' }
  },
})
await import('./main.js')
`,
)
