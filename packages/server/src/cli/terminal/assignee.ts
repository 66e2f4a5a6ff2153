import type { Action, Principal } from '@countersign/core'

type Assigned = Pick<Action, 'assignment'>
type Me = Pick<Principal, 'id'>

/** Longer names would push the description out of the line. */
const MAX_CHARS = 20

/** "you", "Ben" or "role finance", with names in quotes, so that nobody is called *you*; undefined for nobody in particular. */
export function assigneeText({ assignment }: Assigned, me: Me): string | undefined {
  if (!assignment) return undefined
  if ('role' in assignment) return `role ${quote(assignment.role)}`
  return assignment.person.id === me.id ? 'you' : quote(assignment.person.name)
}

/** The assignee as a line of the list begins with it; empty for nobody in particular. */
export function rowMark(action: Assigned, me: Me): string {
  const text = assigneeText(action, me)
  return text === undefined ? '' : `(assigned to ${text}) `
}

export const isMine = ({ assignment }: Assigned, me: Me): boolean =>
  !!assignment && 'person' in assignment && assignment.person.id === me.id

function quote(name: string): string {
  const chars = [...name]
  return JSON.stringify(chars.length > MAX_CHARS ? `${chars.slice(0, MAX_CHARS).join('')}…` : name)
}
