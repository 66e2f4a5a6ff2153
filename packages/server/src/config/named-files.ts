import { statSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A file that a configuration depends on. */
export interface ConfigFile {
  /** Absolute. */
  path: string
  /** Its name in messages: `the policy`. */
  what: string
}

const MAX_NAME_CHARS = 1_000
const MAX_STRINGS = 20_000

/**
 * Returns every file that a configuration names: documents, scripts, programs of MCP servers and their arguments. Only the kind of a source
 * knows the meaning of a text, so each text that is the path of a file, from the folder of the configuration, counts.
 */
export function filesNamedIn(document: unknown, folder: string): string[] {
  const found = new Set<string>()
  // The settings of a source may hold objects that lead back to each other, such as the client of an API.
  const seen = new WeakSet<object>()
  let left = MAX_STRINGS
  const visit = (value: unknown, depth: number): void => {
    if (typeof value === 'string') {
      if (left-- <= 0 || value.length > MAX_NAME_CHARS || value === '' || value.includes('\0')) return
      for (const name of [value, value.replace(/^scripted\//, ''), value.slice(value.indexOf('=') + 1)]) {
        const path = resolve(folder, name)
        if (isFile(path)) found.add(path)
      }
    } else if (typeof value === 'object' && value !== null && depth < 20 && !seen.has(value)) {
      seen.add(value)
      for (const inner of Object.values(value)) visit(inner, depth + 1)
    }
  }
  visit(document, 0)
  return [...found]
}

/** Returns false for a text that names no file: a sentence can be longer than a path may be. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/**
 * Returns the result of an import, and the files that were loaded for it, without those of installed packages.
 * @param onLoad Is told the address of each module before it is compiled.
 */
export async function importWithFiles(url: string, onLoad: (url: string) => void): Promise<{ module: unknown; files: string[] }> {
  const files = new Set<string>()
  const hooks = registerHooks({
    load(loaded, context, nextLoad) {
      onLoad(loaded)
      const [bare = ''] = loaded.split(/[?#]/)
      if (bare.startsWith('file:') && !bare.includes('/node_modules/')) files.add(fileURLToPath(bare))
      return nextLoad(loaded, context)
    },
  })
  try {
    const module: unknown = await import(url)
    return { module, files: [...files] }
  } finally {
    hooks.deregister()
  }
}
