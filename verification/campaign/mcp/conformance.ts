import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { counterpart } from '../../testing/counterparts.ts'

/**
 * The client scenarios of the public conformance suite that apply. Those about `auth` do not: credentials stand in the configuration. Nor does
 * the one about elicitation, which is not offered.
 */
export const SCENARIOS = ['initialize', 'tools_call', 'sse-retry']

const CLIENT = fileURLToPath(new URL('conformance-client.ts', import.meta.url))
const TIMEOUT_MS = 60_000

/** Runs a scenario against our client. @returns Undefined when it passed, else what the suite wrote. */
export async function runScenario(scenario: string): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'))
  const command = `${process.execPath} --conditions=countersign-source --disable-warning=ExperimentalWarning ${CLIENT}`
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const suite = counterpart('@modelcontextprotocol/conformance/dist/index.js')
  const args = [suite, 'client', '--command', command, '--scenario', scenario, '-o', folder]
  execFile(process.execPath, args, { timeout: TIMEOUT_MS }, (error, stdout, stderr) => {
    resolve(error ? `${error.message}\n${stdout}\n${stderr}` : undefined)
  })
  return promise.finally(() => rm(folder, { recursive: true, force: true }))
}
