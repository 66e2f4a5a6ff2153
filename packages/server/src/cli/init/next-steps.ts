import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { ownCommand, quoted } from '../own-command.ts'
import type { StarterKind } from './starter.ts'

/** The folder of the call, and the location of the program. */
export interface Place {
  /** Absolute. */
  folder: string
  workingFolder: string
  /** The path of the running program. */
  program: string
}

/** Returns the commands to type next, in order. */
export function nextSteps(kind: StarterKind, place: Place): string[] {
  const { folder, workingFolder, program } = place
  const config = join(folder, kind === 'yaml' ? 'countersign.yaml' : 'countersign.config.ts')
  // In a checkout npm changes to the checkout's folder, so that the commands name the files.
  const isCheckout = program.endsWith('.ts')
  const run = ownCommand(program)
  const named = isCheckout ? ` --config ${quoted(config)} --data ${quoted(join(folder, '.countersign'))}` : ''
  return [
    ...(folder === workingFolder || (isCheckout && kind === 'yaml') ? [] : [`cd ${quoted(relative(workingFolder, folder))}`]),
    ...(kind === 'typescript' ? packageSteps(folder) : []),
    `${run} doctor${named}`,
    `${run} serve${named}`,
  ]
}

function packageSteps(folder: string): string[] {
  const missing = ['countersign', 'zod'].filter((name) => !isInstalledAt(folder, name))
  return [
    ...(isModuleFolder(folder) ? [] : ['npm pkg set type=module']),
    ...(missing.length > 0 ? [`npm install ${missing.join(' ')}`] : []),
  ]
}

function isInstalledAt(folder: string, name: string): boolean {
  const paths = createRequire(join(folder, 'package.json')).resolve.paths(name) ?? []
  return paths.some((path) => existsSync(join(path, name, 'package.json')))
}

/** Returns false where Node would read the configuration as CommonJS, and fail at its first import. */
function isModuleFolder(folder: string): boolean {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).type !== 'commonjs'
  } catch {
    return false
  }
}
