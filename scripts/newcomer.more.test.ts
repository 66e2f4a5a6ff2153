import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { copyRepository } from '../verification/mutation/copy.ts'
import { ONE_CHECKER } from './compiler.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')

/** The first edit of each row of *Where a change begins* whose other files the compiler names: a text of the first file, and what follows it. */
const EDITS: Readonly<Record<string, readonly [after: string, added: string]>> = {
  'event of a session': ['export const EventData = {\n', '  newcomer: z.object({ what: z.string() }),\n'],
  'column of an action': ['export interface ActionRow {\n', '  newcomer: string | null\n'],
  'field of an action in the API': ['export const Action = z.object({\n', '  newcomer: z.string().nullable(),\n'],
  'state of an action': ['export const ACTION_STATES = [\n', "  'newcomer',\n"],
  'kind of row in the record': ['export const AUDIT_KINDS = [\n', "  'newcomer',\n"],
  'kind of source': ['export interface SourceSettings {\n', '  newcomer: { folder: string }\n'],
  'channel of notifications': ["export type ChannelName = 'webhook'", " | 'newcomer'"],
}

const place = (name: string): string => {
  const [folder = '', ...rest] = name.split('/')
  const places = [name, join('packages', folder, 'src', ...rest), join('apps', folder, 'src', ...rest), join('packages/server/src', name)]
  return places.find((path) => existsSync(join(ROOT, path))) ?? `${name} does not exist`
}

const filesIn = (cell: string): string[] => [...cell.matchAll(/`([\w./-]+\.tsx?)`/g)].map(([, name = '']) => place(name))

function readTable(): Map<string, { first: string; others: string[] }> {
  const [, section = ''] = /^## Where a change begins\n(.*?)^## /ms.exec(readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')) ?? []
  const rows = [...section.matchAll(/^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)]
  return new Map(rows.map(([, what = '', begin = '', then = '']) => [what, { first: filesIn(begin)[0] ?? '', others: filesIn(then) }]))
}

test('the files that the table of changes names exist, and are those that the compiler names after the first edit', async () => {
  const table = readTable()
  expect([...table].filter(([, { first, others }]) => [first, ...others].some((file) => !existsSync(join(ROOT, file))))).toEqual([])
  using copy = copyRepository(ROOT)
  const rows = Object.entries(EDITS).map(([what, [after, added]]) => {
    const { first = '', others = [] } = table.get(what) ?? {}
    const text = readFileSync(join(copy.path, first), 'utf8')
    expect(text).toContain(after)
    writeFileSync(join(copy.path, first), text.replace(after, `${after}${added}`))
    return { first, others }
  })
  const compiler = join(ROOT, 'node_modules/.bin/tsc')
  const output = await new Promise<string>((resolve) =>
    execFile(compiler, ['-p', '.', ...ONE_CHECKER], { cwd: copy.path, maxBuffer: 2 ** 26 }, (_error, stdout) => resolve(stdout)),
  )
  const named = new Set([...output.matchAll(/^([\w./-]+\.tsx?)\(\d+,\d+\): error/gm)].map(([, file = '']) => file))
  const expected = new Set(rows.flatMap(({ others }) => others))
  const first = new Set(rows.map((row) => row.first))
  // Tests have sample actions of their own, which the table names only together.
  const others = [...named].filter((file) => !first.has(file) && (expected.has(file) || !/\.test\.tsx?$|\/testing\//.test(file)))
  expect(others.sort()).toEqual([...expected].sort())
})
