import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const HERE = fileURLToPath(new URL('.', import.meta.url))

/** Every port that a file of an example says it takes where nothing else is said. */
function portsOf(example: string): string[] {
  const files = globSync(`${example}/**/*.{ts,mjs,yaml}`, { cwd: HERE, exclude: ['**/node_modules/**', '**/*.test.ts'] })
  return files.flatMap((file) =>
    [...readFileSync(HERE + file, 'utf8').matchAll(/(?:\?\? |PORT = '|port = |default: ')(4[34]\d\d)\b/g)].map(([, port = '']) => port),
  )
}

test('no two examples listen at the same port, and none at that of the server', () => {
  const examples = globSync('*/', { cwd: HERE })
  const taken = examples.flatMap((example) => [...new Set(portsOf(example))].map((port) => ({ example, port })))
  expect(taken.map(({ port }) => port)).toEqual(
    expect.arrayContaining(['4400', '4401', '4420', '4430', '4440', '4450', '4451', '4460', '4461', '4470', '4471']),
  )
  const again = taken.filter(
    ({ example, port }) => port === '4319' || taken.some((other) => other.port === port && other.example !== example),
  )
  expect(again).toEqual([])
})
