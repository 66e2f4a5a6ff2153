import type { JsonObject } from '@countersign/core'
import { expect, test } from 'vitest'
import { push } from '../../../examples/github/stand-in/server.ts'
import { addActivity, type GithubBench, openGithubBench } from '../../../verification/testing/github.ts'

const CONTEXT = (version?: string) => ({ actionId: 'act', idempotencyKey: 'act.1', version, signal: AbortSignal.timeout(240_000) })

const shownOf = async (bench: GithubBench, name: string, args: JsonObject) =>
  Object.fromEntries((await bench.look(name, args)).fields.map(({ field, newValue }) => [field, newValue]))

test('createRelease: the card names the commit that the tag would name, and the release is made there and nowhere else', async () => {
  await using bench = await openGithubBench()
  const { git } = bench.repo
  const head = git.heads.get('fix-price') ?? ''
  const args = { tag: 'v2.0.0', target: 'fix-price', body: 'More', prerelease: true }
  const shown = await bench.look('createRelease', args)
  expect(shown.headline).toBe(`Publish the release “v2.0.0” of acme/shop at ${head.slice(0, 7)}`)
  expect(await shownOf(bench, 'createRelease', args)).toMatchObject({
    ...{ repository: 'acme/shop (private)', 'new tag': 'v2.0.0', at: `${head} Fix the price`, body: 'More' },
    ...{ name: 'v2.0.0', kind: 'pre-release, published at once' },
  })
  push(bench.standin.state, bench.repo, 'fix-price', { 'late.md': 'late' })
  expect((await bench.look('createRelease', args)).precondition).not.toEqual(shown.precondition)
  await bench.execute('createRelease', args, CONTEXT(shown.version))
  expect(bench.standin.exchanges.at(-1)?.body).toMatchObject({ tag_name: 'v2.0.0', target_commitish: head, prerelease: true })
  expect(git.tags.get('v2.0.0')).toBe(head)
})

test('createRelease: a tag that is there counts; one that appears elsewhere meanwhile, or has a release, is refused', async () => {
  await using bench = await openGithubBench()
  addActivity(bench.standin, bench.repo)
  const { git } = bench.repo
  const [main, head] = [git.heads.get('main') ?? '', git.heads.get('fix-price') ?? '']
  const shown = await bench.look('createRelease', { tag: 'v2.0.0' })
  git.tags.set('v2.0.0', head)
  await expect(bench.execute('createRelease', { tag: 'v2.0.0' }, CONTEXT(shown.version))).rejects.toMatchObject({ kind: 'stale' })
  expect(bench.repo.releases).toHaveLength(2)
  expect(await shownOf(bench, 'createRelease', { tag: 'v2.0.0' })).toMatchObject({ tag: 'v2.0.0', at: `${head} Fix the price` })
  const refusals: [JsonObject, RegExp][] = [
    [{ tag: 'v1.0.0' }, /v1\.0\.0 has a release already/],
    [{ tag: 'v2.0.0', target: 'main' }, /is there already, at .* and not at main/],
    [{ tag: 'v3', target: 'gone' }, /There is no gone in acme\/shop/],
  ]
  for (const [args, message] of refusals) {
    await expect(bench.look('createRelease', args)).rejects.toMatchObject({ impossible: true, message })
  }
  expect((await bench.look('createRelease', { tag: 'v2.0.0', target: head })).version).toBe(head)
  expect((await bench.look('createRelease', { tag: 'v3', draft: true })).headline).toBe(
    `Draft the release “v3” of acme/shop at ${main.slice(0, 7)}`,
  )
})

test('publishRelease: a draft is published as it was shown; one that is published already is refused', async () => {
  await using bench = await openGithubBench()
  const { draft } = addActivity(bench.standin, bench.repo)
  const main = bench.repo.git.heads.get('main') ?? ''
  const args = { releaseId: draft }
  const shown = await bench.look('publishRelease', args)
  expect(shown.headline).toBe(`Publish the release “v1.1.0” of acme/shop at ${main.slice(0, 7)}`)
  const release = bench.repo.releases.find(({ id }) => id === draft)
  if (release) release.body = 'Other words'
  expect((await bench.look('publishRelease', args)).precondition).not.toEqual(shown.precondition)
  push(bench.standin.state, bench.repo, 'main', { 'late.md': 'late' })
  await expect(bench.execute('publishRelease', args, CONTEXT(shown.version))).rejects.toMatchObject({ kind: 'stale' })
  expect(release?.draft).toBe(true)
  expect(await bench.run('publishRelease', args)).toMatchObject({ draft: false, tag: 'v1.1.0' })
  await expect(bench.look('publishRelease', args)).rejects.toMatchObject({ impossible: true, message: /published already/ })
})
