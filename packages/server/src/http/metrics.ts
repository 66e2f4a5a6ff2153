import { readMetrics, writeMetrics } from '../metrics/index.ts'
import type { App, HttpDeps } from './app.ts'

/** Registers the metrics of this process and its database, for Prometheus. */
export function metricRoutes(app: App, deps: HttpDeps): void {
  app.get(
    '/metrics',
    {
      config: { right: 'metrics' },
      schema: {
        operationId: 'getMetrics',
        summary: 'Read metrics for Prometheus',
        errors: ['forbidden'],
        tags: ['health'],
        produces: ['text/plain'],
      },
    },
    async (_request, reply) => {
      const text = writeMetrics(await readMetrics(deps))
      return reply.type('text/plain; version=0.0.4; charset=utf-8').serializer(String).send(text)
    },
  )
}
