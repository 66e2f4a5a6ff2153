import type { Tool } from '@countersign/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../gate/index.ts'
import type { HttpDeps } from '../http/app.ts'
import type { HeldRequests } from './held-requests.ts'
import type { OpenCalls } from './open-calls.ts'

/** What the gateway is made of. */
export interface GatewayDeps extends HttpDeps {
  openCalls: OpenCalls
  heldRequests: HeldRequests
}

/** One HTTP request of a client, for whoever answers a message in it. */
export interface Exchange {
  readonly request: FastifyRequest
  readonly caller: Pick<Caller, 'principal' | 'signIn'>
  /** The agent of the configuration that was named; it is offered that agent's tools only. */
  readonly agent: string | undefined
  readonly tools: readonly Tool[]
  /** Where people find the console. */
  readonly consoleUrl: string
  /** Names the request in every process. */
  readonly requestName: string
  /** Aborts when nobody is left who could hear the answer. */
  readonly hungUp: AbortSignal
  /** True once the client said that it does not want the answer any more. A connection that ended is not told here. */
  isWithdrawn(): boolean
  /** True once the whole answer was handed to the connection; false when it ended before that. */
  readonly delivered: Promise<boolean>
}

/** Says whether an answer left as a whole. */
export function whenDelivered({ raw }: FastifyReply): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  raw.once('finish', () => resolve(true))
  raw.once('close', () => resolve(false))
  return promise
}
