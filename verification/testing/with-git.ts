import { execFileSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { tempFolder } from './workspace.ts'

/** Runs `work` with a git that does `script` in place of one command; `$git` runs the real one. */
export async function withGit<T>(command: string, script: string, work: () => Promise<T>): Promise<T> {
  using outside = tempFolder()
  const { PATH = '' } = process.env
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const lines = [`git="${real}"`, 'for arg; do', `  if [ "$arg" = ${command} ]; then ${script}; fi`, 'done', 'exec "$git" "$@"']
  outside.write('git', ['#!/bin/sh', ...lines, ''].join('\n'))
  chmodSync(join(outside.root, 'git'), 0o755)
  try {
    process.env.PATH = `${outside.root}:${PATH}`
    return await work()
  } finally {
    process.env.PATH = PATH
  }
}
