import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { FOLDER, startCodingAgent } from '../testing/coding-agent.ts'

async function start() {
  const { propose, ...others } = await startCodingAgent()
  let edits = 0
  return {
    ...others,
    edit: (path: string, more: object = {}): Promise<Action> =>
      propose('host.edit', { hostTool: 'Edit', path, oldText: 'a', newText: `b${++edits}`, options: {}, ...more }),
    write: (path: string): Promise<Action> => propose('host.write', { hostTool: 'Write', path, content: `${++edits}`, options: {} }),
  }
}

/** Files that a path which begins like one of the folder leads to, or that decide what runs later. */
const HOSTILE = [
  `${FOLDER}/src/../.git/hooks/pre-commit`,
  `${FOLDER}/src/../../other/x.ts`,
  `${FOLDER}/src/./../test/x.ts`,
  `${FOLDER}/src//etc/x.ts`,
  `${FOLDER}/src/.env`,
  `${FOLDER}/src/.git/config`,
  `${FOLDER}/src/.hidden/x.ts`,
  `${FOLDER}/src/key.pem`,
  `${FOLDER}/src/package.json`,
  `${FOLDER}/src/Package.JSON`,
  `${FOLDER}/src/makefile`,
  `${FOLDER}/src/a.ts\n${FOLDER}/x`,
  `${FOLDER}/src/a\u202e.ts`,
  `${FOLDER}/src/\u0430.ts`,
  `${FOLDER}/src/~/x.ts`,
  `${FOLDER}/src/$HOME/x.ts`,
  `${FOLDER}/src`,
  `${FOLDER}/src/`,
  `${FOLDER}/srcx/a.ts`,
  `${FOLDER}/test/a.ts`,
  `${FOLDER}x/src/a.ts`,
  '/etc/src/a.ts',
  'src/a.ts',
]

test('a grant for files covers the folder of those that were approved, and no path that leads elsewhere', async () => {
  const desk = await start()
  await desk.approve(await desk.edit(`${FOLDER}/src/a.ts`))
  const second = await desk.edit(`${FOLDER}/src/deep/b.ts`)
  const { rule } = await desk.suggest(second)
  expect(rule?.when).toContain(`args.path.startsWith("${FOLDER}/src/")`)
  await desk.grant(second, rule?.when ?? '')
  for (const path of ['src/a.ts', 'src/new.ts', 'src/deep/er/c.test.ts']) {
    expect([path, (await desk.edit(`${FOLDER}/${path}`)).state]).toEqual([path, 'approved'])
  }
  for (const path of HOSTILE) expect([path, (await desk.edit(path)).state]).toEqual([path, 'proposed'])
  for (const more of [
    { folder: '/home/ana' },
    { folder: `${FOLDER}/src` },
    { host: 'cursor' },
    { hostTool: 'Other' },
    { options: { replace_all: true } },
  ])
    expect([more, (await desk.edit(`${FOLDER}/src/a.ts`, more)).state]).toEqual([more, 'proposed'])
  expect((await desk.write(`${FOLDER}/src/a.ts`)).state, 'another tool').toBe('proposed')
})

test('a condition that people write themselves covers no file outside of the project, and none that decides what runs later', async () => {
  const desk = await start()
  await desk.grant(await desk.write(`${FOLDER}/src/a.ts`), 'args.path.contains("src")')
  expect((await desk.write(`${FOLDER}/src/b.ts`)).state).toBe('approved')
  const inside = [`${FOLDER}/src`, `${FOLDER}/srcx/a.ts`, 'src/a.ts']
  for (const path of HOSTILE.filter((one) => !inside.includes(one)))
    expect([path, (await desk.write(path)).state]).toEqual([path, 'proposed'])
})

test('a condition made from a file that none covers is refused with what to do, and nothing is granted', async () => {
  const desk = await start()
  const action = await desk.write(`${FOLDER}/src/.hidden/x.ts`)
  for (const { status, body } of await desk.tryGrant(action, { when: 'args.path.contains("src")' })) {
    expect([status, body.code]).toEqual([400, 'bad_request'])
    expect(body.detail).toContain('exact')
  }
  expect([(await desk.read(action)).state, await desk.grants()]).toEqual(['proposed', []])
})
