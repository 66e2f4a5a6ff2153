import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { WEBHOOK_EVENTS } from '@countersign/core'
import { expect, test } from 'vitest'
import { endLine, headLine, startLine } from '../../packages/server/src/audit/line.ts'
import { readCommand } from '../../packages/server/src/coding-agent/shell/read-command.ts'
import { cliReference } from './cli.ts'
import { cliJsonReference } from './cli-json.ts'
import { comparison } from './comparison.ts'
import { configurationSections } from './configuration.ts'
import { readFieldTexts } from './docstrings.ts'
import { GITHUB_PERMISSIONS } from './github-permissions.ts'
import { errorCodes, httpReference } from './http.ts'
import { limits } from './limits.ts'
import { logEvents } from './log-events.ts'
import { outsideTarget } from './outside-links.ts'
import { policyFields } from './policy.ts'
import { fieldsOf, typeOf } from './schema-table.ts'
import {
  brainEvents,
  exportFields,
  gatedParameters,
  headFields,
  hostToolRows,
  searchTerms,
  shellFacts,
  webhookEvents,
} from './source-tables.ts'
import { builtInTools } from './tools.ts'
import { readWireDocument } from './wire-document.ts'
import { unusedTexts, WIRE_PLACES, wireFields } from './wire-fields.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

test('every field of the configuration and of a policy says what it does', async () => {
  const fields = [...(await configurationSections(ROOT)).flatMap((section) => section.fields), ...policyFields(ROOT)]
  expect(fields.length).toBeGreaterThan(150)
  expect(fields.filter(({ text }) => text === '').map(({ path }) => path)).toEqual([])
})

test('every field and parameter of the HTTP API says what it is, and no text is left over', async () => {
  const fields = wireFields(await readWireDocument(), readFieldTexts(ROOT, WIRE_PLACES))
  expect(fields.length).toBeGreaterThan(1_000)
  expect(fields.filter(({ text }) => text === '').map(({ path }) => path)).toEqual([])
  expect(unusedTexts(fields)).toEqual([])
})

test('a route lists the errors that are its own', async () => {
  const document = await readWireDocument()
  const decide = document.paths['/api/actions/{id}/decision']?.post
  if (!decide) throw new Error('there is no such route')
  expect(errorCodes(document, decide)).toEqual(expect.arrayContaining(['already_decided', 'revision_mismatch', 'gone', 'bad_request']))
  const [, section = ''] = httpReference(document, () => new Map()).split('{#operation-decideAction}')
  expect(section.split('\n### ')[0]).toMatch(/^- \[Errors\]\(#errors\): `forbidden`, .*`already_decided`/m)
})

test('every operation stands once in the table of who may call what, beside the right that it needs', async () => {
  const document = await readWireDocument()
  const page = httpReference(document, () => new Map())
  const rows = (/## Who may call what\n\n([^#]*?(?:\n\|.*)+)\n\n/.exec(page)?.[1] ?? '').split('\n').slice(2)
  const listed = rows.flatMap((row) => [...row.matchAll(/\[(\w+)\]\(#operation-\1\)/g)].map(([, name]) => name))
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
  expect(listed.toSorted()).toEqual(operations.map(({ operationId }) => operationId).toSorted())
  expect(rows.find((row) => row.includes('[createKey]'))).toMatch(/^\| `admin` \| Persons with the role `admin`\./)
  expect(rows.find((row) => row.includes('[getHealth]'))).toMatch(/^\| {2}\| Everybody, also without a key/)
  expect(page.split('{#operation-createKey}')[1]).toMatch(/^\n\n.*\n\nWho may call it: Persons with the role `admin`\./)
})

test('every limit says what it limits, and has the value of its constant', () => {
  const all = limits(ROOT)
  expect(all.length).toBeGreaterThan(40)
  expect(all.filter(({ text }) => text === '')).toEqual([])
  expect(all).toContainEqual({ group: 'HTTP API', text: 'The body of a request.', value: '512 KiB' })
  expect(all).toContainEqual({ group: 'Tools', text: 'All files of an OpenAPI document together.', value: '32 MB' })
  expect(all).toContainEqual({ group: 'MCP', text: expect.stringContaining('result of a call as JSON'), value: '900 KB' })
})

test('the page of commands has all that --help prints, also below the options', () => {
  const [, run = ''] = cliReference().split('## `countersign run`')
  expect(run.split('\n## ')[0]).toMatch(/--no-wait.*Exit code 4: with --no-wait/s)
})

test('the shapes of what commands print with --json are listed', () => {
  expect(cliJsonReference()).toContain(
    '| [`archive verify`](#countersign-archive-verify) | `{files: list of {path: string, problem: string or null,',
  )
  expect(cliJsonReference()).toContain('| [`inbox`](#countersign-inbox) | `{items: list of Action}` |')
})

test('every event of the log is listed with its level and its fields, also one whose name is chosen by a condition', () => {
  const events = logEvents(ROOT)
  expect(events.length).toBeGreaterThan(80)
  expect(events).toContainEqual({ name: 'action.start_abandoned', level: 'error', fields: ['actionId', 'tries', 'error'] })
  expect(events.map(({ name }) => name)).toEqual(expect.arrayContaining(['process.gone', 'instance.held', 'mcp.tool_skipped']))
})

test('every built-in tool is listed, each one of GitHub with the permission that it needs', async () => {
  const tools = await builtInTools()
  const names = Object.values(tools).map((list) => list.map(({ name }) => name))
  expect(names.map((list) => list.length > 10)).toEqual([true, true, true, true])
  expect(names[0]?.toSorted()).toEqual(Object.keys(GITHUB_PERMISSIONS).toSorted())
  expect(names[3]).toContain('commit')
})

test('every setting of gated in Python, fact about a shell command and event of webhooks says what it is', () => {
  const tables = [gatedParameters(ROOT), shellFacts(ROOT), webhookEvents(ROOT)]
  expect(tables.map((rows) => rows.filter(([, text]) => text.length < 10))).toEqual([[], [], []])
  const [settings = [], facts = [], events = []] = tables.map((rows) => rows.map(([name]) => name))
  const signature = readFileSync(`${ROOT}clients/python/src/countersign/gate.py`, 'utf8').split('def gated(').at(-1)?.split(') -> Any:')[0]
  expect(settings.toSorted()).toEqual([...(signature ?? '').matchAll(/^ {4}(\w+): /gm)].map(([, name]) => name).sort())
  expect(facts.toSorted()).toEqual(Object.keys(readCommand('ls', '/work')).sort())
  expect(events).toEqual(expect.arrayContaining([...WEBHOOK_EVENTS]))
})

test('every event of a remote brain that the server reads is listed, and every tool of a coding agent with its arguments', () => {
  const [, source = ''] = readFileSync(`${ROOT}packages/server/src/models/remote-brain.ts`, 'utf8').split('export function remoteBrain')
  const [, read = ''] = source.split('switch (event.type) {')
  const names = brainEvents(ROOT).map(([name]) => name.split(' ')[0])
  const handled = [...(read.split('\n}\n')[0] ?? '').matchAll(/^ {6}case '([\w-]+)':/gm)].map(([, name]) => name)
  expect(handled.length).toBeGreaterThan(6)
  expect(names.toSorted()).toEqual(handled.toSorted())
  expect(brainEvents(ROOT).filter(([, text]) => text.length < 5)).toEqual([])
  expect(hostToolRows().find(([name]) => name === 'fetch')).toEqual([
    'fetch',
    'write',
    'Requests an address of the web.',
    ['url', 'address'],
  ])
})

test('every field of an export of the record says what it is', () => {
  const times = { at: 1, first_at: 1, last_at: 1 }
  const row = { ...times, number: 1, prev: '', first_id: 1, last_id: 1, row_count: 1, rows_hash: '', key: '', hash: '', signature: '' }
  const { head } = JSON.parse(headLine({ ...row, format: 2, gap: null }))
  const start = JSON.parse(startLine({ format: 'countersign-audit/2', publicKey: '', exportedAt: 1, since: null, until: null }))
  const { end } = JSON.parse(endLine({ rows: 0, heads: 0, lines: '', exportedAt: 1, remembered: null }, ''))
  const tables = [headFields(ROOT), exportFields(ROOT, 'ExportStart'), exportFields(ROOT, 'ExportEnd')]
  expect(tables.flat().filter(([, text]) => text === '')).toEqual([])
  const listed = tables.map((rows) => rows.flatMap(([names]) => names.split('`, `')))
  expect(listed).toEqual([head, start, end].map((fields) => expect.arrayContaining(Object.keys(fields))))
  expect(listed.map(({ length }) => length)).toEqual([head, start, end].map((fields) => Object.keys(fields).length))
})

test('every search term of the console is listed', () => {
  const [, source = ''] = readFileSync(`${ROOT}apps/web/src/waiting/search.ts`, 'utf8').split('const TERMS')
  const known = [...(source.split('\n}\n')[0] ?? '').matchAll(/^ {2}(\w+)\(search, value\)/gm)].map(([, name]) => name)
  expect(known.length).toBeGreaterThan(5)
  const listed = searchTerms(ROOT).flatMap(([name]) => name.split(':').slice(0, -1))
  expect(listed.toSorted()).toEqual(known.toSorted())
})

test('the comparison shows the systems of the measurements in full', () => {
  const rows = comparison(ROOT).split('\n')
  expect(rows).toContainEqual(expect.stringMatching(/^\| Countersign, SQLite \| \d+ \| \d+ \| yes \| yes \|$/))
  expect(rows.length).toBeGreaterThan(12)
})

test('a text of one object is not taken for another one with the same keys', async () => {
  const sections = await configurationSections(ROOT)
  const textOf = (path: string) => sections.flatMap(({ fields }) => fields).find((field) => field.path === path)?.text
  expect(textOf('agents.<name>.remote.url')).toContain('remote brain')
  expect(textOf('record.anchor.webhook.url')).toContain('heads')
})

test('a field of one alternative only is not shown as required, and one of several alternatives is shown once', () => {
  const option = (name: string) => ({
    type: 'object',
    properties: { [name]: { type: 'string' }, kind: { const: name } },
    required: [name, 'kind'],
  })
  const fields = fieldsOf({ anyOf: [option('for'), option('until'), { type: 'null' }] }, () => new Map())
  expect(fields.map(({ path, type, isRequired }) => [path, type, isRequired])).toEqual([
    ['for', 'string', false],
    ['kind', '`"for"` or `"until"`', true],
    ['until', 'string', false],
  ])
})

test.each([
  [{ type: 'string', maxLength: 200 }, 'string, at most 200 characters'],
  [{ type: 'array', items: { type: 'string' }, maxItems: 20 }, 'list of string, at most 20'],
  [{ type: 'integer', minimum: 1, maximum: 100 }, 'integer, 1 to 100'],
])('the limits of a field are shown with its type: %o', (schema, text) => {
  expect(typeOf(schema)).toBe(text)
})

test.each([
  ['a page', 'policy.md', undefined],
  ['a heading', '#rules', undefined],
  ['an address', 'https://example.com', undefined],
  ['a file of the repository', '../../examples/shop', '/repo/examples/shop'],
  ['a heading of such a file', '../../README.md#start', '/repo/README.md'],
])('a link to %s is outside of docs only where it leaves them', (_name, href, target) => {
  expect(outsideTarget(href, '/repo/docs/guides/mcp.md', '/repo/docs')).toBe(target)
})
