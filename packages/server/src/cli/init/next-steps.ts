import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
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
  // In a checkout npm knows the command in the checkout only, so nobody leaves it and the commands name the files.
  const isCheckout = program.endsWith('.ts')
  const run = ownCommand(program)
  const config = join(folder, kind === 'yaml' ? 'countersign.yaml' : 'countersign.config.ts')
  const named = isCheckout ? ` --config ${quoted(config)} --data ${quoted(join(folder, '.countersign'))}` : ''
  const packages = kind === 'yaml' ? [] : isCheckout ? linkSteps(folder, program) : packageSteps(folder)
  return [
    ...(isCheckout || folder === workingFolder ? [] : [`cd ${quoted(relative(workingFolder, folder))}`]),
    ...packages,
    `${run} doctor${named}`,
    `${run} serve${named}`,
  ]
}

function packageSteps(folder: string): string[] {
  const missing = missingAt(folder)
  return [
    ...(isModuleFolder(folder) ? [] : ['npm pkg set type=module']),
    ...(missing.length > 0 ? [`npm install ${missing.join(' ')}`] : []),
  ]
}

/** The packages of a checkout are on no registry: a configuration elsewhere uses those of the checkout. */
function linkSteps(folder: string, program: string): string[] {
  const own = join(dirname(program), '../../../../..', 'node_modules')
  const missing = missingAt(folder).map((name) => quoted(join(own, name)))
  const into = quoted(join(folder, 'node_modules'))
  return [
    ...(isModuleFolder(folder) ? [] : [`npm pkg set type=module --prefix ${quoted(folder)}`]),
    ...(missing.length > 0 ? [`mkdir -p ${into} && ln -s ${missing.join(' ')} ${into}`] : []),
  ]
}

const missingAt = (folder: string): string[] => ['countersign', 'zod'].filter((name) => !isInstalledAt(folder, name))

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
