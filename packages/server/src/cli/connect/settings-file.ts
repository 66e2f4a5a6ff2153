import { existsSync } from 'node:fs'
import type { JsonObject } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import type { HookHost } from '../../coding-agent/index.ts'
import { isOurs } from './settings.ts'
import { placeOf, readWhole } from './whole-file.ts'

/** A settings file before and after; undefined when it does not exist. */
export interface SettingsChange {
  before: string | undefined
  after: string | undefined
}

/** Hooks of a host, by event. */
export type Hooks = Readonly<Record<string, JsonObject[]>>

/** A settings file that is not plain JSON: its comments would be lost. */
export class NotPlainJson extends Error {}

/**
 * Returns the file with our hooks in place of those that an earlier run wrote, or without them.
 * @throws NotPlainJson
 */
export function changeSettings(file: string, host: HookHost, empty: JsonObject, hooks: Hooks | undefined): SettingsChange {
  const before = existsSync(file) ? readWhole(file) : undefined
  const settings = before === undefined || before.trim() === '' ? empty : parse(before)
  if (settings === undefined) {
    const byHand =
      hooks === undefined
        ? 'remove the hooks of Countersign from it by hand'
        : `add the hooks by hand. countersign connect ${host} --print shows them`
    throw new NotPlainJson(`${file} is not plain JSON: ${byHand}.`)
  }
  const found = settings.hooks ?? {}
  if (!isObject(found)) throw new Error(`${file}: "hooks" is no object, so nothing can be added to it`)
  const kept = Object.entries(found).flatMap(([event, entries]) => {
    const others = Array.isArray(entries) ? entries.filter((entry) => !isOurs(entry, host)) : entries
    return Array.isArray(others) && others.length === 0 && Array.isArray(entries) && entries.length > 0 ? [] : [[event, others] as const]
  })
  const merged: JsonObject = Object.fromEntries(kept)
  for (const [event, entries] of Object.entries(hooks ?? {})) {
    const others = merged[event] ?? []
    if (!Array.isArray(others)) throw new Error(`${file}: "hooks.${event}" is no list, so nothing can be added to it`)
    merged[event] = [...others, ...entries]
  }
  const { hooks: _, ...rest } = settings
  const after: JsonObject = { ...rest, ...(Object.keys(merged).length > 0 && { hooks: merged }) }
  // A file behind a link was not made here, so an empty one stays.
  const isEmpty = hooks === undefined && JSON.stringify(after) === JSON.stringify(empty) && placeOf(file) === file
  return { before, after: isEmpty ? undefined : `${JSON.stringify(after, null, 2)}\n` }
}

function parse(text: string): JsonObject | undefined {
  try {
    const read: unknown = JSON.parse(text)
    return isObject(read) ? read : undefined
  } catch {
    return undefined
  }
}

/** The lines that differ, with those around them. */
export function showChange({ before = '', after = '' }: SettingsChange): string[] {
  const [old, now] = [before, after].map((text) => text.replace(/\n$/, '').split('\n')) as [string[], string[]]
  let head = 0
  while (head < Math.min(old.length, now.length) && old[head] === now[head]) head++
  let tail = 0
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  const marked = (sign: string, lines: readonly string[]) =>
    lines.filter((line, _at, all) => all.length > 1 || line !== '').map((line) => sign + line)
  return [
    ...marked('  ', old.slice(Math.max(head - 2, 0), head)),
    ...marked('- ', old.slice(head, old.length - tail)),
    ...marked('+ ', now.slice(head, now.length - tail)),
    ...marked('  ', old.slice(old.length - tail, old.length - tail + 2)),
  ]
}
