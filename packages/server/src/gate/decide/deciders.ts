import { CountersignError, meetsRoles, type Requires } from '@countersign/core'
import { type ActionRow, principals, stored, type Tx } from '../../store/index.ts'
import { excludedBy, holdsNow, rolesText, withRoles } from './rights.ts'

/**
 * Refuses an edit after which each voter needs a role of several lists, where fewer people have that than it needs votes of: nobody could
 * approve it, nor decline it. Somebody who never signed in here is not known.
 * @param edited The action with its edit.
 * @throws CountersignError `forbidden`.
 */
export function* requireDeciders(edited: ActionRow): Tx<void> {
  const { escalation, ...requires }: Requires = stored.requirementsOf(edited)
  if (requires.alsoRoles === undefined) return
  const asked = escalation ? withRoles(requires, escalation.roles) : requires
  let able = 0
  for (const { roles, people } of yield* principals.countByRoles.all({})) if (meetsRoles(JSON.parse(roles), asked)) able += Number(people)
  for (const id of yield* excludedBy(requires, edited)) if (yield* holdsNow(id, asked)) able--
  if (able >= requires.quorum) return
  const who = able === 0 ? 'nobody' : `${able} of the people`
  throw new CountersignError(
    'forbidden',
    `action ${edited.id} was not changed: as an edit it needs ${requires.quorum === 1 ? 'the vote of somebody' : `the votes of ${requires.quorum} people`} with the role ${rolesText(asked)}, and ${who} known here can give one. Decline it, and have it proposed as you want it.`,
  )
}
