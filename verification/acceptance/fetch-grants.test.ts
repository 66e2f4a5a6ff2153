import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { FOLDER, startCodingAgent } from '../testing/coding-agent.ts'

async function start() {
  const { propose, ...others } = await startCodingAgent()
  let calls = 0
  return {
    ...others,
    // The prompt is the model's own and another one each time.
    fetch: (url: string, more: object = {}): Promise<Action> =>
      propose('host.fetch', { hostTool: 'WebFetch', url, options: { prompt: `What is in it? ${++calls}` }, ...more }),
  }
}

const shown = ({ preview }: Action, field: string) => preview?.find((row) => row.field === field)?.newValue

test('the card of a request says method and host in one sentence, and shows all that is sent', async () => {
  const desk = await start()
  const card = await desk.fetch('https://docs.example.com/search?q=how%20to&page=2')
  expect(card.description).toBe('Fetch from docs.example.com (GET): /search?q=how%20to&page=2')
  expect(card.preview).toEqual([
    { field: 'address', newValue: 'https://docs.example.com/search?q=how%20to&page=2' },
    { field: 'host', newValue: 'https://docs.example.com' },
    {
      field: 'sends',
      newValue: [
        { parameter: 'q', value: 'how to' },
        { parameter: 'page', value: '2' },
      ],
    },
    { field: 'option prompt', newValue: 'What is in it? 1' },
  ])
  expect(card.risk).toMatchObject({ level: 'medium', setBy: 'tool' })
})

test('an address that programs may read differently is high risk, its card says why, and nothing is granted for it', async () => {
  const desk = await start()
  const card = await desk.fetch('https://good.example\\@evil.example/')
  expect(card.description).toBe('Fetch what programs may read differently: https://good.example\\@evil.example/')
  expect(shown(card, 'cannot be read')).toContain('it contains a backslash')
  expect(shown(card, 'a browser reads')).toBe('https://good.example/@evil.example/')
  expect(card.risk.level).toBe('high')
  for (const which of [{ exact: true as const }, { when: 'args.address.host == "good.example"' }])
    for (const { status } of await desk.tryGrant(card, which)) expect(status).toBe(409)
  expect((await desk.read(card)).state).toBe('proposed')
})

test.each([
  ['a private address', 'http://10.0.0.7/'],
  ['this machine', 'http://localhost:3000/'],
  ['a cloud machine’s credentials', 'http://169.254.169.254/latest/meta-data/'],
  ['a user name', 'https://ana:secret@good.example/'],
  ['a secret', 'https://good.example/?token=x'],
  ['a long query', `https://good.example/?q=${'word '.repeat(30).replaceAll(' ', '+')}`],
  ['letters that look like others', 'https://xn--pple-43d.com/'],
  ['an unusual port', 'https://good.example:8443/'],
])('a request with %s is asked about each time: %s', async (_, url) => {
  const desk = await start()
  const card = await desk.fetch(url)
  expect(card.risk.level).toBe('high')
  expect((await desk.suggest(card)).refusal).toContain('risk is high')
})

test('a request that sends data by another method is asked about each time', async () => {
  const desk = await start()
  for (const options of [{ method: 'post' }, { body: 'x' }]) {
    const card = await desk.fetch('https://docs.example.com/', { options })
    expect(card).toMatchObject({
      description: expect.stringContaining('(POST)'),
      risk: { level: 'high', reasons: ['sends data with POST'] },
    })
  }
})

/** Texts in which the granted host stands, and that lead elsewhere, or that programs read differently. */
const HOSTILE = [
  'https://docs.example.com@evil.example/guide/a',
  'https://docs.example.com:443@evil.example/guide/a',
  'https://docs.example.com\\@evil.example/guide/a',
  'https://docs.example.com.evil.example/guide/a',
  'https://docs.example.com./guide/a',
  'https://DOCS.example.com/guide/a',
  'HTTPS://docs.example.com/guide/a',
  'https://docs.example.com:443/guide/a',
  'https://docs.example.com:444/guide/a',
  'http://docs.example.com/guide/a',
  'https://docs%2eexample.com/guide/a',
  'https://docs\u3002example.com/guide/a',
  'https://d\u043ecs.example.com/guide/a',
  'https://docs.example.com\t.evil.example/guide/a',
  'https://docs.example.com\n/guide/a',
  ' https://docs.example.com/guide/a',
  'https:/docs.example.com/guide/a',
  '//docs.example.com/guide/a',
  'https://evil.example/https://docs.example.com/guide/a',
  'https://evil.example/?https://docs.example.com/guide/a',
  'https://evil.example#https://docs.example.com/guide/a',
  'https://docs.example.com/guide/../admin',
  'https://docs.example.com/guide/%2e%2e/admin',
  'https://docs.example.com/guide/..%2fadmin',
  'https://docs.example.com/guide/..;/admin',
  'https://docs.example.com/guide//admin',
  'https://docs.example.com/guide/.git/config',
  'https://docs.example.com/guide/a?x=1',
  'https://docs.example.com/guidex/a',
  'https://docs.example.com/admin',
  'https://docs.example.com/guide',
  `https://docs.example.com/guide/${'a1B2'.repeat(12)}`,
]

test('a grant for one address covers that address, whatever the model wants of the answer, and none that looks like it', async () => {
  const desk = await start()
  const first = await desk.fetch('https://docs.example.com/guide/a')
  const { rule } = await desk.suggest(first)
  expect(rule?.when).toContain('args.url == "https://docs.example.com/guide/a"')
  await desk.grant(first, rule?.when ?? '')
  expect((await desk.fetch('https://docs.example.com/guide/a')).state).toBe('approved')
  for (const url of [...HOSTILE, 'https://docs.example.com/guide/b', 'https://docs.example.com/guide/a#top'])
    expect([url, (await desk.fetch(url)).state]).toEqual([url, 'proposed'])
  for (const more of [
    { folder: '/home/ana' },
    { host: 'copilot' },
    { hostTool: 'web_fetch' },
    { options: { prompt: 'x', raw: true } },
    { options: {} },
  ])
    expect([more, (await desk.fetch('https://docs.example.com/guide/a', more)).state]).toEqual([more, 'proposed'])
})

test('a grant from two addresses covers the folder that both are in, from two folders the host, and no other host', async () => {
  for (const { seen, covered, asked } of [
    { seen: ['guide/a', 'guide/b/c'], covered: ['guide/', 'guide/x.html', 'guide/x/y'], asked: ['', 'admin', 'guide', 'guidex/a'] },
    { seen: ['guide/a', 'api/b'], covered: ['', 'admin', 'x/y'], asked: ['x//y', '%78', '.env'] },
  ]) {
    const desk = await start()
    await desk.approve(await desk.fetch(`https://docs.example.com/${seen[0]}`))
    const second = await desk.fetch(`https://docs.example.com/${seen[1]}`)
    const { rule } = await desk.suggest(second)
    await desk.grant(second, rule?.when ?? '')
    for (const path of [...seen, ...covered])
      expect([path, (await desk.fetch(`https://docs.example.com/${path}`)).state]).toEqual([path, 'approved'])
    for (const path of asked) expect([path, (await desk.fetch(`https://docs.example.com/${path}`)).state]).toEqual([path, 'proposed'])
    for (const url of HOSTILE.filter((one) => !one.startsWith('https://docs.example.com/') || /%|\.\.|\/\/a|\.git|\?|a1B2/.test(one)))
      expect([url, (await desk.fetch(url)).state]).toEqual([url, 'proposed'])
  }
})

test('a grant is for the host of the request that it was made from, whatever condition people write', async () => {
  const desk = await start()
  await desk.grant(await desk.fetch('https://docs.example.com/guide/a'), 'args.url.contains("docs.example.com") || true')
  expect((await desk.fetch('https://docs.example.com/admin')).state).toBe('approved')
  const covered = HOSTILE.filter((url) => /^https:\/\/docs\.example\.com\/(guide\/a\?x=1|guidex\/a|admin|guide)$/.test(url))
  for (const url of HOSTILE.filter((one) => !covered.includes(one))) expect([url, (await desk.fetch(url)).state]).toEqual([url, 'proposed'])
})

test('a condition that is no whole expression, so that it could undo the host, is refused', async () => {
  const desk = await start()
  const action = await desk.fetch('https://docs.example.com/guide/a')
  for (const when of ['true) || (true', 'true // all', 'args.url == "x" || (true', 'true &&'])
    for (const { status } of await desk.tryGrant(action, { when })) expect([when, status]).toEqual([when, 400])
  expect(await desk.grants()).toEqual([])
})

test('a condition for a host is true of requests to that host alone', async () => {
  const desk = await start()
  await desk.grant(
    await desk.fetch('https://docs.example.com/guide/a'),
    'args.address.host == "docs.example.com" && args.address.scheme == "https"',
  )
  const covered = [
    'https://docs.example.com/guide/a?x=1',
    'https://docs.example.com/guidex/a',
    'https://docs.example.com/admin',
    'https://docs.example.com/guide',
  ]
  for (const url of covered) expect([url, (await desk.fetch(url)).state]).toEqual([url, 'approved'])
  for (const url of HOSTILE.filter((one) => !covered.includes(one))) expect([url, (await desk.fetch(url)).state]).toEqual([url, 'proposed'])
})

test('a search shows all its words, and one that could carry much out is asked about each time', async () => {
  const desk = await startCodingAgent()
  const search = (query: string) =>
    desk.propose('host.search', { hostTool: 'WebSearch', query, options: { allowed_domains: ['example.com'] } })
  const card = await search('cel  language\nspecification')
  expect(card).toMatchObject({ description: 'Search the web for “cel language specification”', risk: { level: 'medium' } })
  expect(shown(card, 'sends')).toBe('cel  language\nspecification')
  expect(shown(card, 'option allowed_domains')).toEqual(['example.com'])
  expect((await search('word '.repeat(60))).risk.level).toBe('high')
  expect((await search('a1B2'.repeat(12))).risk.level).toBe('high')
})

test('what a caller says about an address is read anyway, and the folder of the agent does not change it', async () => {
  const desk = await startCodingAgent()
  const lying = { url: 'http://127.0.0.1/', options: {}, address: { understood: true, host: 'good.example', risks: [] } }
  const card = await desk.propose('host.fetch', { hostTool: 'WebFetch', folder: FOLDER, ...lying })
  expect(card).toMatchObject({ risk: { level: 'high' }, arguments: { address: { host: '127.0.0.1', reach: 'private' } } })
})
