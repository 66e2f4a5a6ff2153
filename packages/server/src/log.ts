import { createRedactor } from '@countersign/toolkit'
import { type Logger, pino } from 'pino'
import type { LogLevel } from './config/index.ts'

/**
 * Creates a log with one JSON line per fact on standard error: standard output belongs to a command's own output.
 * @param secrets Removed from every line.
 */
export function createLog(level: LogLevel, secrets: readonly string[] = []): Logger {
  const redactor = createRedactor(secrets)
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { error: pino.stdSerializers.err },
      redact: ['req.headers.authorization', 'req.headers.cookie', 'req.headers["countersign-console"]'],
      hooks: { streamWrite: redactor.text },
    },
    pino.destination(2),
  )
}
