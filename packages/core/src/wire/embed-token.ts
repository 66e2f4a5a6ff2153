import { z } from 'zod'
import { Duration } from './duration.ts'
import { Principal } from './principal.ts'

/** The longest lifetime of an embed token, and the default. */
export const EMBED_TOKEN_MAX_MS = 3_600_000
const EMBED_TOKEN_DEFAULT = 'PT15M'

const HostId = z.string().trim().min(1).max(200)

/** A request of a host's server for a token of one of its own people. */
export const EmbedTokenBody = z.strictObject({
  /** The host's own id of the person: the same id is the same person. With `name`, how people here read who it is; default the id. */
  person: z.union([HostId, z.strictObject({ id: HostId, name: z.string().trim().min(1).max(120).optional() })]),
  /** The roles that the person has at the host now; each must be one that the key may give. */
  roles: z.array(z.string().min(1).max(64)).max(32),
  /** At most one hour. */
  expiresIn: Duration.default(EMBED_TOKEN_DEFAULT),
})
export type EmbedTokenBody = z.input<typeof EmbedTokenBody>

/** `token` is null, and `message` says why, when the request repeats one with the same Idempotency-Key. */
export const EmbedToken = z.object({
  token: z.string().nullable(),
  message: z.string().optional(),
  principal: Principal,
  expiresAt: z.string(),
})
export type EmbedToken = z.infer<typeof EmbedToken>
