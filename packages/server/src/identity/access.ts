import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * `public`: the route answers without sign-in. `probe`: the same, and credentials are ignored. A route without this option refuses
     * every unauthenticated request.
     */
    access?: 'public' | 'probe'
    /** The header with the key, in place of Authorization and of every other way to sign in. */
    keyHeader?: string
  }
}

/** The largest body of an unauthenticated request: every public route takes less. */
const MAX_PUBLIC_BODY_BYTES = 32 * 1024

/**
 * Options of a route that answers without a key. The access test lists these routes by name.
 * @example
 * app.get('/healthz', { ...PUBLIC, schema }, async () => ({ status: 'ok' }))
 */
export const PUBLIC = { config: { access: 'public' }, bodyLimit: MAX_PUBLIC_BODY_BYTES } as const

/** Options of a health check: it answers at once while the database, which has the credentials, is unreachable. */
export const PROBE = { config: { access: 'probe' } } as const

/** Registers plugins whose routes are all public. Their decorators stay inside. */
export async function registerPublic(app: FastifyInstance, register: (scope: FastifyInstance) => Promise<void>): Promise<void> {
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, ...PUBLIC.config }
    })
    await register(scope)
  })
}
