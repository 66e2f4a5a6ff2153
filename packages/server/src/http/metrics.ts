import { CountersignError, type Principal } from '@countersign/core'
import { seesAll } from '../gate/index.ts'
import { callerOf } from '../identity/authenticate.ts'
import { readMetrics, writeMetrics } from '../metrics/index.ts'
import type { App, HttpDeps } from './app.ts'

/** @throws CountersignError `forbidden` unless the principal sees everything or is a service that monitors this server. */
function requireMonitor(principal: Principal): void {
  if (principal.kind === 'service' && principal.roles.includes('monitor')) return
  if (seesAll(principal)) return
  throw new CountersignError(
    'forbidden',
    `${principal.name} may not read the metrics: they are for admins, viewers and services with the role monitor`,
  )
}

/** Registers the metrics of this process and its database, for Prometheus. */
export function metricRoutes(app: App, deps: HttpDeps): void {
  app.get(
    '/metrics',
    {
      schema: {
        operationId: 'getMetrics',
        summary: 'Read metrics for Prometheus',
        errors: ['forbidden'],
        tags: ['health'],
        produces: ['text/plain'],
      },
    },
    async (request, reply) => {
      requireMonitor(callerOf(request).principal)
      const text = writeMetrics(await readMetrics(deps))
      return reply.type('text/plain; version=0.0.4; charset=utf-8').serializer(String).send(text)
    },
  )
}
