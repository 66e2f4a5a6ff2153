import { writeSync } from 'node:fs'
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
      serializers: { error: readError },
      redact: ['req.headers.authorization', 'req.headers.cookie', 'req.headers["countersign-console"]'],
      hooks: { streamWrite: redactor.text },
    },
    openStandardError(),
  )
}

/** An error as a line has it. Code of others throws anything, also an object that throws again when it is read. */
function readError(error: unknown): unknown {
  try {
    return pino.stdSerializers.err(error as Error)
  } catch {
    return { message: 'an error that cannot be read' }
  }
}

/**
 * Standard error for lines, which are written while the server goes on. A line that is refused is lost, and ends nothing. The rest is written
 * as the process exits, where that is possible: pino's stream would try it for ever on a closed terminal (EIO) or a full disk (ENOSPC).
 */
function openStandardError() {
  const stream = pino.destination(2)
  let isRefused = false
  stream.on('error', () => {
    isRefused = true
  })
  stream.on('write', () => {
    isRefused = false
  })
  const { flushSync } = stream
  stream.flushSync = () => {
    if (!isRefused && isOpen(2)) flushSync.call(stream)
  }
  return stream
}

/** A closed terminal refuses even a write of nothing. */
function isOpen(descriptor: number): boolean {
  try {
    writeSync(descriptor, '')
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EAGAIN'
  }
}
