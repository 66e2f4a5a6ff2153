import { type JsonObject, ToolError } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { callHttp, type OutboundContext } from '@countersign/toolkit'
import type { LinearQuery } from './document.ts'
import { isErrorAnswer, linearError } from './errors.ts'

const TIMEOUT_MS = 15_000

export interface LinearOptions {
  url: URL
  /** The value of the authorization header. */
  apiKey: string
  /** The keys of the allowed teams, in capital letters; undefined for all. */
  teams: readonly string[] | undefined
}

/** The client of one Linear workspace. It uses the outbound network, which checks each address, and sends each request once. */
export interface LinearClient {
  readonly teams: readonly string[] | undefined
  /** The origins that links in results may have. */
  readonly linkOrigins: readonly string[]
  /**
   * Sends one document. A mutation needs the key of its attempt.
   * @throws ToolError with the known effect.
   */
  ask<Answer>(document: LinearQuery<Answer>, variables: JsonObject, signal: AbortSignal, key?: string): Promise<Answer>
}

// The library's own client uses the global `fetch`, which bypasses the checks of the outbound network and follows redirects. Only the
// library's types and its parsing of errors are used here.
export function openLinearClient({ url, apiKey, teams }: LinearOptions, { network, redactor }: OutboundContext): LinearClient {
  return {
    teams,
    linkOrigins: [...new Set(['https://linear.app', url.origin])],
    async ask(document, variables, signal, key) {
      const isWrite = document.operation === 'mutation'
      if (isWrite && key === undefined) throw new ToolError('broken', 'A change was to be sent without a key. Nothing was sent.')
      const answer = await callHttp({
        network,
        method: 'POST',
        url,
        own: url.origin,
        headers: { authorization: apiKey },
        redactor,
        body: { query: document.text, variables },
        ...(isWrite && { idempotencyKey: key }),
        readsRefusals: true,
        signal,
        timeoutMs: TIMEOUT_MS,
      })
      if (isErrorAnswer(answer)) throw await linearError(answer, isWrite)
      const read = document.answer.safeParse(isObject(answer.body) ? answer.body.data : undefined)
      if (read.success) return read.data
      const unknown = isWrite ? ' Whether it acted is not known.' : ''
      throw new ToolError('ambiguous', `Linear gave an answer that cannot be read.${unknown}`)
    },
  }
}
