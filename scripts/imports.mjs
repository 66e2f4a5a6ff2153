// Values flow one way (see CONTRIBUTING.md). Fails on a value import against the direction and on a cycle of value imports.
// `import type` may look back: it is gone at run time. Test files may import what they like.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseSync } from 'vite'

/** The workspace packages whose values each package may use. */
const PACKAGES = {
  'packages/core': [],
  'packages/client': [],
  'packages/react': ['@countersign/client'],
  'packages/server': ['@countersign/core'],
  'apps/web': ['@countersign/client', '@countersign/react'],
  'examples/shop': ['countersign', '@countersign/client', '@countersign/core'],
}

/** The order of the folders of packages/server/src: a file may use its own row and the rows above. */
const SERVER_ROWS = [
  ['config', 'log'],
  ['models', 'tools', 'store'],
  ['dispatch', 'gate'],
  ['agent', 'notify'],
  ['http', 'cli'],
  ['main', 'index'],
]

/** Neighbours in a row that must not know each other all the same. */
const STRANGERS = { models: ['store', 'tools'], tools: ['store', 'models'], store: ['models', 'tools'] }

const SOURCE = /\.(ts|tsx|mts)$/
const TEST = /\.(test|spec)\.tsx?$/

/**
 * @param {string} root The folder that holds `packages`, `apps` and `examples`.
 * @returns {{ problems: string[], files: number }}
 */
export function checkImports(root) {
  const problems = []
  /** @type {Map<string, string[]>} file → the files whose values it takes */
  const graph = new Map()
  for (const [place, allowed] of Object.entries(PACKAGES)) {
    for (const path of sourceFiles(join(root, place))) {
      const from = relative(root, path).split(sep).join('/')
      const targets = []
      for (const specifier of valueImports(path)) {
        if (specifier.startsWith('.')) {
          const to = relative(root, resolve(dirname(path), specifier))
            .split(sep)
            .join('/')
          targets.push(to)
          const problem = to.startsWith(`${place}/`) ? serverProblem(from, to) : 'another package is imported by its name'
          if (problem) problems.push(`${from} → ${to}: ${problem}`)
        } else if (/^(@countersign\/|countersign$|countersign\/)/.test(specifier)) {
          const name = specifier.startsWith('@') ? specifier.split('/', 2).join('/') : 'countersign'
          if (!allowed.includes(name)) {
            const may = allowed.length === 0 ? 'values of no other package' : `only values of ${allowed.join(' and ')}`
            problems.push(`${from} → ${specifier}: ${place} takes ${may} (types: import type)`)
          }
        }
      }
      graph.set(from, targets)
    }
  }
  for (const cycle of findCycles(graph)) problems.push(`a cycle of values: ${cycle.join(' → ')}`)
  return { problems, files: graph.size }
}

function sourceFiles(folder) {
  let entries
  try {
    entries = readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return ['node_modules', 'dist'].includes(entry.name) ? [] : sourceFiles(path)
    return SOURCE.test(entry.name) && !TEST.test(entry.name) ? [path] : []
  })
}

/** What stays in the file when its types are stripped: `import { type A } from 'a'` still loads `a`, only `import type` does not. */
function valueImports(path) {
  const text = readFileSync(path, 'utf8')
  const { module, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path} cannot be read: ${errors[0].message}`)
  const isType = (statement) => /^(import|export)\s+type\b/.test(text.slice(statement.start, statement.end))
  const found = [
    ...module.staticImports.filter((one) => !isType(one)).map((one) => one.moduleRequest.value),
    ...module.staticExports.filter((one) => !isType(one)).flatMap((one) => one.entries.map((entry) => entry.moduleRequest?.value)),
    ...module.dynamicImports.map((one) => /^(['"])(.*)\1$/.exec(text.slice(one.moduleRequest.start, one.moduleRequest.end))?.[2]),
  ]
  return [...new Set(found.filter((specifier) => specifier !== undefined))]
}

function serverProblem(from, to) {
  const part = (file) => /^packages\/server\/src\/([^/.]+)/.exec(file)?.[1]
  const [mine, theirs] = [part(from), part(to)]
  if (mine === undefined || theirs === undefined || mine === theirs) return undefined
  const row = (name) => SERVER_ROWS.findIndex((names) => names.includes(name))
  for (const name of [mine, theirs]) if (row(name) < 0) return `${name} has no place in the order of scripts/imports.mjs`
  if (row(theirs) > row(mine)) return `${mine} comes before ${theirs}`
  return STRANGERS[mine]?.includes(theirs) ? `${mine} and ${theirs} do not know each other` : undefined
}

/** One cycle for each group of files that reach themselves (Tarjan's components would name the group; a path is easier to mend). */
function findCycles(graph) {
  const cycles = []
  const done = new Set()
  const path = []
  const visit = (file) => {
    const at = path.indexOf(file)
    if (at >= 0) return cycles.push([...path.slice(at), file])
    if (done.has(file)) return
    path.push(file)
    for (const next of graph.get(file) ?? []) visit(next)
    path.pop()
    done.add(file)
  }
  for (const file of graph.keys()) visit(file)
  return cycles
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { problems, files } = checkImports(dirname(dirname(fileURLToPath(import.meta.url))))
  for (const problem of problems) console.log(problem)
  console.log(`${files} files, ${problems.length} wrong imports`)
  process.exitCode = problems.length === 0 ? 0 : 1
}
