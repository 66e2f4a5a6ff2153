import { readCommand } from '@countersign/core'
import { expect, test } from 'vitest'
import type { ApiClient } from '../testing/api-client.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

/** What decides, exactly. Written down a second time. */
const WORDS = ['approve', 'yes', 'reject', 'no', 'approve all']

/** How people say it elsewhere, and what sounds like it. */
const SAID = [
  ...[
    'ja',
    'jawohl',
    'nein',
    'oui',
    'non',
    'sí',
    'si',
    'claro',
    'sim',
    'não',
    'да',
    'нет',
    'так',
    'ні',
    'tak',
    'nie',
    'ano',
    'evet',
    'hayır',
  ],
  ...[
    'はい',
    'いいえ',
    '承認',
    '是',
    '好的',
    '不',
    '同意',
    '拒绝',
    '네',
    '아니요',
    'نعم',
    'لا',
    'موافق',
    'כן',
    'לא',
    'हाँ',
    'नहीं',
    'ใช่',
    'ไม่',
    'vâng',
    'không',
  ],
  ...[
    'ναι',
    'όχι',
    'igen',
    'nem',
    'kyllä',
    'ei',
    'ya',
    'tidak',
    'oo',
    'hindi',
    'ndiyo',
    'hapana',
    'jā',
    'nē',
    'taip',
    'ne',
    'da',
    'nu',
    'po',
    'jo',
  ],
  ...[
    'ok',
    'okay',
    'okey',
    'go',
    'go ahead',
    'do it',
    'sure',
    'yep',
    'yeah',
    'yup',
    'y',
    'n',
    'nope',
    'stop',
    'cancel',
    'deny',
    'decline',
    'accept',
  ],
  ...[
    'approved',
    'approves',
    'disapprove',
    'rejected',
    'yes sir',
    'lgtm',
    'ship it',
    '👍',
    '✅',
    '/approve',
    '/yes',
    '!approve',
    'true',
    '1',
    'proceed',
  ],
]
const BEFORE = [
  '',
  '"',
  '`',
  '> ',
  '- ',
  '/',
  '@bot ',
  'please ',
  'do not ',
  'I said ',
  'the tool says: ',
  'system: ',
  '\u200b',
  '\u202e',
  '{"verdict":"',
  '# ',
  '1. ',
  'não ',
  '请',
  '<b>',
]
const AFTER = [
  '',
  '.',
  '!',
  '?',
  '…',
  '"',
  '`',
  ' please',
  ', do it',
  ' now',
  ' all',
  ' them',
  ' 1',
  ' act_1',
  '\u200b',
  '\u2066',
  '\nbut not that',
  '"}',
  ' 👍',
  'し',
  ' and no',
  ' или нет',
]

const isWord = (text: string): boolean => WORDS.includes(text.trim().toLowerCase())

/** 10,000 and more, none of them a word. */
const TEXTS = [
  ...new Set(
    [...WORDS, ...WORDS.map((word) => word.toUpperCase()), ...SAID].flatMap((word) =>
      BEFORE.flatMap((head) => AFTER.map((tail) => head + word + tail)),
    ),
  ),
].filter((text) => !isWord(text))

const AT_ONCE = 40

async function postAll(client: Pick<ApiClient, 'send'>, sessionId: string, texts: readonly string[], wanted: number): Promise<void> {
  for (let from = 0; from < texts.length; from += AT_ONCE) {
    const answers = await Promise.all(
      texts.slice(from, from + AT_ONCE).map((content) => client.send('POST', `/api/sessions/${sessionId}/messages`, { body: { content } })),
    )
    for (const { status, body, text } of answers) {
      if (status !== wanted || body.decided) throw new Error(`answered ${status}: ${text}`)
    }
  }
}

/** A conversation of somebody's in which an action waits. */
async function ask(server: TestServer, client: Pick<ApiClient, 'get' | 'post'>): Promise<string> {
  const { id } = await client.post('/api/sessions', {})
  await client.post(`/api/sessions/${id}/messages`, { content: 'go' })
  await server.settle()
  return id
}

test('10,000 texts around the command words decide nothing; the exact word of the right person decides, and of nobody else', async () => {
  expect(TEXTS.length).toBeGreaterThan(10_000)
  expect(TEXTS.filter((text) => readCommand(text) !== undefined)).toEqual([])

  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } }, tools: toolsOf(target) },
    scripts: {
      desk: [{ calls: [{ tool: 'keyed', arguments: { what: 'x' } }] }, ...Array.from({ length: 900 }, () => ({ text: 'Fine.' }))],
    },
  })
  const ana = await server.as({ name: 'Ana', kind: 'person', roles: ['approver'] })
  const mine = await ask(server, ana)
  const every = (nth: number, of: number) => TEXTS.filter((_, i) => i % of === nth)
  await postAll(ana, mine, every(0, 12), 202)

  // Programs in sessions of their own, where they may speak: not even the exact words.
  for (const kind of ['agent', 'service'] as const) {
    const program = await server.as({ name: kind, kind, person: ana.principal.id })
    const own = await ask(server, program)
    await postAll(program, own, [...WORDS, ...WORDS.map((word) => word.toUpperCase()), ...every(kind === 'agent' ? 1 : 2, 40)], 202)
    await postAll(program, mine, WORDS, 404)
  }
  const readers = { viewer: 403, finance: 404 } as const
  for (const [role, status] of Object.entries(readers)) {
    const reader = await server.as({ name: role, kind: 'person', roles: [role] })
    await postAll(reader, mine, [...WORDS, ...every(3, 100)], status)
  }
  const { key } = await server.admin.post('/api/keys', { name: 'half', kind: 'person', person: ana.principal.id, scopes: ['propose'] })
  await postAll(server.with({ authorization: `Bearer ${key}` }), mine, WORDS, 202)

  expect((await server.dump()).vote).toEqual([])
  expect(target.writes).toEqual([])
  const { decided } = await ana.post(`/api/sessions/${mine}/messages`, { content: ' Yes\n' })
  expect(decided).toHaveLength(1)
  expect((await server.dump()).vote).toHaveLength(1)
})
