// `npm run docs` (a server that shows changes at once) and `npm run docs:build` (files in docs/.vitepress/dist).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeReference } from './reference.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const VITEPRESS = join(ROOT, 'docs', 'node_modules', 'vitepress', 'bin', 'vitepress.js')

const [task = '', ...flags] = process.argv.slice(2)
if (task !== 'dev' && task !== 'build') {
  console.error('Usage: node scripts/docs/main.ts <dev|build>')
  process.exit(1)
}
await writeReference(ROOT)
const child = spawn(process.execPath, [VITEPRESS, task, join(ROOT, 'docs'), ...flags], { stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
const [code] = await once(child, 'close')
process.exitCode = code ?? 1
