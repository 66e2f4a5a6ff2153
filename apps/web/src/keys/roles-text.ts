import type { Key } from '@countersign/client'
import { showInvisible } from '@countersign/react'

/** Returns the roles that a key carries now: of those it was made for, the ones that its principal still has. */
export const carriedRoles = ({ roles, principal }: Pick<Key, 'roles' | 'principal'>): string[] =>
  principal.roles.filter((role) => roles?.includes(role) ?? true)

/** Returns `no roles`, `role approver` or `roles approver, legal`; the roles with `article` before them. */
export const rolesText = (roles: readonly string[], article = ''): string =>
  roles.length === 0 ? 'no roles' : `${article}${roles.length === 1 ? 'role' : 'roles'} ${showInvisible(roles.join(', '))}`
