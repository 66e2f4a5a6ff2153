import { posix } from 'node:path'
import type { JsonObject } from '@countersign/core'
import { aroundOf, isAlikeAround } from './around-call.ts'
import { decidesLater } from './assess.ts'

/** Names that every file system reads alike and that hide nothing; none begins with a dot. */
const PLAIN = /^[A-Za-z0-9_@+-][A-Za-z0-9_.@+ -]*$/

/** True for a file that a condition of a grant may cover: its path is one of plain names in the folder, and it decides nothing that runs later. */
export function isPlainFile({ path, folder, outside, sensitive }: JsonObject): boolean {
  if (typeof path !== 'string' || typeof folder !== 'string' || outside !== false || sensitive !== false) return false
  const inside = path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path
  return inside.split('/').every((name) => PLAIN.test(name)) && !decidesLater(inside)
}

/**
 * The narrowest condition that covers changes of files like the first of these: in the folder that all of them are in, by the same tool of
 * the host with the same options. Undefined for a file that no condition covers.
 * @param calls The arguments of calls of one tool that needed approval and were not declined.
 */
export function fileRule(calls: readonly JsonObject[]): string | undefined {
  const [first] = calls
  const around = first && isPlainFile(first) ? aroundOf(first) : undefined
  if (!first || !around) return undefined
  const alike = calls.filter((call) => isPlainFile(call) && isAlikeAround(call, first))
  const [folder, ...others] = alike.map(({ path }) => posix.dirname(String(path)).split('/'))
  const shared = (folder ?? []).filter((_, at, all) =>
    others.every((other) => all.slice(0, at + 1).every((name, place) => other[place] === name)),
  )
  const begins = shared.join('/')
  // A relative path of a file that is in the folder itself has nothing to begin with.
  return begins === '' || begins === '.' ? undefined : [...around, `args.path.startsWith(${JSON.stringify(`${begins}/`)})`].join(' && ')
}
