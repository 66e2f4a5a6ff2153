import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { ConfigError } from '../index.ts'

/** Makes a folder with these files, which ends with the test. */
export async function folderWith(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-config-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

/** The message of the configuration error that this ends with. */
export async function messageOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => new Error('it loaded'),
    (reason: unknown) => reason,
  )
  if (error instanceof ConfigError) return error.message
  throw error
}
