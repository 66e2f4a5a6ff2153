import type { Action, AssignTo } from '../wire/index.ts'

/** The assignment of an action as a request names it; null for nobody in particular. */
export function assigneeOf({ assignment }: Pick<Action, 'assignment'>): AssignTo | null {
  if (!assignment) return null
  return 'role' in assignment ? { role: assignment.role } : { person: assignment.person.id }
}
