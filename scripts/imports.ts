// Values flow one way (CONTRIBUTING.md says which). Fails on a value import against the direction and on a cycle of value imports.
// `import type` may look back: it is gone at run time. Test files may import what they like.
// Fails also where the server parses a JSON column of an action outside the store, whose readers give the column its type.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { parseSync } from 'vite'

const SOURCES = ['github', 'linear', 'mcp', 'objectives', 'openapi', 'workspace']

/** The workspace packages whose values each package may use. */
const PACKAGES: Record<string, string[]> = {
  'packages/core': [],
  'packages/client': [],
  'packages/react': ['@countersign/client'],
  'packages/toolkit': ['@countersign/core'],
  ...Object.fromEntries(SOURCES.map((name) => [`packages/tools-${name}`, ['@countersign/core', '@countersign/toolkit']])),
  'packages/server': ['@countersign/core', '@countersign/toolkit', ...SOURCES.map((name) => `@countersign/tools-${name}`)],
  'apps/web': ['@countersign/client', '@countersign/react'],
  'examples/shop': ['countersign', '@countersign/client', '@countersign/core'],
}

/** How a text is shown and what a service's answer says is one for all, and weighs nothing: the browser takes it too. */
const FOR_ALL = ['@countersign/core/text']

/** The order of packages/server/src: a file may use its own row and the rows above it. */
const SERVER_ROWS = [
  ['log', 'clock', 'bind-deps', 'durable-files', 'private-files', 'optional-package', 'csv-line', 'host-run'],
  ['coding-agent', 'ext-authz'],
  ['models', 'tools', 'store'],
  ['audit', 'policy'],
  ['config'],
  ['dispatch', 'gate', 'instance', 'pin-store'],
  ['agent', 'metrics', 'notify', 'archive', 'objectives', 'registered', 'stats'],
  ['runtime', 'postgres-runtime', 'handle-commit', 'start', 'engine', 'identity', 'accept-tool'],
  ['gateway'],
  ['hooks'],
  ['http'],
  ['compile-cache', 'new-space'],
  ['own-files', 'require-free-port'],
  ['server'],
  ['cli'],
  ['main', 'index'],
]

/** Imports that are forbidden although the rows would allow them: tools and models only implement core's ports. */
const STRANGERS: Record<string, string[]> = {
  models: ['store', 'tools'],
  tools: ['store', 'models'],
  store: ['models', 'tools'],
  config: ['store'],
}

const STORED_ACTION = 'packages/server/src/store/stored-action.ts'

/** The JSON columns of an action: those that the store has a reader for. */
function jsonColumns(root: string): string[] {
  const path = join(root, STORED_ACTION)
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const body = /^interface Columns \{\n(.*?)^\}/ms.exec(text)?.[1] ?? ''
  return [...body.matchAll(/^ {2}(\w+):/gm)].map(([, name = '']) => name)
}

/** Where a file of the server outside the store parses such a column, or a variable of its name. */
function parsedColumns(from: string, text: string, columns: readonly string[]): string[] {
  if (!from.startsWith('packages/server/src/') || from.startsWith('packages/server/src/store/')) return []
  const parsed = [...text.matchAll(/\bJSON\.parse\((?:[\w.]+\.)?(\w+)/g)].map(([, name = '']) => name)
  const wrong = parsed.filter((name) => columns.includes(name))
  return wrong.map((name) => `${from} parses ${name}: use its reader in ${STORED_ACTION}`)
}

/** Every wrong value import and parsed column under `root` (the folder that holds `packages`, `apps` and `examples`), as a sentence each. */
export function findWrongImports(root: string): string[] {
  const problems: string[] = []
  const graph = new Map<string, string[]>()
  const columns = jsonColumns(root)
  for (const [place, allowed] of Object.entries(PACKAGES)) {
    for (const path of sourceFiles(join(root, place))) {
      const from = relative(root, path).split(sep).join('/')
      const targets: string[] = []
      graph.set(from, targets)
      const text = readFileSync(path, 'utf8')
      problems.push(...parsedColumns(from, text, columns))
      for (const specifier of valueImports(path, text)) {
        if (specifier.startsWith('.')) {
          const to = relative(root, resolve(dirname(path), specifier))
            .split(sep)
            .join('/')
          targets.push(to)
          const isHome = to.startsWith(`${place}/`)
          const problem = isHome ? serverProblem(from, to) : isStandIn(from, to) ? undefined : 'another package is imported by its name'
          if (problem) problems.push(`${from} → ${to}: ${problem}`)
          continue
        }
        const name = /^(@countersign\/[^/]+|countersign(?=$|\/))/.exec(specifier)?.[0]
        if (name === undefined || allowed.includes(name) || FOR_ALL.includes(specifier)) continue
        const may = allowed.length === 0 ? 'values of no other package' : `only values of ${allowed.join(' and ')}`
        problems.push(`${from} → ${specifier}: ${place} takes ${may} (for types, import type)`)
      }
    }
  }
  return [...problems, ...findCycles(graph).map((cycle) => `a cycle of values: ${cycle.join(' → ')}`)]
}

/** Helpers of tests and the campaign may start the services of an example and use the test helpers of another package. Neither is published. */
const isStandIn = (from: string, to: string): boolean =>
  /\/(testing|campaign)\//.test(from) && /^(examples\/[^/]+\/(stand-?in|service)|packages\/[^/]+\/src\/testing)\//.test(to)

/** What `init` writes is a project of its own: it takes our packages as users do. */
const NOT_OURS = ['node_modules', 'dist', 'starter']

function sourceFiles(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return NOT_OURS.includes(entry.name) ? [] : sourceFiles(path)
    return /\.(tsx?|js)$/.test(entry.name) && !/\.test\.tsx?$/.test(entry.name) ? [path] : []
  })
}

/** What is left when the types are stripped: `import { type A } from 'a'` still loads `a`, only `import type` does not. */
function valueImports(path: string, text: string): string[] {
  const { module, errors } = parseSync(path, text)
  if (errors[0]) throw new Error(`${path} cannot be read: ${errors[0].message}`)
  const isValue = ({ start, end }: { start: number; end: number }): boolean => !/^(import|export)\s+type\b/.test(text.slice(start, end))
  const found = [
    ...module.staticImports.filter(isValue).map((one) => one.moduleRequest.value),
    ...module.staticExports.filter(isValue).flatMap((one) => one.entries.map((entry) => entry.moduleRequest?.value)),
    ...module.dynamicImports.map((one) => /^(['"])(.*)\1$/.exec(text.slice(one.moduleRequest.start, one.moduleRequest.end))?.[2]),
  ]
  return [...new Set(found.filter((specifier) => specifier !== undefined))]
}

function serverProblem(from: string, to: string): string | undefined {
  const part = (file: string): string | undefined => /^packages\/server\/src\/([^/.]+)/.exec(file)?.[1]
  const [mine, theirs] = [part(from), part(to)]
  if (mine === undefined || theirs === undefined || mine === theirs) return undefined
  const row = (name: string): number => SERVER_ROWS.findIndex((names) => names.includes(name))
  for (const name of [mine, theirs]) if (row(name) < 0) return `${name} has no place in the order of scripts/imports.ts`
  if (row(theirs) > row(mine)) return `${mine} comes before ${theirs}`
  return STRANGERS[mine]?.includes(theirs) ? `${mine} and ${theirs} do not know each other` : undefined
}

/** The first cycle met from each file; mending it may show the next. */
function findCycles(graph: ReadonlyMap<string, string[]>): string[][] {
  const cycles: string[][] = []
  const done = new Set<string>()
  const path: string[] = []
  const visit = (file: string): void => {
    const at = path.indexOf(file)
    if (at >= 0) cycles.push([...path.slice(at), file])
    if (at >= 0 || done.has(file)) return
    path.push(file)
    for (const next of graph.get(file) ?? []) visit(next)
    path.pop()
    done.add(file)
  }
  for (const file of graph.keys()) visit(file)
  return cycles
}

if (import.meta.main) {
  const problems = findWrongImports(dirname(import.meta.dirname))
  for (const problem of problems) console.log(problem)
  if (problems.length > 0) process.exitCode = 1
}
