import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { blocksOf, pagesOf } from '../../scripts/docs/blocks.ts'
import { PYTHON_CLIENT, runPython, whyNoPython } from '../testing/python.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

if (whyNoPython !== undefined) console.warn(`left out: ${whyNoPython}`)

describe.skipIf(whyNoPython !== undefined)('the Python client', () => {
  test('holds what its own tests promise, each of them run against a real server, without a warning', async () => {
    const files = globSync('tests/test_*.py', { cwd: PYTHON_CLIENT })
    const written = files.flatMap((file) => readFileSync(join(PYTHON_CLIENT, file), 'utf8').match(/^ +(async )?def test_/gm) ?? [])
    expect(written.length).toBeGreaterThan(50)
    const { code, said } = await runPython(['-m', 'unittest', 'discover', '--start-directory', 'tests', '--top-level-directory', '.'])
    const ran = Number(/^Ran (\d+) tests? in /m.exec(said)?.[1] ?? 0)
    // The examples of the docstrings are beside those that are written.
    expect(ran, said).toBeGreaterThan(written.length)
    expect(said).toMatch(/^OK$/m)
    expect(code).toBe(0)
  })

  test('is shown in the documentation with code that is Python', async () => {
    const blocks = pagesOf(ROOT)
      .flatMap((page) => blocksOf(ROOT, page))
      .filter(({ language }) => language === 'python')
    expect(blocks.length).toBeGreaterThan(5)
    const program =
      'import ast, json, sys\nfor block in json.load(sys.stdin): ast.parse(block["code"], f"{block[\'page\']}:{block[\'line\']}")'
    const { code, said } = await runPython(['-c', program], JSON.stringify(blocks))
    expect(said).toBe('')
    expect(code).toBe(0)
  })
})
