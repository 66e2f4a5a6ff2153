import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { addActivity, openGithubBench } from '../../../verification/testing/github.ts'
import { argumentsOf, idsOf } from '../../../verification/testing/github-arguments.ts'
import { githubDescription } from '../../../verification/testing/github-description.ts'

test('GitHub: whatever valid arguments a tool is given, what it sends is as GitHub describes it', async () => {
  await using bench = await openGithubBench()
  const ids = idsOf(addActivity(bench.standin, bench.repo))
  const names = bench.names().map((full) => full.slice('github.'.length))
  let answered = 0
  const calls = fc.constantFrom(...names).chain((name) => fc.tuple(fc.constant(name), argumentsOf(bench.tool(name).inputSchema, ids)))
  await fc.assert(
    fc.asyncProperty(calls, async ([name, args]) => {
      if (!bench.tool(name).check(args).ok) return
      await bench.run(name, args).then(
        () => answered++,
        (error: Error) => expect([name, error.name, error.message]).toEqual([name, 'ToolError', expect.any(String)]),
      )
    }),
    { seed: inject('propertySeed'), numRuns: 60 },
  )
  const description = githubDescription()
  const sent = bench.standin.exchanges.filter(({ path }) => path !== '/graphql')
  expect(sent.flatMap((exchange) => description.requestProblems(exchange))).toEqual([])
  expect(answered).toBeGreaterThan(15)
})
