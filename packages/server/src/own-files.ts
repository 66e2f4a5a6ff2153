import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { OwnFile } from '@countersign/toolkit'
import { COMPILE_CACHE } from './compile-cache.js'
import type { Config, Settings } from './config/index.ts'
import { CONFIG_FILE_NAMES } from './config/index.ts'

/** This package, and in a checkout everything that is built and run with it. */
const PACKAGE = fileURLToPath(new URL('..', import.meta.url))

/**
 * Returns the files that decide what this server does at its next start, and those that hold its secrets. Tools with file access must not
 * touch them, whatever the policy allows.
 */
export function ownFilesOf(settings: Settings, config: Pick<Config, 'files' | 'folder' | 'anchor'>): OwnFile[] {
  const file = (what: string, path: string): OwnFile => ({ path: resolve(path), what, secret: false, family: false })
  const secret = (what: string, path: string): OwnFile => ({ ...file(what, path), secret: true })
  const withFamily = (entry: OwnFile): OwnFile => ({ ...entry, family: true })
  const started = [process.cwd(), config.folder]
  const program = ['packages', 'apps', 'scripts'].map((name) => resolve(PACKAGE, '../..', name))
  const code = [...started.map((folder) => join(folder, 'x')), ...config.files.map(({ path }) => path), join(PACKAGE, 'x')]
  const folders = new Set(code.flatMap((path) => ancestorsOf(dirname(resolve(path)))))
  return [
    secret('the data folder', settings.dataDir),
    secret('the data folder', join(homedir(), '.countersign')),
    // Files that the server keeps beside the key have the key's name as a prefix.
    ...(settings.auditKeyFile === undefined ? [] : [withFamily(secret('the signing key', settings.auditKeyFile))]),
    ...(settings.headFile === undefined ? [] : [withFamily(secret('the last head of the record', settings.headFile))]),
    ...(config.anchor?.file === undefined ? [] : [withFamily(file('the anchor of the record', config.anchor.file))]),
    ...(settings.instance.file === undefined ? [] : [secret('the instance file', settings.instance.file)]),
    ...config.files.map(({ path, what }) => file(what, path)),
    ...started.flatMap((folder) => CONFIG_FILE_NAMES.map((name) => file('a configuration', join(folder, name)))),
    file('the program', PACKAGE),
    ...(basename(dirname(PACKAGE)) === 'packages' ? program.map((path) => file('the program', path)) : []),
    ...(process.argv[1] === undefined ? [] : [file('the program', process.argv[1])]),
    file('the program', process.execPath),
    file('the program', COMPILE_CACHE),
    // The files that Node and npm look up, from the folder of a file upwards.
    ...[...folders].flatMap((folder) => [
      file('the program', join(folder, 'node_modules')),
      file('the program', join(folder, 'package.json')),
      file('the program', join(folder, 'package-lock.json')),
      secret('the registry settings', join(folder, '.npmrc')),
      withFamily(secret('the environment', join(folder, '.env'))),
    ]),
  ]
}

const ancestorsOf = (path: string): string[] => (dirname(path) === path ? [path] : [path, ...ancestorsOf(dirname(path))])
