import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CONFIG_FILE_NAMES } from '../../config/index.ts'

export type StarterKind = 'yaml' | 'typescript'

/** The files that `init` writes are files of the package, so that they are checked like all others. */
const STARTER = fileURLToPath(new URL('../../../starter/', import.meta.url))

const FILES: Record<StarterKind, readonly { path: string; from: string; about: string }[]> = {
  yaml: [
    { path: 'countersign.yaml', from: 'yaml/countersign.yaml', about: 'the agents and their tools' },
    { path: 'policy.yaml', from: 'policy.yaml', about: 'what runs, what needs approval, what is refused' },
    { path: 'notes/meetings.md', from: 'yaml/notes/meetings.md', about: 'the file that the example tool edits' },
    { path: 'example/model.mjs', from: 'yaml/example/model.mjs', about: 'a script in place of a model, so that you need no key' },
  ],
  typescript: [
    { path: 'countersign.config.ts', from: 'typescript/countersign.config.ts', about: 'the agents and two example tools' },
    { path: 'policy.yaml', from: 'policy.yaml', about: 'what runs, what needs approval, what is refused' },
    { path: 'example/meetings.json', from: 'typescript/example/meetings.json', about: 'the file that the example tool changes' },
    { path: 'example/model.ts', from: 'typescript/example/model.ts', about: 'a script in place of a model, so that you need no key' },
  ],
}

/** A file to write. */
export interface StarterFile {
  /** Relative to the folder, with forward slashes. */
  path: string
  content: string
  about: string
}

/** Returns the files that `init` writes into a folder. @throws Error when the installed package is incomplete. */
export function starterFiles(kind: StarterKind, folder: string): StarterFile[] {
  const files = FILES[kind].map(({ path, from, about }) => ({ path, content: readFileSync(join(STARTER, from), 'utf8'), about }))
  if (kind === 'yaml' || existsSync(join(folder, 'package.json'))) return files
  // This makes Node read a TypeScript file as a module.
  return [
    ...files,
    { path: 'package.json', content: '{\n  "private": true,\n  "type": "module"\n}\n', about: 'says that the files are modules' },
  ]
}

/** Returns the files of a folder that `init` would overwrite, or that would be a second configuration. */
export function filesInTheWay(files: readonly StarterFile[], folder: string): string[] {
  const names = new Set([...CONFIG_FILE_NAMES, ...files.map(({ path }) => path)])
  return [...names].filter((name) => existsSync(join(folder, name)))
}

const IGNORED = ['.countersign/', '.env']

/** Returns the lines that a `.gitignore` lacks, appended to its content; undefined when none is missing. */
export function gitignoreWith(existing: string): string | undefined {
  const lines = new Set(existing.split(/\r?\n/).map((line) => line.trim()))
  const missing = IGNORED.filter((line) => !lines.has(line))
  if (missing.length === 0) return undefined
  return `${existing}${existing === '' || existing.endsWith('\n') ? '' : '\n'}${missing.join('\n')}\n`
}
