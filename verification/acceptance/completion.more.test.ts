import { execFileSync, spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { runCommandLine } from '../testing/run-command.ts'

test.each(['bash', 'zsh', 'fish'])('`completion %s` names every command and their options', async (shell) => {
  const { code, stdout } = await runCommandLine(['completion', shell], {})
  expect(code).toBe(0)
  for (const word of ['inbox', 'approve', 'run', 'completion', 'key-file']) expect(stdout).toContain(word)
})

test('bash completes commands, commands of commands, and options', async () => {
  const { stdout: script } = await runCommandLine(['completion', 'bash'], {})
  const complete = (...words: string[]) => {
    const line = `COMP_WORDS=(countersign ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _countersign; echo "\${COMPREPLY[*]}"`
    return execFileSync('bash', ['-c', `${script}\n${line}`], { encoding: 'utf8' }).trim()
  }
  expect(complete('in')).toBe('init inbox')
  expect(complete('approve', '--rea')).toBe('--reason')
  expect(complete('policy', 'te')).toBe('test')
  expect(complete('--url', 'http://x', 'inbox', '--as')).toBe('--ask')
})

/** A test of a shell that is not installed everywhere. */
function inShell(shell: string) {
  const isThere = spawnSync(shell, ['--version']).status === 0
  if (!isThere) console.warn(`left out: the completion in ${shell}, which is not installed`)
  return test.skipIf(!isThere)
}

inShell('zsh')('zsh completes commands, commands of commands, and options', async () => {
  const { stdout: script } = await runCommandLine(['completion', 'zsh'], {})
  // Outside of its editor, zsh has neither command: this one prints what may come next.
  const stubs = 'compdef() { :; }; compadd() { shift; print -r -- "$@"; }'
  const complete = (...words: string[]): string[] => {
    const line = `words=(countersign ${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length + 1}; _countersign`
    const next = execFileSync('zsh', ['-f', '-c', `${stubs}\n${script}\n${line}`], { encoding: 'utf8' })
      .trim()
      .split(' ')
    return next.filter((word) => word.startsWith(words.at(-1) ?? ''))
  }
  expect(complete('in')).toEqual(['init', 'inbox'])
  expect(complete('approve', '--rea')).toEqual(['--reason'])
  expect(complete('policy', 'te')).toEqual(['test'])
  expect(complete('--url', 'http://x', 'inbox', '--as')).toEqual(['--ask'])
})

inShell('fish')('fish completes commands, commands of commands, and options', async () => {
  const { stdout: script } = await runCommandLine(['completion', 'fish'], {})
  const complete = (line: string): string[] =>
    execFileSync('fish', ['-c', `${script}\ncomplete -C '${line}'`], { encoding: 'utf8' })
      .trim()
      .split('\n')
  expect(complete('countersign in')).toEqual(['inbox', 'init'])
  expect(complete('countersign approve --rea')).toEqual(['--reason'])
  expect(complete('countersign policy te')).toEqual(['test'])
  expect(complete('countersign --url http://x inbox --as')).toEqual(['--ask'])
})
