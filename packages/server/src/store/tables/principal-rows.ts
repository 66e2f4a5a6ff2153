import type { PrincipalKind } from '@countersign/core'

export interface PrincipalRow {
  id: string
  kind: PrincipalKind
  name: string
  roles: string
  /** The person behind it: its own id for a person, the owner of an agent or a service. */
  person_id: string | null
  /** A disabled person can sign in nowhere, and none of their votes and credentials counts. */
  disabled_at: number | null
  disabled_by: string | null
  /** JSON: which of `roles` the sign-in service gave; null for a principal that has never used one. */
  provided_roles: string | null
  /** The name that an agent's keys prove; null for persons and services, and for agents from before names were stored. */
  agent: string | null
  /** Of a person that only embed tokens identify: the service that vouches for them. */
  host_id: string | null
  created_at: number
}

export interface ApiKeyRow {
  id: string
  principal_id: string
  name: string
  hash: string
  created_by: string | null
  /** JSON: which of its principal's roles it carries; null for all of them. */
  roles: string | null
  /** JSON: the scopes that it is limited to; null for everything. */
  scopes: string | null
  expires_at: number | null
  revoked_at: number | null
  revoked_by: string | null
  /** To the minute. */
  last_used_at: number | null
  /** When its person accepted it, or when it was created if no acceptance is needed. Without it, a person's key can only read. */
  accepted_at: number | null
  /** JSON: the roles that its embed tokens may carry; null for a key that makes none. */
  embed_roles: string | null
  created_at: number
}

/** A short-lived token that a host's server made for one of its own people. */
export interface EmbedTokenRow {
  id: string
  hash: string
  /** The host's key: its tokens end with it. */
  key_id: string
  principal_id: string
  /** JSON. */
  roles: string
  created_at: number
  expires_at: number
}

/** A person's session at a console. */
export interface ConsoleSessionRow {
  id: string
  principal_id: string
  /** Hash of the secret in its cookie, and of the previous one. */
  hash: string
  earlier_hash: string | null
  how: 'local' | 'key' | 'oidc'
  /** Hash of the key that opened it: it ends with that key. */
  key_hash: string | null
  id_token: string | null
  created_at: number
  /** To the minute. */
  seen_at: number
  rotated_at: number
  /** When the newest secret was first sent back; null until then. */
  used_at: number | null
  ended_at: number | null
}

/** A delegation: who votes in whose place, and until when. */
export interface DelegationRow {
  id: string
  from_id: string
  to_id: string
  reason: string | null
  made_by: string
  expires_at: number
  revoked_at: number | null
  revoked_by: string | null
  created_at: number
}
