import { resolve } from 'node:path'
import { type Environment, findConfig, loadConfig } from '../config/index.ts'
import { policyVersions, principals, type Store } from '../store/index.ts'

const BUILT_IN = ['admin', 'approver', 'viewer', 'member', 'agent', 'monitor']

/** A text that may name a role: JSON, in which a condition of the policy may quote one too. */
type Named = { text: string; roles: readonly string[]; unread?: string }

/**
 * Refuses a misspelt role: a key that has it could do nothing, and nobody would be told.
 * @param store Undefined where there is no database yet.
 * @throws Error for a role that is not built in, that nobody has, and that neither the policy nor the configuration names.
 */
export async function requireKnownRoles(wanted: readonly string[], environment: Environment, store?: Store): Promise<void> {
  let unknown = wanted.filter((role) => !BUILT_IN.includes(role))
  const groups = new Set<string>()
  const unread: string[] = []
  for (const read of [() => rolesInDatabase(store), () => rolesInConfig(environment)]) {
    if (unknown.length === 0) return
    const { text, roles, unread: file } = await read()
    for (const role of roles) groups.add(role)
    if (file !== undefined) unread.push(file)
    unknown = unknown.filter((role) => !new RegExp(`["']${RegExp.escape(role)}\\\\?["']`).test(text))
  }
  const [first] = unknown
  if (first === undefined) return
  const known = [...new Set([...BUILT_IN, ...groups])].join(', ')
  const hint = unread.map((file) => ` (${file} could not be used: see countersign doctor)`).join('')
  throw new Error(`there is no role ${first}; roles are ${known}. For another group, name it in a rule of the policy first${hint}`)
}

async function rolesInDatabase(store: Store | undefined): Promise<Named> {
  if (!store) return { text: '', roles: [] }
  const lists = await store.read(() => principals.listRoles.all({}))
  const held = lists.flatMap(({ roles }): string[] => JSON.parse(roles))
  const inUse = await store.read(() => policyVersions.inUse.all({}))
  const versions = await Promise.all(inUse.map(({ number }) => store.read(() => policyVersions.findVersion.first({ number }))))
  const documents = versions.flatMap((version) => version?.document ?? [])
  return {
    text: [JSON.stringify(held), ...documents].join('\n'),
    roles: [...held, ...documents.flatMap((text) => rolesIn(JSON.parse(text)))],
  }
}

/** A configuration that cannot be used here names no roles: this command does not need one. */
async function rolesInConfig(environment: Environment): Promise<Named> {
  const file = environment.COUNTERSIGN_CONFIG ?? (await findConfig(resolve('.')).catch(() => undefined))
  const config = file === undefined ? undefined : await loadConfig(file, environment).catch(() => undefined)
  if (!config) return { text: '', roles: [], ...(file !== undefined && { unread: file }) }
  await config.close()
  const { policy, signIn } = config
  const given = { ...signIn?.roles, everyone: signIn?.everyone ?? [] }
  return { text: JSON.stringify([policy, given]), roles: [...rolesIn(policy), ...Object.values(given).flat()] }
}

interface WithRoles {
  rules: readonly {
    requires?: { roles?: readonly string[] | undefined } | undefined
    escalate?: { roles: readonly string[] } | undefined
  }[]
}

const rolesIn = ({ rules }: WithRoles): string[] =>
  rules.flatMap(({ requires, escalate }) => [...(requires?.roles ?? []), ...(escalate?.roles ?? [])])
