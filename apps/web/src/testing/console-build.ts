import { fileURLToPath } from 'node:url'
import { build as buildPages } from 'vite'

export interface ConsoleFile {
  type: string
  body: string | Uint8Array
}

const TYPES: Record<string, string> = { html: 'text/html', js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml', png: 'image/png' }
const root = fileURLToPath(new URL('../..', import.meta.url))

let built: Promise<ReadonlyMap<string, ConsoleFile>> | undefined

/** The console as it is shipped, by address; built in memory, once for all files that a worker tests. */
export const builtConsole = (): Promise<ReadonlyMap<string, ConsoleFile>> => {
  built ??= build()
  return built
}

async function build(): Promise<ReadonlyMap<string, ConsoleFile>> {
  // The test runner sets NODE_ENV=test, with which Vite would take the development builds of packages.
  const before = process.env.NODE_ENV
  process.env.NODE_ENV = 'production'
  const built = await buildPages({
    root,
    configFile: `${root}vite.config.ts`,
    logLevel: 'error',
    mode: 'production',
    build: { write: false },
  }).finally(() => {
    process.env.NODE_ENV = before
  })
  const outputs = (Array.isArray(built) ? built : [built]).flatMap((one) => ('output' in one ? one.output : []))
  return new Map(
    outputs.map((file) => [
      `/${file.fileName}`,
      { type: TYPES[file.fileName.split('.').at(-1) ?? ''] ?? 'text/plain', body: file.type === 'chunk' ? file.code : file.source },
    ]),
  )
}
