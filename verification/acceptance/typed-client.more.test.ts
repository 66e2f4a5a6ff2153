import { execFile } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { counterpart } from '../testing/counterparts.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')

/** No `skipLibCheck`, and no option looser than in a careful project. */
const FLAGS = {
  target: 'es2024',
  lib: ['es2025', 'dom', 'dom.iterable'],
  module: 'nodenext',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  allowImportingTsExtensions: true,
  noEmit: true,
  skipLibCheck: false,
  types: ['node'],
}

/** Every expected error must be one: where a shape is `any` or `never`, the compiler reports the unused directive. */
const WRONG = `
import createClient from 'openapi-fetch'
import type { components, operations, paths } from './countersign.d.ts'

type Schemas = components['schemas']
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type IsTyped<T> = Equal<T, any> extends true ? false : Equal<T, never> extends true ? false : unknown extends T ? false : true

export const typed: [
  IsTyped<Schemas['Action']>,
  Equal<Schemas['Action']['arguments'][string], unknown>,
  IsTyped<Schemas['Action']['votes'][number]['by']>,
  IsTyped<Schemas['Session']>,
  IsTyped<Schemas['Message']>,
  IsTyped<Schemas['SessionEvent']>,
  IsTyped<Schemas['InboxEvent']>,
  IsTyped<Schemas['Problem']['code']>,
  IsTyped<operations['decideAction']['responses'][409]['content']['application/problem+json']['code']>,
] = [true, true, true, true, true, true, true, true, true]

export const codes: Equal<operations['getAction']['responses'][404]['content']['application/problem+json']['code'], 'not_found'> = true

export function follow(event: Schemas['SessionEvent']): string {
  if (event.event === 'action_proposed') return event.data.proposal.digest
  if (event.event === 'delta') return event.data.content
  // @ts-expect-error an event of the inbox and of sessions has no such type
  if (event.event === 'nothing') return ''
  return ''
}

const client = createClient<paths>({ baseUrl: '' })
export async function wrong(action: Schemas['Action']): Promise<void> {
  // @ts-expect-error no such state
  action.state = 'done'
  // @ts-expect-error a revision is a number
  action.revision = '1'
  // @ts-expect-error no such verdict
  await client.POST('/api/actions/{id}/decision', { params: { path: { id: '' } }, body: { verdict: 'yes' } })
  // @ts-expect-error a tool has a name
  await client.POST('/api/actions', { body: { tool: 4, arguments: {} } })
  // @ts-expect-error the arguments are missing
  await client.POST('/api/actions', { body: { tool: '' } })
  // @ts-expect-error saving a policy names the version that it is based on
  await client.PUT('/api/policy', { body: { document: {}, reason: '' } })
  // @ts-expect-error no such route
  await client.GET('/api/secrets')
  // @ts-expect-error no such parameter
  await client.GET('/api/actions', { params: { query: { status: 'proposed' } } })
}
`

test('a client generated from the document compiles under strict without skipLibCheck, and drives an action from proposal to record', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 4 } }))
  await using server = await startTestServer({ config: { tools: toolsOf(target), policy: { rules: [] } } })
  const { key: agentKey } = await server.makeKey({ name: 'refund bot', kind: 'agent', roles: ['agent'] })
  const { key: personKey } = await server.makeKey({ name: 'Ada', kind: 'person', roles: ['admin'] })
  using folder = temporaryFolder()
  const at = (name: string) => join(folder.path, name)
  // Links the packages that a program has after `npm install openapi-fetch`.
  symlinkSync(dirname(dirname(counterpart('openapi-fetch/package.json'))), at('node_modules'))
  writeFileSync(at('package.json'), '{"type":"module"}')

  const page = readFileSync(join(ROOT, 'docs', 'reference', 'api.md'), 'utf8')
  const [, command = ''] = /^npx (openapi-typescript .+)$/m.exec(page) ?? []
  const [, program = ''] = /^```ts\n([\s\S]+?)^```$/m.exec(page) ?? []
  const args = command.replace('http://127.0.0.1:4319', server.url).split(' ').slice(1)
  expect(args).toEqual([`${server.url}/api/openapi.json`, '--output', 'countersign.d.ts'])
  await run(process.execPath, [counterpart('openapi-typescript/bin/cli.js'), ...args], { cwd: folder.path })

  writeFileSync(at('client.ts'), program)
  writeFileSync(at('wrong.ts'), WRONG)
  const typeRoots = [join(ROOT, 'node_modules', '@types')]
  writeFileSync(at('tsconfig.json'), JSON.stringify({ compilerOptions: { ...FLAGS, typeRoots }, files: ['client.ts', 'wrong.ts'] }))
  const compiled = await run(process.execPath, [TSC, '-p', folder.path]).catch(({ stdout }) => ({ stdout }))
  expect(compiled.stdout).toBe('')

  const { stdout } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', at('client.ts')], {
    env: { ...process.env, COUNTERSIGN_URL: server.url, AGENT_KEY: agentKey, PERSON_KEY: personKey },
  })
  expect(stdout.trim().split('\n')).toEqual([
    expect.stringContaining('refund 4711'),
    "[ 'Ada' ]",
    'succeeded { id: 4 }',
    'approved Ada',
    'already_decided succeeded',
  ])
  expect(target.writes).toHaveLength(1)
})
