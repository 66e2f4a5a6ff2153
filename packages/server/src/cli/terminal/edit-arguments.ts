import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '../../config/index.ts'
import { safeJson } from '../say.ts'

/**
 * Opens arguments in the person's editor (`VISUAL`, `EDITOR`, else vi). Returns what was saved, or undefined when nothing was changed.
 * @throws Error that says why there is nothing to approve.
 */
export async function editArguments(args: unknown, environment: Environment): Promise<Record<string, unknown> | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-'))
  const file = join(folder, 'arguments.json')
  const before = `${safeJson(args, 2)}\n`
  try {
    writeFileSync(file, before, { mode: 0o600 })
    const [program = 'vi', ...flags] = (environment.VISUAL || environment.EDITOR || 'vi').trim().split(/\s+/)
    const editor = spawn(program, [...flags, file], { stdio: 'inherit' })
    const [code] = await once(editor, 'close').catch((cause: unknown) => {
      throw new Error(`${program} could not be started: set EDITOR to your editor`, { cause })
    })
    if (code !== 0) throw new Error(`${program} ended with ${code}: nothing was changed`)
    const after = readFileSync(file, 'utf8')
    return after === before ? undefined : readObject(after)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function readObject(text: string): Record<string, unknown> {
  let read: unknown
  try {
    read = JSON.parse(text)
  } catch (cause) {
    throw new Error(`The saved text is not JSON: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) throw new Error('The arguments must be a JSON object')
  return { ...read }
}
