import { fileURLToPath } from 'node:url'
import { build } from 'vite'

export interface ConsoleFile {
  type: string
  body: string | Uint8Array
}

const TYPES: Record<string, string> = { html: 'text/html', js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' }
const root = fileURLToPath(new URL('../..', import.meta.url))

/** The console as it is shipped, by address; built in memory. */
export async function buildConsole(): Promise<Map<string, ConsoleFile>> {
  const built = await build({
    root,
    configFile: `${root}vite.config.ts`,
    logLevel: 'error',
    mode: 'production',
    // The test runner sets NODE_ENV=test, which would compile JSX for React's development build.
    oxc: { jsx: { runtime: 'automatic', development: false } },
    define: { 'process.env.NODE_ENV': '"production"' },
    build: { write: false },
  })
  const outputs = (Array.isArray(built) ? built : [built]).flatMap((one) => ('output' in one ? one.output : []))
  return new Map(
    outputs.map((file) => [
      `/${file.fileName}`,
      { type: TYPES[file.fileName.split('.').at(-1) ?? ''] ?? 'text/plain', body: file.type === 'chunk' ? file.code : file.source },
    ]),
  )
}
