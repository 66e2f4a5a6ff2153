import type { Action } from '../wire/action.ts'

/** Returns the source of a risk level. The server's default for writes is medium; any other unverified level is a guess. */
export function riskSource({ setBy, level }: Action['risk']): string {
  if (setBy === 'policy') return 'set by policy'
  if (setBy === 'tool') return "set by the tool's author"
  return level === 'medium' ? 'default for writes' : 'guessed, not verified'
}
