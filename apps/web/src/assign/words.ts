import type { Action, AssignTo, Principal } from '@countersign/client'
import { showInvisible } from '@countersign/react'

/** "Assigned to you", "Assigned to Ben", "Assigned to finance"; empty for nobody in particular. */
export function assignedText({ assignment }: Pick<Action, 'assignment'>, me: Pick<Principal, 'id'>): string {
  if (!assignment) return ''
  if ('role' in assignment) return `Assigned to ${showInvisible(assignment.role)}`
  return `Assigned to ${assignment.person.id === me.id ? 'you' : showInvisible(assignment.person.name)}`
}

/** The assignment as a request names it. */
export function assigneeOf({ assignment }: Pick<Action, 'assignment'>): AssignTo | null {
  if (!assignment) return null
  return 'role' in assignment ? { role: assignment.role } : { person: assignment.person.id }
}
