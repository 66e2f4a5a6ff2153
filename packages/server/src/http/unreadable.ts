import type { Socket } from 'node:net'
import { CountersignError, toProblem } from '@countersign/core'
import { http } from '@countersign/toolkit/internal'
import { INTAKE_LIMITS } from './intake.ts'

/**
 * Answers what Node could not read as a request, with a problem document as every other refusal, and closes the connection: such a request
 * reaches no route and no error handler. The status is HTTP's own, which proxies and clients know.
 */
export function refuseUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (socket.destroyed) return
  const [status, refusal] = refusalOf(error.code)
  const body = JSON.stringify({ ...toProblem(refusal), status })
  const head = [
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroy(error)
}

function refusalOf(code: string | undefined): [status: number, CountersignError] {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, new CountersignError('bad_request', 'the request did not arrive in time')]
  if (code === 'HPE_HEADER_OVERFLOW') {
    const kilobytes = INTAKE_LIMITS.http.maxHeaderSize / 1024
    return [431, new CountersignError('too_large', `the address and the headers are longer than ${kilobytes} KB`)]
  }
  return [400, new CountersignError('bad_request', 'this is not an HTTP request')]
}
