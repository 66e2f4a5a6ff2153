import type { JsonObject } from '@countersign/core'
import { expect, test } from 'vitest'
import { addRepo } from '../../../examples/github/stand-in/server.ts'
import { type GithubBench, openGithubBench } from '../../../verification/testing/github.ts'
import { openConfig } from '../../server/src/config/index.ts'
import { isBranchName, isPath } from './fields.ts'
import { openAllowList } from './repository.ts'

const problems = (bench: GithubBench, name: string, args: JsonObject): string => {
  const result = bench.tool(name).check(args)
  return result.ok ? '' : result.issues.map(({ message }) => message).join(' ')
}

test('GitHub: a repository that is not allowed is refused before anything is sent, whichever tool it is named to', async () => {
  await using bench = await openGithubBench({ section: { repositories: ['acme/shop', 'tools/*'] } })
  const names = bench.names().map((full) => full.slice('github.'.length))
  const withoutOne = names.filter((name) => !('repository' in (bench.tool(name).inputSchema.properties as JsonObject)))
  expect(withoutOne).toEqual(['searchRepositories', 'searchUsers'])
  for (const name of names.filter((one) => !withoutOne.includes(one))) {
    for (const repository of [
      'acme/other',
      'acme/shop2',
      'tool/x',
      'acme/..',
      'acme',
      'acme/shop/issues',
      'acme/shop?x',
      ' acme/shop',
      'acme%2Fshop/x',
    ]) {
      expect([name, repository, problems(bench, name, { repository })]).toEqual([
        name,
        repository,
        expect.stringMatching(/repository (is not one|must be owner)/),
      ])
    }
  }
  expect(problems(bench, 'getRepository', { repository: 'ACME/Shop' })).toBe('')
  expect(problems(bench, 'getRepository', { repository: 'tools/anything' })).toBe('')
  // The arguments were checked under another allow-list.
  const context = { actionId: 'act', idempotencyKey: 'act.1', principalId: undefined, signal: AbortSignal.timeout(240_000) }
  await expect(bench.tool('getRepository').execute({ repository: 'acme/other' }, context)).rejects.toThrow('Nothing was sent')
  expect(bench.standin.exchanges).toEqual([])
})

test('GitHub: a search stays in the allowed repositories, whatever its text says', async () => {
  await using bench = await openGithubBench({ section: { repositories: ['acme/shop', 'tools/*'] } })
  for (const query of ['x repo:evil/x', 'x -repo:acme/shop', '(org:evil)', 'USER:evil x', '"a" owner:evil']) {
    expect([query, problems(bench, 'searchIssues', { query })]).toEqual([query, expect.stringContaining('must not say where to search')])
    expect(problems(bench, 'searchCode', { query })).toContain('must not say where to search')
  }
  await bench.run('searchIssues', { query: 'price' })
  expect(bench.standin.exchanges.at(-1)?.query.get('q')).toBe('price is:issue repo:acme/shop user:tools')
  await bench.run('searchCode', { query: 'price', repository: 'acme/shop' })
  expect(bench.standin.exchanges.at(-1)?.query.get('q')).toBe('price repo:acme/shop')
})

test('GitHub: a search for repositories or people says nothing of a repository that is not allowed', async () => {
  await using bench = await openGithubBench({ section: { repositories: ['acme/shop', 'tools/*'] } })
  for (const name of ['searchRepositories', 'searchUsers']) {
    for (const query of ['x repo:evil/x', 'org:evil x', 'user:evil', 'x -repo:acme/shop']) {
      expect([query, problems(bench, name, { query })]).toEqual([query, expect.stringContaining('must not say where to search')])
    }
  }
  addRepo(bench.standin.state, 'evil/shop', { files: { 'README.md': 'x' }, people: ['eve'] })
  expect(await bench.run('searchRepositories', { query: 'shop' })).toMatchObject({ total: 1, items: [{ repository: 'acme/shop' }] })
  expect(bench.standin.exchanges.at(-1)?.query.get('q')).toBe('shop repo:acme/shop user:tools')
  const found = structuredClone(bench.standin.exchanges.at(-1)?.answer) as { items: { full_name: string }[] }
  for (const item of found.items) item.full_name = 'evil/shop'
  await using turned = await openGithubBench({
    section: { repositories: ['acme/shop'] },
    fault: ({ path }) => (path === '/search/repositories' ? { status: 200, body: found } : undefined),
  })
  expect(await turned.run('searchRepositories', { query: 'shop' })).toEqual({ items: [], total: 0 })
  const people = await bench.run('searchUsers', { query: 'eve' })
  expect(people).toEqual({ items: [{ login: 'eve', type: 'User', url: `${bench.standin.web}/eve` }], total: 1 })
})

test('GitHub: what a search finds elsewhere all the same is left out', async () => {
  await using bench = await openGithubBench({ section: { repositories: ['acme/shop'] } })
  const all = await bench.run('searchIssues', { query: 'prices' })
  expect(all).toMatchObject({ total: 1, items: [{ repository: 'acme/shop', number: 1 }] })
  const found = structuredClone(bench.standin.exchanges.at(-1)?.answer) as { items: { repository_url: string }[] }
  for (const item of found.items) item.repository_url = item.repository_url.replace('acme/shop', 'evil/x')
  await using turned = await openGithubBench({
    section: { repositories: ['acme/shop'] },
    fault: ({ path }) => (path === '/search/issues' ? { status: 200, body: found } : undefined),
  })
  expect(await turned.run('searchIssues', { query: 'prices' })).toEqual({ items: [], total: 0 })
})

test('GitHub: a search that is limited to some repositories says nothing of the others, neither by its results nor by their number', async () => {
  await using bench = await openGithubBench({ section: { repositories: ['acme/shop'] } })
  await using open = await openGithubBench()
  // Each would be searched for everywhere, and only the rest of the query in the allowed repositories.
  for (const query of [
    'x OR secret',
    'x or secret',
    '(x) OR (secret)',
    '(secret',
    'x) OR secret',
    '"x',
    'a"b OR c"',
    '"x\\" OR secret "',
  ]) {
    for (const name of ['searchIssues', 'searchCode', 'searchRepositories'])
      expect([name, query, problems(bench, name, { query })]).toEqual([name, query, expect.stringContaining('must not use OR')])
    expect(problems(open, 'searchIssues', { query })).toBe('')
    expect(problems(bench, 'searchUsers', { query })).toBe('')
  }
  for (const query of ['ORder', 'for x', '"x OR (y)" label:"a or b" -label:"(c)"', 'NOT x -label:bug', 'orange author:or'])
    for (const name of ['searchIssues', 'searchCode', 'searchRepositories'])
      expect([name, query, problems(bench, name, { query })]).toEqual([name, query, ''])
  expect(bench.standin.exchanges).toEqual([])
  const elsewhere = { total_count: 7, incomplete_results: false, items: [] }
  const fault = ({ path }: { path: string }) => (path.startsWith('/search/') ? { status: 200, body: elsewhere } : undefined)
  await using turned = await openGithubBench({ section: { repositories: ['acme/shop'] }, fault })
  for (const name of ['searchIssues', 'searchCode', 'searchRepositories'])
    expect([name, await turned.run(name, { query: 'secret', page: 2 })]).toEqual([name, { items: [] }])
})

test('GitHub: no name makes another address of a request', async () => {
  await using bench = await openGithubBench()
  const bad = ['..', '.', 'a/../b', '../x', '/x', 'x/', 'a//b', '.git/config', 'a/.GIT/x', 'a\\b', 'a\nb', '']
  for (const path of bad) expect([path, isPath(path)]).toEqual([path, false])
  for (const branch of [
    '..',
    '.',
    'a..b',
    '-x',
    '/x',
    'x/',
    'x.lock',
    'a b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    '*',
    '@',
    'a@{1}',
    'a\\b',
    '.x/y',
    'x.',
    '\u0007',
  ])
    expect([branch, isBranchName(branch)]).toEqual([branch, false])
  for (const label of ['..', '.', ' .. ']) expect(problems(bench, 'removeLabel', { number: 1, label })).toContain('must be more than dots')
  // An argument that passed the check is refused before the request is sent.
  const context = { actionId: 'act', idempotencyKey: 'act.1', principalId: undefined, signal: AbortSignal.timeout(240_000) }
  const run = bench.tool('removeLabel').execute({ repository: 'acme/shop', number: 1, label: '..' }, context)
  await expect(run).rejects.toMatchObject({ kind: 'refused', message: /Nothing was sent/ })
  expect(bench.standin.exchanges).toEqual([])
  for (const good of ['a/b', 'docs/pay.md', '.github/x', 'ä ö/ü', 'a%2e%2e', 'a#b?c']) {
    expect(isPath(good)).toBe(true)
    await bench.run('createBranch', { branch: 'b' }).catch(() => undefined)
    await bench.run('commitFiles', { branch: 'b', message: good, files: [{ path: good, content: good }] })
    expect(await bench.run('getFile', { path: good, ref: 'b' })).toMatchObject({ path: good, content: good })
  }
})

test('GitHub: an allow-list tells names apart as GitHub does', () => {
  const list = openAllowList(['Acme/Shop', 'tools/*'])
  for (const name of ['acme/shop', 'ACME/SHOP', 'tools/a', 'Tools/B']) expect(list.allows(name)).toBe(true)
  for (const name of ['acme/shops', 'tool/s', 'x/acme/shop', 'tools', 'acme/']) expect(list.allows(name)).toBe(false)
  expect(openAllowList(undefined).allows('any/thing')).toBe(true)
})

test('GitHub: a repository is named as the configuration names it, whatever case an agent writes, so a rule on it holds', async () => {
  await using bench = await openGithubBench({ section: { repositories: ['acme/Shop', 'Tools/*'], defaultRepository: 'tools/Build' } })
  for (const [written, name] of [
    ['ACME/shop', 'acme/Shop'],
    ['acme/Shop', 'acme/Shop'],
    ['TOOLS/bUILD', 'tools/Build'],
    ['tools/other', 'Tools/other'],
  ]) {
    for (const tool of ['closeIssue', 'getIssue']) {
      const check = bench.tool(tool).check({ repository: written ?? '', number: 1 })
      expect([written, check]).toEqual([written, { ok: true, value: expect.objectContaining({ repository: name }) }])
    }
    expect(bench.tool('searchIssues').check({ repository: written ?? '', query: 'x' })).toMatchObject({ value: { repository: name } })
  }
  await using open = await openGithubBench({ section: { defaultRepository: 'acme/shop' } })
  expect(open.tool('getIssue').check({ repository: 'Acme/SHOP', number: 1 })).toMatchObject({ value: { repository: 'acme/shop' } })
  expect(open.tool('getIssue').check({ repository: 'Any/Thing', number: 1 })).toMatchObject({ value: { repository: 'Any/Thing' } })
})

test('GitHub: what is wrong in its section is told with its place', async () => {
  const github = {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as people write it
    ...{ token: '${GITHUB_TOKEN}', baseUrl: 'https://user:pass@github.example/api/v3', webUrl: 'nowhere' },
    ...{ repositories: ['acme/shop', 'acme'], defaultRepository: 'other/x' },
  }
  const open = (section: typeof github) => openConfig({ tools: { git: { github: section } } }, { environment: {}, folder: '/' })
  await expect(open(github)).rejects.toThrow('tools.git.github.repositories.1: must be owner/name, or owner/* for all of an owner')
  const error = await open({ ...github, repositories: ['acme/*'] }).catch((thrown: Error) => thrown.message)
  for (const words of [
    'github.token: needs the environment variable GITHUB_TOKEN, which is not set',
    'github.baseUrl: must be an http:// or https:// address',
    'github.webUrl: must be an http:// or https:// address',
    'github.defaultRepository: is not one of the repositories that may be used here: acme/*',
  ]) {
    expect(error).toContain(words)
  }
})

test('GitHub: a link to a result leads to GitHub and nowhere else', async () => {
  await using bench = await openGithubBench({ section: { webUrl: 'https://github.example' } })
  const tool = bench.tool('closeIssue')
  const link = (url: string) => tool.resultUrl?.({}, { url })
  expect(link('https://github.example/acme/shop/issues/1')).toBe('https://github.example/acme/shop/issues/1')
  for (const url of [
    'https://github.example.evil/x',
    'http://github.example/x',
    'javascript:alert(1)',
    'https://evil/https://github.example',
    '',
  ]) {
    expect(link(url)).toBeUndefined()
  }
})
