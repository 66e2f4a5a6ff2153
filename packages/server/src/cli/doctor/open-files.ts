import { statSync } from 'node:fs'
import type { SourceFinding } from '@countersign/toolkit'
import type { ConfigFile } from '../../config/index.ts'
import { problem } from './check.ts'

const WRITTEN_BY_OTHERS = 0o002

/** Reports every file of a configuration that any user of the machine may change. Group members are not others: many systems give each user a group. */
export function findOpenFiles(files: readonly ConfigFile[]): SourceFinding[] {
  if (process.platform === 'win32') return []
  // The policy is also a file that the configuration names.
  const names = new Map(files.toReversed().map(({ path, what }) => [path, what]))
  return [...names].flatMap(([path, what]) => {
    const found = statSync(path, { throwIfNoEntry: false })
    return found && (found.mode & WRITTEN_BY_OTHERS) !== 0
      ? [problem(`every user of this machine can change ${what} (${path}): run chmod o-w on it`)]
      : []
  })
}
