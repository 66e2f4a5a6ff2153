import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { COMPILE_CACHE } from '../verification/testing/compile-cache.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Starts a program of `examples/` as its README says; resolves when it has said where its page is. */
export async function startExample(name: string, environment: Record<string, string>): Promise<ChildProcess> {
  const child = spawn(process.execPath, [`${ROOT}examples/${name}/main.mjs`], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...COMPILE_CACHE, PATH: process.env.PATH, ...environment },
  })
  await new Promise<void>((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
      if (/The (page|portal) is at/.test(text)) resolve()
    })
    child.once('exit', (code) => reject(new Error(`the example ended with ${code}:\n${text}`)))
  })
  return child
}
