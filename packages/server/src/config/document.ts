import { access, readFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { checkJson } from '@countersign/core'
import { LineCounter, parseDocument } from 'yaml'
import { type LineOf, linesOf, refuseRepeatedKeys, yamlProblem } from '../policy/index.ts'
import { ConfigError } from './config-error.ts'
import { decodeUtf8 } from './decode-utf8.ts'
import { placeOfFault } from './fault-place.ts'
import { importWithFiles } from './named-files.ts'

const CODE = ['.ts', '.mts', '.js', '.mjs']
const DATA = ['.yaml', '.yml', '.json']
const MAX_BYTES = 4_000_000

/** The file names of a configuration, in a folder. */
export const CONFIG_FILE_NAMES = ['countersign.config.ts', ...DATA.map((extension) => `countersign${extension}`)]

/**
 * Returns the configuration file of a folder, or undefined when it has none.
 * @throws ConfigError when there are several: an implicit order would be easy to get wrong. Error when the folder cannot be read.
 */
export async function findConfig(folder: string): Promise<string | undefined> {
  const found: string[] = []
  for (const name of CONFIG_FILE_NAMES) {
    const exists = await access(join(folder, name)).then(
      () => true,
      ({ code }: NodeJS.ErrnoException) => {
        if (code === 'EACCES') throw new Error(`the folder ${folder} cannot be read: make it readable for the user of this process`)
        return false
      },
    )
    if (exists) found.push(name)
  }
  if (found.length > 1) throw new ConfigError(undefined, [{ path: [], message: `found ${found.join(' and ')} in ${folder}: keep one` }])
  return found[0] === undefined ? undefined : join(folder, found[0])
}

/** Returns the configuration file of a folder. @throws Error as {@link findConfig}, and when it has none. */
export async function requireConfig(folder: string): Promise<string> {
  const found = await findConfig(folder)
  if (found === undefined)
    throw new Error(
      `there is no countersign.config.ts or countersign.yaml in ${folder}: name one with --config, or make one with countersign init`,
    )
  return found
}

/** The content of a configuration file, and the files that were read for it. */
export interface ReadConfig {
  document: unknown
  /** Absolute; the file itself, and the modules that it imports. */
  files: readonly string[]
  /** Finds the line of a place in it; undefined for a module. */
  lineOf?: LineOf
}

/** Reads a configuration: the default export of a module, or the data of a YAML or JSON file. @throws ConfigError */
export async function readConfigFile(file: string): Promise<ReadConfig> {
  const extension = extname(file)
  if (CODE.includes(extension)) return readModule(file)
  if (DATA.includes(extension)) return { ...(await readData(file)), files: [file] }
  throw fault(file, `has an unknown kind; known are ${[...CODE, ...DATA].join(', ')}`)
}

async function readModule(file: string): Promise<ReadConfig> {
  let last: string | undefined
  const onLoad = (url: string) => {
    last = url
  }
  const { module, files } = await importWithFiles(pathToFileURL(file).href, onLoad).catch((error: unknown) => {
    if (isModuleReadAsCommonJs(error))
      throw fault(file, 'cannot be loaded as CommonJS: run npm pkg set type=module in the folder of its package.json', error)
    const where = isPackageMissing(error) ? '; install it in the folder of this file' : placeOfFault(error, file, last)
    throw fault(file, `cannot be loaded: ${error instanceof Error ? error.message : String(error)}${where}`, error)
  })
  if (typeof module === 'object' && module !== null && 'default' in module) return { document: module.default, files: [file, ...files] }
  throw fault(file, 'has no default export: write `export default defineConfig({ … })`')
}

/** `npm init` writes `"type": "commonjs"`, and Node then fails at the first import or export. */
const isModuleReadAsCommonJs = (error: unknown): boolean =>
  error instanceof SyntaxError && /^(Cannot use import statement outside a module|Unexpected token 'export')$/.test(error.message)

const isPackageMissing = (error: unknown): boolean => error instanceof Error && error.message.startsWith('Cannot find package ')

/** Returns the data of a YAML or JSON file, and the lines of its places: one document, no duplicate keys, only values that JSON can hold. @throws ConfigError */
export async function readData(file: string): Promise<{ document: unknown; lineOf: LineOf }> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw fault(file, `cannot be read (${error.code ?? error.message})`, error)
  })
  const text = orFault(file, () => decodeUtf8(bytes))
  // JSON is YAML too, and this parser refuses duplicate keys in both.
  const lineCounter = new LineCounter()
  const parsed = parseDocument(text, { prettyErrors: true, lineCounter, uniqueKeys: false })
  refuseRepeatedKeys(parsed)
  const wrong = yamlProblem(parsed, lineCounter)
  if (wrong !== undefined) throw fault(file, wrong)
  if (parsed.contents === null) throw fault(file, 'is empty')
  // YAML takes what a comment is meant to be for a part of the next key or of a text.
  if (extname(file) === '.json' && !isJson(text))
    throw fault(file, 'is not JSON, which has no comments, no commas at an end and quotes around every key and text')
  const checked = checkJson(
    orFault(file, () => parsed.toJS()),
    { maxBytes: MAX_BYTES },
  )
  if (checked.ok) return { document: checked.value, lineOf: linesOf(parsed, lineCounter) }
  throw fault(file, checked.reason)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text.replace(/^\ufeff/, ''))
    return true
  } catch {
    return false
  }
}

function orFault<Read>(file: string, read: () => Read): Read {
  try {
    return read()
  } catch (error) {
    throw fault(file, error instanceof Error ? error.message : String(error), error)
  }
}

const fault = (file: string, message: string, cause?: unknown) =>
  new ConfigError({ name: basename(file) }, [{ path: [], message }], { cause })
