import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ONE_CHECKER } from '../compiler.ts'
import type { Block } from './blocks.ts'

/** A block as a module, and how many lines stand before the block in it. */
interface Module {
  block: Block
  text: string
  linesBefore: number
}

/** Names that a configuration may use without showing the import on the page. */
const OF_CONFIG = [
  'asTitle',
  'defineConfig',
  'defineScript',
  'defineTool',
  'githubStarter',
  'linearStarter',
  'mcpStarter',
  'objectivesStarter',
]
const KNOWN: Readonly<Record<string, string>> = {
  ...Object.fromEntries([...OF_CONFIG, 'openApiStarter', 'ToolError', 'workspaceStarter'].map((name) => [name, 'countersign'])),
  z: 'zod',
}

/**
 * The meaning of a block. `<!-- snippet: declare const x: string -->` before it is a prelude; with `%s` in it, it is a frame around the
 * block; `<!-- snippet: other: … -->` leaves it out. Lines that begin with a key of the configuration stand in `defineConfig({ … })`.
 */
function moduleOf(block: Block): Module | undefined {
  const { note, code } = block
  if (note.startsWith('other:')) return undefined
  const isSection = /^(agents|tools|policy): /.test(code)
  const frame = isSection
    ? 'export const snippet = defineConfig({\n%s\n})'
    : note.includes('%s')
      ? note.replace('%s', '\n%s\n')
      : `${note}\n%s`
  const [before = '', after = ''] = frame.split('%s')
  const whole = `${before}${code}${after}`
  const imported = new Set([...whole.matchAll(/import (?:type )?\{([^}]*)\}/g)].flatMap(([, names = '']) => names.split(/[,\s]+/)))
  const missing = Object.entries(KNOWN).filter(
    ([name]) => !imported.has(name) && new RegExp(`(?:^|[^.\\w'"]|\\.\\.\\.)${name}\\b[.(\`]`, 'm').test(whole),
  )
  const imports = missing.map(([name, from]) => `import { ${name} } from '${from}'\n`).join('')
  const head = `${imports}${before}`
  return { block, text: `${head}${code}${after}\nexport {}\n`, linesBefore: head.split('\n').length - 1 }
}

/** Returns the compiler's errors for the blocks, each with its page and line. @param paths Where packages are that are not installed here. */
export function typeProblems(root: string, blocks: readonly Block[], paths: Readonly<Record<string, string[]>> = {}): string[] {
  // Inside the repository, so that imports find its packages.
  const folder = mkdtempSync(join(root, 'scripts', 'docs', '.snippets-'))
  try {
    const modules = blocks.flatMap((block) => moduleOf(block) ?? [])
    const files = modules.map(({ block }, index) => `${index}.${block.language}`)
    for (const [index, { text }] of modules.entries()) writeFileSync(join(folder, files[index] ?? ''), text)
    writeFileSync(join(folder, 'styles.d.ts'), "declare module '*.css'\n")
    const options = { noUnusedLocals: false, noUnusedParameters: false, paths }
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ extends: '../../../tsconfig.json', compilerOptions: options, include: [], files: [...files, 'styles.d.ts'] }),
    )
    const tsc = join(root, 'node_modules', '.bin', 'tsc')
    const { stdout } = spawnSync(tsc, ['-p', folder, '--pretty', 'false', ...ONE_CHECKER], { encoding: 'utf8', cwd: folder })
    return stdout
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => atPage(line, modules))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function atPage(message: string, modules: readonly Module[]): string {
  const [, file, line, rest] = /^(\d+)\.tsx?\((\d+),\d+\): (.*)$/.exec(message) ?? []
  const module = modules[Number(file)]
  return module ? `${module.block.page}:${module.block.line + Number(line) - 1 - module.linesBefore}: ${rest}` : message
}
