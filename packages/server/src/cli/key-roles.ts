import { resolve } from 'node:path'
import { type Environment, findConfig, loadConfig } from '../config/index.ts'
import {
  type RoleNames,
  requireKnownRoles as requireNamed,
  rolesInDatabase,
  rolesInPolicy,
  rolesOfSignIn,
} from '../identity/known-roles.ts'
import type { Store } from '../store/index.ts'

/**
 * Refuses a role that nobody has and that neither the policy nor the configuration names.
 * @param store Undefined where there is no database yet.
 * @throws Error
 */
export async function requireKnownRoles(wanted: readonly string[], environment: Environment, store?: Store): Promise<void> {
  let unread: string | undefined
  /** A configuration that cannot be used here names no roles: this command does not need one. */
  const inConfig = async (): Promise<RoleNames> => {
    const file = environment.COUNTERSIGN_CONFIG ?? (await findConfig(resolve('.')).catch(() => undefined))
    const config = file === undefined ? undefined : await loadConfig(file, environment).catch(() => undefined)
    if (!config) {
      unread = file
      return { text: '', roles: [] }
    }
    await config.close()
    const { policy, signIn } = config
    const given = rolesOfSignIn(signIn)
    return { text: JSON.stringify([policy, given.roles]), roles: [...rolesInPolicy(policy), ...given.roles] }
  }
  try {
    await requireNamed(wanted, [...(store ? [() => rolesInDatabase(store)] : []), inConfig])
  } catch (error) {
    if (unread === undefined || !(error instanceof Error)) throw error
    throw new Error(`${error.message} (${unread} could not be used: see countersign doctor)`, { cause: error })
  }
}
