import { fileURLToPath } from 'node:url'
import { build } from 'vite'

export interface ConsoleFile {
  type: string
  body: string | Uint8Array
}

const TYPES: Record<string, string> = { html: 'text/html', js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml', png: 'image/png' }
const root = fileURLToPath(new URL('../..', import.meta.url))

/** The console as it is shipped, by address; built in memory. */
export async function buildConsole(): Promise<Map<string, ConsoleFile>> {
  // The test runner sets NODE_ENV=test, with which Vite would take the development builds of packages.
  const before = process.env.NODE_ENV
  process.env.NODE_ENV = 'production'
  const built = await build({
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
