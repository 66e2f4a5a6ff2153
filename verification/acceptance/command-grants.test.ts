import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { FOLDER, startCodingAgent } from '../testing/coding-agent.ts'

async function start() {
  const { propose, ...others } = await startCodingAgent()
  let calls = 0
  return {
    ...others,
    propose: (command: string, more: object = {}): Promise<Action> =>
      // The description is the model's own and another one each time.
      propose('host.shell', { hostTool: 'Bash', command, options: { description: `Call ${++calls}` }, ...more }),
  }
}

/** What a shell does more with than with `git status`, or does somewhere else. */
const HOSTILE = [
  'git status; rm -rf /',
  'git status ; npm publish',
  'git status && npm publish',
  'git status || npm publish',
  'git status | tee x',
  'git status & npm publish',
  'git status &',
  'git status\nnpm publish',
  'git status\rnpm publish',
  'git status\u2028npm publish',
  'git status $(npm publish)',
  'git status `npm publish`',
  'git status <(npm publish)',
  'git status > .git/config',
  'git status >> x',
  'git status 2>&1',
  'git status < x',
  'git status # x',
  'git status $HOME',
  'git status ~',
  'git status *',
  'git status {a,b}',
  'git status !!',
  'git status %PATH%',
  "git 'status; npm publish'",
  'git "status"',
  "git $'status'",
  'git sta\\tus',
  'git \\\nstatus',
  'git\u00a0status',
  'git\tstatus',
  'git  status',
  'PAGER=sh git status',
  'GIT_DIR=x git status',
  'A=1 git status',
  'env git status',
  'command git status',
  'git -c core.pager=sh status',
  'git -C .. status',
  'git --exec-path=. status',
  'git status --porcelain',
  'git status-x',
  'g\u0456t status',
  'git st\u0430tus',
  'git\u200b status',
  'git status\u200b',
  'GIT status',
  './git status',
  '/tmp/git status',
  'alias git=npm; git status',
  'git() { npm publish; }; git status',
  '(git status)',
  '{ git status; }',
  'if git status; then npm publish; fi',
  'eval git status',
  'sh -c "git status"',
]

test('a grant for one command covers that command in that folder, with any description, and nothing that looks like it', async () => {
  const desk = await start()
  const first = await desk.propose('git status')
  const { rule } = await desk.suggest(first)
  await desk.grant(first, rule?.when ?? '')
  expect((await desk.propose('git status')).state).toBe('approved')
  for (const command of HOSTILE) expect([command, (await desk.propose(command)).state]).toEqual([command, 'proposed'])
  for (const more of [
    { folder: `${FOLDER}/x` },
    { folder: '/home/ana' },
    { folder: `${FOLDER}/../other` },
    { host: 'codex' },
    { hostTool: 'Other' },
    { options: {} },
    { options: { run_in_background: true } },
    { options: { description: 'x', dangerouslyDisableSandbox: true } },
  ])
    expect([more, (await desk.propose('git status', more)).state]).toEqual([more, 'proposed'])
})

test('the options of the program are part of what a rule covers: a time limit is, another one is not', async () => {
  const desk = await start()
  const options = { description: 'Builds', timeout: 120_000, run_in_background: false }
  const first = await desk.propose('npm run build', { options })
  const { rule } = await desk.suggest(first)
  await desk.grant(first, rule?.when ?? '')
  expect((await desk.propose('npm run build', { options: { ...options, description: 'Builds again' } })).state).toBe('approved')
  for (const other of [{ timeout: 600_000 }, { timeout: '120000' }, { run_in_background: true }, { sandbox: false }])
    expect([other, (await desk.propose('npm run build', { options: { ...options, ...other } })).state]).toEqual([other, 'proposed'])
})

test('a condition that people write themselves covers only commands of plain words: no operator, quote, variable or line break', async () => {
  const desk = await start()
  await desk.grant(await desk.propose('git status'), 'args.command.contains("git") || args.command.contains("npm")')
  expect((await desk.propose('git status --short')).state).toBe('approved')
  const plain = HOSTILE.filter((command) => /^[\w./=-]+( [\w./=-]+)*$/.test(command) && !/^\w+=/.test(command))
  for (const command of HOSTILE.filter((one) => !plain.includes(one)))
    expect([command, (await desk.propose(command)).state]).toEqual([command, 'proposed'])
  expect(plain.length).toBeLessThan(HOSTILE.length / 4)
})

test('a condition made from a command that is not plain is refused with what to do, and nothing is granted or approved', async () => {
  const desk = await start()
  for (const command of ['git status && npm test', 'git commit -m "x"', 'npm test | tee out']) {
    const action = await desk.propose(command)
    for (const { status, body } of await desk.tryGrant(action, { when: 'args.command.contains("git")' })) {
      expect([command, status, body.code]).toEqual([command, 400, 'bad_request'])
      expect(body.detail).toContain('exact')
    }
    expect((await desk.read(action)).state).toBe('proposed')
  }
  expect(await desk.grants()).toEqual([])
  // The refusal advises `exact`: a grant with it covers the command.
  const action = await desk.propose('git status && npm test', { options: {} })
  const answers = await desk.tryGrant(action, { exact: true })
  expect(answers.map(({ status }) => status)).toEqual([201, 200])
  expect((await desk.propose('git status && npm test', { options: {} })).state).toBe('approved')
})

test('a rule for commands that differ in one word fits its kind: a number, one that was approved, a file of the folder', async () => {
  const cases: { seen: string[]; covered: string[]; asked: string[] }[] = [
    {
      seen: ['gh pr view 7', 'gh pr view 12'],
      covered: ['gh pr view 0', 'gh pr view 99'],
      asked: [
        'gh pr view 100',
        'gh pr view -1',
        'gh pr view 07',
        'gh pr view 0x1',
        'gh pr view 1e1',
        'gh pr view 7 --web',
        'gh pr view',
        'gh pr close 7',
      ],
    },
    {
      seen: ['npm run lint', 'npm run test', 'npm run lint', 'npm run test'],
      covered: ['npm run lint', 'npm run test'],
      asked: ['npm run lin', 'npm run deploy', 'npm run lint test', 'npm ru test', 'npm run --prefix=x'],
    },
    {
      seen: ['git add src/a.ts', 'git add src/b/c.ts'],
      covered: ['git add src/x/y-1.ts'],
      asked: [
        'git add src/a.js',
        'git add test/a.ts',
        'git add src/../x.ts',
        'git add src/.git/x.ts',
        'git add src//etc/x.ts',
        'git add -f',
        'git add /src/a.ts',
      ],
    },
  ]
  for (const { seen, covered, asked } of cases) {
    const desk = await start()
    const proposed: Action[] = []
    for (const command of seen) {
      const action = await desk.propose(command)
      proposed.push(action)
      if (proposed.length < seen.length) await desk.approve(action)
    }
    const last = proposed.at(-1) as Action
    const { rule } = await desk.suggest(last)
    expect(rule, seen.join()).not.toBeNull()
    await desk.grant(last, rule?.when ?? '')
    for (const command of [...seen, ...covered]) expect([command, (await desk.propose(command)).state]).toEqual([command, 'approved'])
    for (const command of asked) expect([command, (await desk.propose(command)).state]).toEqual([command, 'proposed'])
  }
})

test('no rule is suggested for a program that runs what the word names, nor for a command that is not plain', async () => {
  const desk = await start()
  for (const commands of [
    ['node src/a.js', 'node src/b.js'],
    ['npx src/a.js', 'npx src/b.js'],
  ]) {
    const [first, second] = [await desk.propose(commands[0] ?? ''), await desk.propose(commands[1] ?? '')]
    await desk.approve(first)
    expect((await desk.suggest(second)).rule?.when, commands[1]).toContain(JSON.stringify(commands[1]))
  }
  for (const command of ['git status && npm test', 'git commit -m "x"', 'npm test > out'])
    expect([command, (await desk.suggest(await desk.propose(command))).rule]).toEqual([command, null])
})
