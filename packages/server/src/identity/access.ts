import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * `public`: anybody may ask without signing in. `probe`: the same, and nobody looks who asks. A route that says nothing is refused to
     * everybody who has not signed in.
     */
    access?: 'public' | 'probe'
  }
}

/** The largest body of a stranger: every public route takes less. */
const MAX_PUBLIC_BODY_BYTES = 32 * 1024

/**
 * Options of a route that answers without a key. The test of access lists these routes by name.
 * @example
 * app.get('/healthz', { ...PUBLIC, schema }, async () => ({ status: 'ok' }))
 */
export const PUBLIC = { config: { access: 'public' }, bodyLimit: MAX_PUBLIC_BODY_BYTES } as const

/** Options of a health check: it answers at once while the database, which knows who asks, is away. */
export const PROBE = { config: { access: 'probe' } } as const

/** Registers plugins whose routes are all public. What they decorate stays inside. */
export async function registerPublic(app: FastifyInstance, register: (scope: FastifyInstance) => Promise<void>): Promise<void> {
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, ...PUBLIC.config }
    })
    await register(scope)
  })
}
