import { existsSync, rmdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { complain } from '../say.ts'
import type { SettingsChange } from './settings-file.ts'
import { readWhole, writeWhole } from './whole-file.ts'

/** The files that a connection writes, and the call that proves it. */
export interface Placement {
  /** The settings of the host. */
  file: string
  change: SettingsChange
  /** The key to store for the hook, and where. Undefined when it reads one that is there. */
  key: { file: string; text: string } | undefined
  /** @returns What is wrong. */
  prove(): Promise<string | undefined>
}

/**
 * Stores the key, writes the settings and proves them. What goes wrong and a signal put both back: hooks that nobody has proved, or that have
 * no key, would deny every call of the agent.
 * @returns Why they were put back; undefined when they are in place.
 */
export async function putInPlace({ file, change, key, prove }: Placement): Promise<string | undefined> {
  const undo: (() => void)[] = []
  const putBack = () => {
    for (const step of undo.splice(0).reverse()) step()
  }
  const onSignal = () => {
    try {
      putBack()
      complain('stopped before the canary call was refused, so the settings were put back')
    } catch (error) {
      complain(error instanceof Error ? error.message : String(error))
    }
    process.exit(130)
  }
  // Before anything is written: without a handler, a signal ends the process at any place.
  for (const signal of SIGNALS) process.on(signal, onSignal)
  try {
    if (key) undo.push(storeKey(key.file, key.text))
    if (change.before !== change.after) {
      writeWhole(file, change.after)
      undo.push(() => writeWhole(file, change.before))
    }
    const problem = await prove()
    if (problem === undefined) undo.length = 0
    return problem
  } finally {
    putBack()
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Stores a key for its owner alone. @returns Puts back what was there. */
function storeKey(file: string, key: string): () => void {
  const before = existsSync(file) ? readWhole(file) : undefined
  const missing = [dirname(file), dirname(dirname(file))].filter((folder) => !existsSync(folder))
  const removeFolders = () => missing.forEach(removeEmpty)
  try {
    writeWhole(file, key, { isSecret: true })
  } catch (error) {
    removeFolders()
    throw error
  }
  return () => {
    writeWhole(file, before, { isSecret: true })
    removeFolders()
  }
}

/** Removes a folder, unless another command has put something there meanwhile. */
function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {}
}
