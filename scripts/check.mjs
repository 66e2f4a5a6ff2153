// `npm run check`: everything that can be said about the code without running it. One line per part, details only where one fails.
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ONE_CHECKER } from './compiler.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const bin = (name) => join(root, 'node_modules', '.bin', name)

const PARTS = [
  { name: 'types', command: bin('tsc'), args: ['-p', '.', ...ONE_CHECKER] },
  { name: 'style', command: bin('biome'), args: ['ci', '--colors=off', '--diagnostic-level=warn', '.'] },
  { name: 'imports', command: process.execPath, args: [join(root, 'scripts', 'imports.ts')] },
  { name: 'unused', command: bin('knip'), args: ['--no-progress'] },
]

const run = ({ command, args }) =>
  new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    child.on('error', (error) => resolve({ passed: false, output: error.message }))
    child.on('close', (code) => resolve({ passed: code === 0, output }))
  })

let failures = 0
for (const part of PARTS) {
  const startedAt = Date.now()
  const { passed, output } = await run(part)
  if (!passed) {
    failures++
    console.log(output.trim())
  }
  console.log(`${part.name.padEnd(8)} ${passed ? 'ok    ' : 'FAILED'} ${((Date.now() - startedAt) / 1000).toFixed(1).padStart(5)} s`)
}
console.log(failures === 0 ? 'Check: all parts passed' : `Check: ${failures} of ${PARTS.length} parts failed`)
process.exitCode = failures === 0 ? 0 : 1
