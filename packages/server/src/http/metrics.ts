import { readMetrics, writeMetrics } from '../metrics/index.ts'
import type { App, HttpDeps } from './app.ts'
import { taggedRoute } from './route.ts'

const route = taggedRoute('health')

/** Registers the metrics of this process and its database, for Prometheus. */
export function metricRoutes(app: App, deps: HttpDeps): void {
  app.get(
    '/metrics',
    route('metrics', {
      operationId: 'getMetrics',
      summary: 'Read metrics for Prometheus',
      errors: ['forbidden'],
      produces: ['text/plain'],
    }),
    async (_request, reply) => {
      const text = writeMetrics(await readMetrics(deps))
      return reply.type('text/plain; version=0.0.4; charset=utf-8').serializer(String).send(text)
    },
  )
}
