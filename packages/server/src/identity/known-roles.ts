import { CountersignError } from '@countersign/core'
import { policyVersions, principals, type Store } from '../store/index.ts'

const BUILT_IN = ['admin', 'approver', 'viewer', 'member', 'agent', 'monitor']

/** A place that names roles: its text, JSON in which a condition of the policy may quote one too, and the roles that it lists. */
export interface RoleNames {
  text: string
  roles: readonly string[]
}

/**
 * Refuses a misspelt role: a key or a person with it could do nothing, and nobody would be told.
 * @param places Read in turn, until every wanted role was found.
 * @throws CountersignError `invalid_arguments` for a role that is not built in and that no place names; it lists the known roles.
 */
export async function requireKnownRoles(
  wanted: readonly string[],
  places: readonly (() => RoleNames | Promise<RoleNames>)[],
): Promise<void> {
  let unknown = wanted.filter((role) => !BUILT_IN.includes(role))
  const known = new Set(BUILT_IN)
  for (const read of places) {
    if (unknown.length === 0) return
    const { text, roles } = await read()
    for (const role of roles) known.add(role)
    unknown = unknown.filter((role) => !new RegExp(`["']${RegExp.escape(role)}\\\\?["']`).test(text))
  }
  const [first] = unknown
  if (first === undefined) return
  throw new CountersignError(
    'invalid_arguments',
    `there is no role ${first}; roles are ${[...known].join(', ')}. For another group, name it in a rule of the policy first`,
  )
}

/** The roles that somebody has, and those that the policy in force or on trial names. */
export async function rolesInDatabase(store: Store): Promise<RoleNames> {
  const lists = await store.read(() => principals.listRoles.all({}))
  const held = lists.flatMap(({ roles }): string[] => JSON.parse(roles))
  const inUse = await store.read(() => policyVersions.inUse.all({}))
  const versions = await Promise.all(inUse.map(({ number }) => store.read(() => policyVersions.findVersion.first({ number }))))
  const documents = versions.flatMap((version) => version?.document ?? [])
  return {
    text: [JSON.stringify(held), ...documents].join('\n'),
    roles: [...held, ...documents.flatMap((text) => rolesInPolicy(JSON.parse(text)))],
  }
}

interface GivesRoles {
  roles: Readonly<Record<string, readonly string[]>>
  everyone: readonly string[]
}

/** The groups that a sign-in service knows, and the roles that it gives. */
export function rolesOfSignIn(signIn: GivesRoles | undefined): RoleNames {
  const roles = [...Object.keys(signIn?.roles ?? {}), ...Object.values(signIn?.roles ?? {}).flat(), ...(signIn?.everyone ?? [])]
  return { text: JSON.stringify(roles), roles }
}

interface WithRoles {
  rules: readonly {
    requires?: { roles?: readonly string[] | undefined } | undefined
    escalate?: { roles: readonly string[] } | undefined
  }[]
}

/** The roles whose members the rules of a policy ask. */
export const rolesInPolicy = ({ rules }: WithRoles): string[] =>
  rules.flatMap(({ requires, escalate }) => [...(requires?.roles ?? []), ...(escalate?.roles ?? [])])
