import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { COMPILE_CACHE } from './compile-cache.ts'

/** The lowest version that the Python client holds to: that of Debian 12. */
const LOWEST = [3, 11] as const

/** The folder of the Python client. */
export const PYTHON_CLIENT = fileURLToPath(new URL('../../clients/python/', import.meta.url))

/**
 * Why tests in Python cannot run here; undefined when they can. The gate installs Python and sets COUNTERSIGN_NEEDS_PYTHON, so there they
 * fail rather than being left out.
 */
export const whyNoPython: string | undefined = process.env.COUNTERSIGN_NEEDS_PYTHON === undefined ? problemOfPython() : undefined

function problemOfPython(): string | undefined {
  const wanted = `Python ${LOWEST.join('.')} or later (Debian: python3)`
  try {
    const version = execFileSync('python3', ['-c', 'import sys; print(*sys.version_info[:2])'], { encoding: 'utf8' })
    const [major = 0, minor = 0] = version.trim().split(' ').map(Number)
    return major === LOWEST[0] && minor >= LOWEST[1] ? undefined : `python3 is ${major}.${minor}, but the tests need ${wanted}`
  } catch {
    return `there is no python3, but the tests need ${wanted}`
  }
}

/** Runs `python3` with warnings as errors, in the folder of the client. @returns Its code and all that it wrote. */
export async function runPython(args: readonly string[], input = ''): Promise<{ code: number | null; said: string }> {
  const child = spawn('python3', ['-W', 'error', ...args], {
    cwd: PYTHON_CLIENT,
    env: {
      ...process.env,
      ...COMPILE_CACHE,
      COUNTERSIGN_TEST_NODE: process.execPath,
      PYTHONPATH: 'src',
      PYTHONDONTWRITEBYTECODE: '1',
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close')
  // A program that is not there closes its input; that it is not there, the line above says.
  child.stdin.on('error', () => undefined).end(input)
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { code, said: stdout + stderr }
}
