import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseSync } from 'vite'
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

/** What a package exports, from the declarations that its build makes. Names that another package declares are left out. */
function exportedNames(root: string, packageName: string): Exported[] {
  const out = mkdtempSync(join(tmpdir(), 'countersign-types-'))
  try {
    const project = join(root, 'packages', packageName, 'tsconfig.build.json')
    const tsc = join(root, 'node_modules', '.bin', 'tsc')
    const flags = ['--declaration', '--emitDeclarationOnly', '--sourceMap', 'false', '--inlineSources', 'false']
    const conditions = ['--customConditions', 'countersign-source', '--outDir', out, '--rootDir', root]
    const { status, stdout } = spawnSync(tsc, ['-p', project, ...flags, ...conditions], { encoding: 'utf8' })
    if (status !== 0) throw new Error(`the declarations of ${packageName} cannot be made: ${stdout}`)
    return namesIn(join(out, 'packages', packageName, 'src', 'index.d.ts'))
  } finally {
    rmSync(out, { recursive: true })
  }
}

/** What one package exports, as a section for each name. */
export const sdkReference = (root: string, packageName: string): string =>
  exportedNames(root, packageName)
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

function namesIn(path: string, wanted?: ReadonlyMap<string, string>): Exported[] {
  const source = readFileSync(path, 'utf8')
  const { program, comments } = parseSync(path, source)
  const found: Exported[] = []
  for (const statement of program.body as unknown as Statement[]) {
    if (!statement.type.startsWith('Export')) continue
    const from = statement.source?.value
    if (from !== undefined) {
      const names = new Map((statement.specifiers ?? []).map(({ local, exported }) => [local.name ?? '', exported.name ?? '']))
      const file = join(dirname(path), from.replace(/\.tsx?$/, '.d.ts'))
      if (from.startsWith('.') && existsSync(file)) found.push(...namesIn(file, names))
      continue
    }
    const { declaration } = statement
    const name = declaration?.id?.name ?? declaration?.declarations?.[0]?.id.name
    const exported = name === undefined ? undefined : wanted ? wanted.get(name) : name
    if (exported === undefined) continue
    const comment = comments.find(({ end }) => end <= statement.start && source.slice(end, statement.start).trim() === '')
    const text = comment?.value.startsWith('*') ? plainText(comment.value) : ''
    found.push({ name: exported, declaration: source.slice(statement.start, statement.end).replace(/^export (declare )?/, ''), text })
  }
  return found
}
