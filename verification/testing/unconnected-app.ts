import { pino } from 'pino'
import { type App, createApp, type HttpDeps } from '../../packages/server/src/http/app.ts'

/** The routes of the server without anything behind them: registration and the first hooks reach none of it. */
export function createUnconnectedApp(more: Partial<HttpDeps> = {}): Promise<App> {
  const parts = {
    log: pino({ level: 'silent' }),
    trustedProxies: [],
    consoleDir: undefined,
    publicUrl: undefined,
    corsOrigins: [],
    refusals: { note: () => undefined, flush: async () => undefined },
    tools: { all: () => [], onChange: () => undefined },
    agents: new Map(),
    gateway: { graceSeconds: 30 },
    clock: { nowMs: () => 0, after: () => () => undefined },
    ...more,
  }
  return createApp(parts as unknown as HttpDeps)
}
