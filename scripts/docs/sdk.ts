import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseSync } from 'vite'
import { ONE_CHECKER } from '../compiler.ts'
import { plainText } from './docstrings.ts'
import { escapeHtml } from './schema-table.ts'

/** One exported name of a package. */
interface Exported {
  name: string
  /** The declaration as TypeScript writes it, without the docstring before it. */
  declaration: string
  /** Its docstring. */
  text: string
}

/** Documents the exports of a package, from its built declarations. Of names that another package declares, only those of `passesOn`. */
function exportedNames(root: string, packageName: string, passesOn: readonly string[]): Exported[] {
  const out = mkdtempSync(join(tmpdir(), 'countersign-types-'))
  try {
    for (const name of [packageName, ...passesOn]) emitTypes(root, name, out)
    return namesIn({ out, passesOn }, join(out, 'packages', packageName, 'src', 'index.d.ts'))
  } finally {
    rmSync(out, { recursive: true })
  }
}

/** Writes the declarations of one package to `out`. Those of a package that it imports are not among them. */
function emitTypes(root: string, packageName: string, out: string): void {
  const project = join(root, 'packages', packageName, 'tsconfig.build.json')
  // `toolkit` may not be there: then the server declares its names itself.
  if (!existsSync(project)) return
  // `npm run check` checks the types.
  const flags = ['--noCheck', ...ONE_CHECKER, '--declaration', '--emitDeclarationOnly', '--sourceMap', 'false', '--inlineSources', 'false']
  const conditions = ['--customConditions', 'countersign-source', '--outDir', out, '--rootDir', root]
  const tsc = join(root, 'node_modules', '.bin', 'tsc')
  const { status, stdout } = spawnSync(tsc, ['-p', project, ...flags, ...conditions], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the declarations of ${packageName} cannot be made: ${stdout}`)
}

/** Returns the exports of one package, one section per name. */
export const sdkReference = (root: string, packageName: string, passesOn: readonly string[] = []): string =>
  exportedNames(root, packageName, passesOn)
    .map(({ name, declaration, text }) => {
      const [about, example] = splitExample(text)
      const shown = example === '' ? '' : `\nExample:\n\n\`\`\`ts\n${example}\n\`\`\`\n`
      return `## ${name}\n\n${escapeHtml(about)}\n\n\`\`\`ts\n${declaration}\n\`\`\`\n${shown}`
    })
    .join('\n')

function splitExample(text: string): [about: string, example: string] {
  const [about = '', example = ''] = text.split(/^@example\b *\n?/m)
  const readable = about.replace(/\{@link ([^}]+)\}/g, '`$1`').replace(/^@(param|returns?|throws)\b ?/gm, (_, tag: string) => `- *${tag}* `)
  return [readable.trim(), example.trim()]
}

interface Statement {
  type: string
  start: number
  end: number
  source?: { value: string } | null
  specifiers?: { local: { name?: string }; exported: { name?: string } }[]
  declaration?: { id?: { name: string }; declarations?: { id: { name: string } }[] } | null
}

/** The declarations of one package, and of the packages whose exports it passes on. */
interface Emitted {
  out: string
  passesOn: readonly string[]
}

/** @param wanted Names in this file, and what the package calls them; undefined for all. */
function namesIn(emitted: Emitted, path: string, wanted?: ReadonlyMap<string, string>): Exported[] {
  const source = readFileSync(path, 'utf8')
  const { program, comments } = parseSync(path, source)
  const found: Exported[] = []
  for (const statement of program.body as unknown as Statement[]) {
    if (!statement.type.startsWith('Export')) continue
    const from = statement.source?.value
    if (from !== undefined) {
      const file = fileOf(emitted, path, from)
      const names = statement.type === 'ExportAllDeclaration' ? wanted : passedOn(statement, wanted)
      if (file !== undefined && names?.size !== 0) for (const one of namesIn(emitted, file, names)) add(found, one)
      continue
    }
    const { declaration } = statement
    const name = declaration?.id?.name ?? declaration?.declarations?.[0]?.id.name
    const exported = name === undefined ? undefined : wanted ? wanted.get(name) : name
    if (exported === undefined) continue
    const comment = comments.find(({ end }) => end <= statement.start && source.slice(end, statement.start).trim() === '')
    const text = comment?.value.startsWith('*') ? plainText(comment.value) : ''
    add(found, { name: exported, declaration: source.slice(statement.start, statement.end).replace(/^export (declare )?/, ''), text })
  }
  return found
}

/** A function with several signatures is one name; so are a value and a type of the same name. */
function add(found: Exported[], next: Exported): void {
  const known = found.find(({ name }) => name === next.name)
  if (!known) found.push(next)
  else Object.assign(known, { declaration: `${known.declaration}\n${next.declaration}`, text: known.text || next.text })
}

/** The names that `export { a as b } from` passes on, as the other file has them and as the package calls them. */
function passedOn({ specifiers = [] }: Statement, wanted: ReadonlyMap<string, string> | undefined): ReadonlyMap<string, string> {
  const pairs = specifiers.map(({ local, exported }) => [local.name ?? '', exported.name ?? ''] as const)
  if (!wanted) return new Map(pairs)
  return new Map(pairs.flatMap(([local, exported]) => (wanted.has(exported) ? [[local, wanted.get(exported) ?? exported] as const] : [])))
}

function fileOf({ out, passesOn }: Emitted, path: string, from: string): string | undefined {
  const package_ = /^@countersign\/([\w-]+)$/.exec(from)?.[1]
  const file = from.startsWith('.')
    ? join(dirname(path), from.replace(/\.tsx?$/, '.d.ts'))
    : package_ !== undefined && passesOn.includes(package_)
      ? join(out, 'packages', package_, 'src', 'index.d.ts')
      : undefined
  return file !== undefined && existsSync(file) ? file : undefined
}
