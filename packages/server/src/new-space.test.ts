import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

/**
 * Prints the megabytes of V8's space for new objects during much work: the median while it is kept small, as it is larger for a moment in a
 * collection, and the most when it may grow.
 */
const WORK = `import { getHeapSpaceStatistics } from 'node:v8'
import { keepNewSpaceSmall, letNewSpaceGrow } from ${JSON.stringify(new URL('./new-space.js', import.meta.url).href)}
const work = () => {
  const sizes = []
  for (let round = 0, kept = []; round < 100; round++, kept = []) {
    for (let i = 0; i < 50_000; i++) kept.push({ i })
    sizes.push(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size / 2 ** 20)
  }
  return sizes.sort((a, b) => a - b)
}
keepNewSpaceSmall()
const small = work()[50]
letNewSpaceGrow()
console.log(JSON.stringify([small, work().at(-1)]))`

test('the space for new objects stays small during a start, and grows with the work after it', () => {
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', WORK], { encoding: 'utf8' })
  const [small = 0, grown = 0]: number[] = JSON.parse(stdout)
  expect(small).toBeLessThanOrEqual(2)
  expect(grown).toBeGreaterThanOrEqual(8)
})
