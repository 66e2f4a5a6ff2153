import { spawnSync } from 'node:child_process'
import type { JsonObject } from '@countersign/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isTrueOf } from '../../policy/index.ts'
import { commandRule, isPlainCommand } from './command-rule.ts'
import { readCommand } from './read-command.ts'

const FOLDER = '/home/ana/shop'

const argumentsOf = (command: string): JsonObject => ({
  ...{ host: 'claude', hostTool: 'Bash', folder: FOLDER, command, options: {} },
  shell: { ...readCommand(command, FOLDER) },
})

const callOf = (args: JsonObject) => ({
  tool: { name: 'host.shell', group: 'host', effect: 'write' as const, destination: 'local' },
  arguments: args,
  agent: 'claude',
  session: null,
  requester: { id: 'prn_bot', kind: 'agent' as const, name: 'bot', roles: [] },
  nowMs: 0,
})

/** Commands that were approved, and what the words of a covered one may be: a text is that word, a pattern its type. */
const GRANTS: { seen: string[]; words: (string | RegExp)[] }[] = [
  { seen: ['git status'], words: ['git', 'status'] },
  { seen: ['gh pr view 7', 'gh pr view 12'], words: ['gh', 'pr', 'view', /^(0|[1-9]\d?)$/] },
  { seen: ['npm run lint', 'npm run test', 'npm run lint', 'npm run test'], words: ['npm', 'run', /^(lint|test)$/] },
  {
    seen: ['git add src/a.ts', 'git add src/b/c.ts'],
    words: ['git', 'add', /^src\/(?!.*(\/\.|\.\.|\/\/))[A-Za-z0-9_./:@+,=-]*\.ts$/],
  },
]

/** Characters and words with a meaning of their own for a shell or a program: operators, expansions, options. */
const PIECES = [
  ...[';', '&', '&&', '|', '||', '>', '<', '>>', '2>&1', '<(x)', '$(x)', '`x`', '$x', '$HOME', '\n', '\r', '\t', '\0', '\\', '\\\n'],
  ...['*', '?', '[a]', '{a,b}', '~', '!', '!!', '#', "'", '"', "$'x'", '(', ')', '%', '^', '=', 'A=1 ', 'PATH=x '],
  ...[
    ' ',
    '  ',
    ' -f',
    ' --',
    ' -- ',
    '--',
    '-',
    '--output=x',
    ' -c x',
    '..',
    '../',
    '/',
    '//',
    './',
    '/.',
    '.git/',
    '.env',
    '.ts',
    '.pem',
  ],
  ...['\u00a0', '\u200b', '\u2028', '\u0430', '0', '9', '-1', '1e1', '0x1', 'src/', 'lint', 'test', 'deploy', 'x'],
]

test('whatever is put into a granted command: what the grant covers are its words, each of its type, and bash runs nothing else', () => {
  const covered = new Map<string, string[]>()
  for (const { seen, words } of GRANTS) {
    const rule = commandRule(seen.map(argumentsOf).reverse()) ?? ''
    const base = fc.constantFrom(...seen)
    const changes = fc.array(fc.record({ at: fc.nat(30), cut: fc.nat(3), piece: fc.constantFrom(...PIECES) }), { maxLength: 3 })
    fc.assert(
      fc.property(base, changes, (command, all) => {
        let text = command
        for (const { at, cut, piece } of all) text = text.slice(0, at) + piece + text.slice(at + cut)
        const args = argumentsOf(text)
        if (!isPlainCommand(args) || !isTrueOf(rule, callOf(args))) return
        const said = text.split(' ')
        expect(said.length, text).toBe(words.length)
        for (const [at, word] of words.entries()) expect(said[at], text).toMatch(typeof word === 'string' ? new RegExp(`^${word}$`) : word)
        covered.set(text, said)
      }),
      { numRuns: 4_000 },
    )
  }
  // More than the commands that were seen: the types let others through.
  expect(covered.size).toBeGreaterThan(20)
  const told =
    'tell() { printf "%s " "$#"; printf "%s\\037" "$@"; echo; }; git() { tell git "$@"; }; gh() { tell gh "$@"; }; npm() { tell npm "$@"; }'
  const { stdout, stderr } = spawnSync('bash', ['-c', [told, ...covered.keys()].join('\n')], { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(stdout.split('\n').slice(0, -1)).toEqual(
    [...covered.values()].map((words) => `${words.length} ${words.map((word) => `${word}\u001f`).join('')}`),
  )
})
