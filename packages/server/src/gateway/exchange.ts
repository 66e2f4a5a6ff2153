import type { JsonObject, Tool } from '@countersign/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../gate/index.ts'
import type { HttpDeps } from '../http/app.ts'
import type { HeldRequests } from './held-requests.ts'
import type { OpenCalls } from './open-calls.ts'

/** Dependencies of the gateway. */
export interface GatewayDeps extends HttpDeps {
  openCalls: OpenCalls
  heldRequests: HeldRequests
  /** Answers a permission prompt of a coding agent; undefined without tools for coding agents. */
  answerPrompt?: ((prompt: PermissionPrompt, exchange: Exchange) => Promise<JsonObject>) | undefined
}

/** The input that Claude Code sends to its `--permission-prompt-tool`. */
export interface PermissionPrompt {
  tool: string
  input: JsonObject
  callId: string | undefined
}

/** One HTTP request of a client, for the code that answers a message in it. */
export interface Exchange {
  readonly request: FastifyRequest
  readonly caller: Omit<Caller, 'once'>
  /** The agent that the request named; only that agent's tools are offered. */
  readonly agent: string | undefined
  readonly tools: readonly Tool[]
  /** Where people find the console. */
  readonly consoleUrl: string
  /** Identifies the request across processes. */
  readonly requestName: string
  /** Aborts when the answer can no longer reach the client. */
  readonly hungUp: AbortSignal
  /** Returns true once the client has cancelled the request. A closed connection is not reported here. */
  isWithdrawn(): boolean
  /** Resolves to true once the whole answer was handed to the connection; to false when the connection ended before. */
  readonly delivered: Promise<boolean>
}

/** Reports whether an answer was sent completely. */
export function whenDelivered({ raw }: FastifyReply): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  raw.once('finish', () => resolve(true))
  raw.once('close', () => resolve(false))
  return promise
}
