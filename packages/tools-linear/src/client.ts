import { type JsonObject, ToolError } from '@countersign/core'
import { callHttp, type OutboundContext } from '@countersign/toolkit'
import type { LinearQuery } from './document.ts'
import { isErrorAnswer, isObject, linearError } from './errors.ts'

const TIMEOUT_MS = 15_000

export interface LinearOptions {
  url: URL
  /** As it is sent. */
  apiKey: string
  /** Keys of the only teams that are there for us; undefined for all. In capital letters. */
  teams: readonly string[] | undefined
}

/** One workspace of Linear, through our own way out: each request is sent once, to an address that was looked at. */
export interface LinearClient {
  readonly teams: readonly string[] | undefined
  /** The origins that its links may lead to. */
  readonly linkOrigins: readonly string[]
  /**
   * Sends one document. A mutation needs the key of its attempt.
   * @throws ToolError with what is known of the effect.
   */
  ask<Answer>(document: LinearQuery<Answer>, variables: JsonObject, signal: AbortSignal, key?: string): Promise<Answer>
}

// The library has a client of its own, but it calls the global `fetch` whatever it is given: around our network's guard, and following
// redirects. Its types and its reading of errors are used; the request is ours.
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
