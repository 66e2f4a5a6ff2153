import { expect, test } from 'vitest'
import { innerCommand } from './inputs.ts'

test.each([
  [`/bin/bash -lc 'ls -la'`, 'ls -la'],
  [`/bin/bash -lc "echo 'a b' > x"`, `echo 'a b' > x`],
  [String.raw`/bin/bash -lc "echo \$HOME \"q\" \\\\"`, String.raw`echo $HOME "q" \\`],
  [`/bin/zsh -lc 'it'"'"'s'`, `it's`],
  ['/usr/bin/sh -c ls', 'ls'],
])('the command in the shell of Codex is shown: %s', (command, inner) => {
  expect(innerCommand(command)).toBe(inner)
})

test.each([
  `/tmp/bash -lc 'ls'`,
  `bash -lc 'ls'`,
  `/bin/bash -lc 'ls' x`,
  `/bin/bash -lc 'ls'; rm -rf /`,
  `/bin/bash -lc 'ls' > x`,
  `A=1 /bin/bash -lc 'ls'`,
  `/bin/bash -lc "ls $X"`,
  `/bin/bash -lc`,
  `/bin/bash -lc 'ls`,
  '/bin/bash --rcfile x -c ls',
  'ls',
])('every other command stays as it is: %s', (command) => {
  expect(innerCommand(command)).toBe(command)
})
