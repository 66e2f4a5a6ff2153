import type { Action, Principal } from '@countersign/client'
import { showInvisible } from '@countersign/react'

/** "Assigned to you", "Assigned to Ben", "Assigned to finance"; empty for nobody in particular. */
export function assignedText({ assignment }: Pick<Action, 'assignment'>, me: Pick<Principal, 'id'>): string {
  if (!assignment) return ''
  if ('role' in assignment) return `Assigned to ${showInvisible(assignment.role)}`
  return `Assigned to ${assignment.person.id === me.id ? 'you' : showInvisible(assignment.person.name)}`
}
