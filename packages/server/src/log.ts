import { type Logger, pino } from 'pino'
import type { LogLevel } from './config/index.ts'

/** One JSON line per fact on standard error: standard output belongs to what the command says to a person. */
export const createLog = (level: LogLevel): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { error: pino.stdSerializers.err },
      redact: ['req.headers.authorization', 'req.headers.cookie'],
    },
    pino.destination(2),
  )
