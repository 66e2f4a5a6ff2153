import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { statsOf } from './stats.ts'

const START = fileURLToPath(new URL('../packages/server/bundle/start.js', import.meta.url))

/** Milliseconds from starting the process of `npm start` to its first `200` on /readyz. */
export async function benchReady(runs: number) {
  const samples: number[] = []
  for (let i = 0; i < runs; i++) {
    const dataDir = await mkdtemp(join(tmpdir(), 'countersign-bench-'))
    const begin = performance.now()
    const flags = ['--port', '0', '--shop-port', '0', '--brain-port', '0', '--no-open', '--data', dataDir]
    const child = spawn(process.execPath, ['--conditions=countersign-source', START, 'demo', ...flags], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const url = await new Promise<string>((resolve, reject) => {
      let text = ''
      child.stdout.on('data', (chunk) => {
        text += chunk
        const found = /Countersign\s+(http:\S+)/.exec(text)?.[1]
        if (found) resolve(found)
      })
      child.once('exit', (code) => reject(new Error(`the demo ended with ${code}`)))
    })
    const ready = await fetch(`${url}/readyz`)
    if (!ready.ok) throw new Error(`/readyz answered ${ready.status}`)
    samples.push(performance.now() - begin)
    const gone = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGTERM')
    await gone
    await rm(dataDir, { recursive: true })
  }
  return { unit: 'ms', ...statsOf(samples) }
}
