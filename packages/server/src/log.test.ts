import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { expect, test } from 'vitest'
import { COMPILE_CACHE } from '../../../verification/testing/compile-cache.ts'

const LOG = JSON.stringify(new URL('./log.ts', import.meta.url))

/** Runs a program that logs, with its standard error at `file`, and returns its exit code. */
async function logTo(file: string, program: string): Promise<number | null> {
  const descriptor = openSync(file, 'a')
  const text = `import { createLog } from ${LOG}; const log = createLog('info'); ${program}`
  const child = spawn(
    process.execPath,
    ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', '--input-type=module', '-e', text],
    { env: COMPILE_CACHE, stdio: ['ignore', 'ignore', descriptor] },
  )
  closeSync(descriptor)
  const [code] = await once(child, 'close')
  return code
}

test('a program whose log is refused, as on a full disk, goes on and ends', async () => {
  const goOn = `log.info('one'); await new Promise((resolve) => setTimeout(resolve, 50)); log.info('two'); process.exit(7)`
  expect(await logTo('/dev/full', goOn)).toBe(7)
  expect(await logTo('/dev/full', `log.info('one'); process.exit(7)`)).toBe(7)
})

test('an error that throws when it is read is a line like any other', async () => {
  const trap = `{ get: () => { throw new Error('trap') } }`
  const line = `log.error({ error: Object.defineProperty(new Error('x'), 'stack', ${trap}) }, 'one'); process.exitCode = 3`
  expect(await logTo('/dev/null', line)).toBe(3)
})
