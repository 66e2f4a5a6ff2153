import { globSync, readFileSync } from 'node:fs'
import { parseSync } from 'vite'
import type { Block } from './blocks.ts'
import { plainText } from './docstrings.ts'
import { typeProblems } from './type-snippets.ts'

/** The packages whose names an example may use without showing the import. */
const PACKAGES = ['core', 'toolkit', 'client', 'react']

/** Errors about a name that only the place of use has, and about values of unknown type that come from one. */
const OF_SURROUNDINGS = /: error (?:TS2304|TS2552|TS18004|TS7006|TS7031|TS18046|TS2571):/

/** Returns the compiler's errors for examples of docstrings, each with its file and line. */
export const exampleProblems = (root: string, examples: readonly Block[]): string[] =>
  typeProblems(root, examples).filter((problem) => !OF_SURROUNDINGS.test(problem))

/**
 * The examples of docstrings as blocks, each with imports of what its own file and the packages export. The other names stand for what is
 * there where the example is used.
 */
export function docstringExamples(root: string): Block[] {
  const packages = PACKAGES.map((name) => ({ from: `@countersign/${name}`, names: exportsOf(root, `packages/${name}/src/index.ts`) }))
  return globSync('packages/*/src/**/*.{ts,tsx}', { cwd: root })
    .filter((page) => !/\.test\.|\/testing\//.test(page))
    .flatMap((page) => {
      const source = readFileSync(`${root}/${page}`, 'utf8')
      if (!source.includes('@example')) return []
      const own = { from: `../../../${page}`, names: exportsOf(root, page) }
      return parseSync(page, source).comments.flatMap(({ value, start }): Block[] => {
        const [, example = ''] = value.startsWith('*') ? plainText(value).split(/^@example\b *\n?/m) : []
        const [code = ''] = example.split(/^@\w+/m)
        if (code === '') return []
        const known = new Set([...code.matchAll(/import (?:type )?\{([^}]*)\}/g)].flatMap(([, names = '']) => names.split(/[,\s]+/)))
        const imports = [own, ...packages].flatMap(({ from, names }) => {
          const used = [...names].filter((name) => !known.has(name) && new RegExp(`\\b${name}\\b`).test(code))
          for (const name of used) known.add(name)
          return used.length === 0 ? [] : [`import { ${used.join(', ')} } from '${from}'`]
        })
        const line = source.slice(0, start).split('\n').length
        const frame = /^(agents|tools|policy): /.test(code)
          ? 'defineConfig({%s})'
          : /^(import|export) /m.test(code)
            ? '%s'
            : 'async function* example() {%s}'
        const language = page.startsWith('packages/react/') ? 'tsx' : 'ts'
        return [{ page, line, language, attributes: {}, note: `${imports.join(';')};${frame}`, code: ` ${code}` }]
      })
    })
}

function exportsOf(root: string, page: string): ReadonlySet<string> {
  const { staticExports } = parseSync(page, readFileSync(`${root}/${page}`, 'utf8')).module
  return new Set(
    staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ exportName, isType }) => (isType || exportName.name === null ? [] : [exportName.name])),
    ),
  )
}
