import type { JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { plainWords } from '../../coding-agent/shell/read-command.ts'

/** The command that Codex wraps in a shell, as its hooks name it. Any other command stays as it is. */
export function innerCommand(command: string): string {
  const [shell = '', option, text, ...rest] = plainWords(command)
  return /^\/(usr\/)?bin\/(ba|z)?sh$/.test(shell) && (option === '-lc' || option === '-c') && text && rest.length === 0 ? text : command
}

/** The changes of an item as the patch that Codex applies; undefined when they cannot be shown as one. */
export function patchOf(changes: JsonValue | undefined): string | undefined {
  if (!Array.isArray(changes) || changes.length === 0) return undefined
  const parts = changes.map(partOf)
  return parts.every((part) => part !== undefined) ? ['*** Begin Patch', ...parts, '*** End Patch'].join('\n') : undefined
}

function partOf(change: JsonValue): string | undefined {
  if (!isObject(change) || !isObject(change.kind) || !isPath(change.path) || typeof change.diff !== 'string') return undefined
  const { path, diff, kind } = change
  if (kind.type === 'add') return [`*** Add File: ${path}`, ...linesOf(diff).map((line) => `+${line}`)].join('\n')
  if (kind.type === 'delete') return [`*** Delete File: ${path}`, ...linesOf(diff).map((line) => `-${line}`)].join('\n')
  if (kind.type !== 'update') return undefined
  const moved = kind.move_path ?? null
  if (moved !== null && !isPath(moved)) return undefined
  // A line of a diff begins with what happens to it, so none can pass for the name of another file.
  const lines = linesOf(diff)
  if (lines.some((line) => !/^([-+ @\\]|$)/.test(line))) return undefined
  return [`*** Update File: ${path}`, ...(moved === null ? [] : [`*** Move to: ${moved}`]), ...lines].join('\n')
}

const isPath = (path: JsonValue | undefined): path is string => typeof path === 'string' && /^[^\u0000-\u001f\u007f]+$/.test(path)
const linesOf = (text: string): string[] => text.replace(/\n$/, '').split('\n')
