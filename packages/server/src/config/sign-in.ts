import { z } from 'zod'
import { ConfigError } from './config-error.ts'
import { type Environment, fill, refuseVariables } from './environment.ts'
import type { Settings } from './settings.ts'

const Role = z.string().min(1).max(64)

/** How people sign in at the console, besides with a key. */
export const SignInSection = z.strictObject({
  /** The OpenID Connect provider. */
  oidc: z.strictObject({
    /** The address that names the provider; `/.well-known/openid-configuration` under it is read. */
    issuer: z.string().min(1).optional(),
    /** The id of this server at the provider. */
    clientId: z.string().min(1).optional(),
    /** From the environment: `${NAME}`. Without one the client is a public one, with PKCE alone. */
    clientSecret: z.string().min(1).optional(),
    /** The scopes to request. */
    scopes: z.string().min(1).default('openid profile email'),
    /** The claim with the groups of a person. */
    groupsClaim: z.string().min(1).default('groups'),
    /** The built-in roles of a group's members. A group is also a role under its own name. */
    roles: z.record(z.string(), z.union([Role.transform((role) => [role]), z.array(Role)])).default({}),
    /** The roles of everybody who can sign in. */
    everyone: z.array(Role).default([]),
  }),
})

/** A complete sign-in service. */
export interface OidcSettings {
  issuer: string
  clientId: string
  clientSecret: string | undefined
  scopes: string
  groupsClaim: string
  roles: Readonly<Record<string, readonly string[]>>
  everyone: readonly string[]
}

type Report = (problem: { path: readonly PropertyKey[]; message: string }) => void

/** Returns the section with its secret from the environment. */
export function fillSignIn(section: z.output<typeof SignInSection>, environment: Environment, report: Report): SignIn {
  const { clientSecret, ...shown } = section.oidc
  const path = ['signIn', 'oidc']
  refuseVariables(shown, path, report)
  if (clientSecret === undefined) return shown
  const place = [...path, 'clientSecret']
  if (!/^\$\{\w+\}$/.test(clientSecret)) report({ path: place, message: `must come from the environment: write \${NAME}` })
  return { ...shown, clientSecret: fill(clientSecret, place, environment, report) }
}

/** The sign-in settings of a configuration file. */
export type SignIn = z.output<typeof SignInSection>['oidc']

/**
 * Returns the sign-in service of this process: flags, then environment, then the configuration file; undefined when none is named.
 * @throws ConfigError when it is incomplete, or its connection would not be encrypted.
 */
export function oidcOf({ oidc: given }: Pick<Settings, 'oidc'>, section: SignIn | undefined): OidcSettings | undefined {
  const issuer = given.issuer ?? section?.issuer
  const clientId = given.clientId ?? section?.clientId
  const clientSecret = given.clientSecret ?? section?.clientSecret
  if (issuer === undefined && clientId === undefined && clientSecret === undefined && section === undefined) return undefined
  const fault = (name: string, message: string) => new ConfigError(undefined, [{ path: [name], message }])
  if (issuer === undefined) throw fault('COUNTERSIGN_OIDC_ISSUER', 'is needed to sign people in')
  if (clientId === undefined) throw fault('COUNTERSIGN_OIDC_CLIENT_ID', 'is needed to sign people in')
  if (!isSafe(issuer)) throw fault('COUNTERSIGN_OIDC_ISSUER', 'must be an https:// address')
  return {
    scopes: section?.scopes ?? 'openid profile email',
    groupsClaim: section?.groupsClaim ?? 'groups',
    roles: section?.roles ?? {},
    everyone: section?.everyone ?? [],
    issuer,
    clientId,
    clientSecret,
  }
}

/** Returns true for https, or a provider on this machine. */
function isSafe(issuer: string): boolean {
  if (!URL.canParse(issuer)) return false
  const { protocol, hostname } = new URL(issuer)
  return protocol === 'https:' || (protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname))
}
