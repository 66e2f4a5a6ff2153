import { type Effect, ToolError } from '@countersign/core'
import { RefusedAddress } from '@countersign/toolkit'
import { networkError, retryAfterWords } from '@countersign/toolkit/internal'
import { ProtocolError, ProtocolErrorCode, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'
import { askedPauseMs, mayHaveArrived } from './http-transport.ts'
import { plainLine } from './words.ts'

/** The maximum length of a server's message in a sentence. */
const MAX_WORDS = 500

/** Error codes for requests that the server did not begin: it could not parse the request or does not know the method. */
const NOT_BEGUN: readonly number[] = [
  ProtocolErrorCode.ParseError,
  ProtocolErrorCode.InvalidRequest,
  ProtocolErrorCode.MethodNotFound,
  ProtocolErrorCode.InvalidParams,
]

/**
 * The words of the SDKs for a result that does not fit the tool's own output schema, as an error with the code of invalid parameters or as a
 * result with `isError`. The tool had run by then.
 */
const REJECTS_RESULT =
  /^(?:MCP error -32602: )?(?:Output validation error\b|Invalid structured content for tool\b|Tool \S{1,200} has an output schema but no structured content\b)/i

/** Returns the error of a write whose result the server itself rejects; undefined for any other message. */
export const rejectedResult = (message: string, server: string, effect: Effect, cause?: unknown): ToolError | undefined =>
  effect === 'write' && REJECTS_RESULT.test(message)
    ? notKnown(`${server} called the tool and rejects its result: ${message.replace(/\.$/, '')}`, effect, cause)
    : undefined

/** True when the server does not know the session (any more). */
export const isLostSession = (error: unknown): boolean => error instanceof SdkHttpError && (error.status === 404 || isUnknownSession(error))

/** True for servers that answer 400 where the protocol requires 404. */
const isUnknownSession = ({ status, message }: SdkHttpError): boolean => status === 400 && /session/i.test(message)

/**
 * Returns the error of a failed call, with its known effect.
 * @param server The name of the server in a sentence: `The MCP server files`.
 */
export function readFailure(error: unknown, server: string, effect: Effect, signal: AbortSignal): ToolError {
  if (error instanceof ToolError) return error
  const unknown = (words: string) => notKnown(words, effect, error)
  if (signal.aborted) return unknown(`${server} did not answer in time`)
  const rejected = error instanceof ProtocolError ? rejectedResult(plainLine(error.message, MAX_WORDS), server, effect, error) : undefined
  if (rejected) return rejected
  const refused = refusalOf(error, server)
  if (refused) return refused
  const network = networkError(error, server)
  if (network && !(network.kind === 'unreachable' && mayHaveArrived(error))) return network
  if (error instanceof SdkHttpError) return unknown(`${server} answered HTTP ${error.status}`)
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.NotConnected) return away(server, error)
    return unknown(`${server} ${WORDS[error.code] ?? 'gave no answer that can be used'}`)
  }
  if (error instanceof ProtocolError) return unknown(`${server} answered with an error of its own: ${plainLine(error.message, MAX_WORDS)}`)
  return unknown(`The connection to ${server} failed`)
}

/** Returns the error of a call that may have acted. @param words Without a full stop. */
export const notKnown = (words: string, effect: Effect, cause?: unknown): ToolError => {
  const retryAfterMs = askedPauseMs(cause)
  const unknown = effect === 'write' ? ' Whether it acted is not known.' : ''
  return new ToolError('ambiguous', `${words}.${unknown}${retryAfterWords(retryAfterMs)}`, { cause, retryAfterMs })
}

export const away = (server: string, cause?: unknown): ToolError =>
  new ToolError('unreachable', `${server} is not connected. Nothing was sent.`, { cause })

/** Returns the error of a write that waits for a server which answers nothing. */
export const late = (server: string, cause: unknown): ToolError =>
  new ToolError('unreachable', `${server} did not answer in time. Nothing was sent.`, { cause })

/** Returns the error of a write before which the server answered that it is asked too much. */
export function busy(server: string, cause: SdkHttpError): ToolError {
  const retryAfterMs = askedPauseMs(cause)
  const words = `${server} takes no calls now (HTTP ${cause.status}). Nothing was sent.${retryAfterWords(retryAfterMs)}`
  return new ToolError('refused', words, { cause, retryable: true, retryAfterMs })
}

export const noTimeLeft = (cause?: unknown): ToolError =>
  new ToolError('unreachable', 'There was no time left to connect. Nothing was sent.', { cause })

function refusalOf(error: unknown, server: string): ToolError | undefined {
  const address = [error, error instanceof Error ? error.cause : undefined].find((one) => one instanceof RefusedAddress)
  if (address) return new ToolError('refused', `${address.message}. Nothing was sent.`, { cause: error })
  if (error instanceof ProtocolError && NOT_BEGUN.includes(error.code)) {
    return new ToolError('refused', `${server} refused the call: ${plainLine(error.message, MAX_WORDS)}`, { cause: error })
  }
  if (isLostSession(error)) {
    return new ToolError('unreachable', `${server} was started anew and did not know the session. Nothing was done.`, { cause: error })
  }
  // 408 means that the call did not arrive whole, or that what it began took too long.
  if (!(error instanceof SdkHttpError) || error.status === undefined || error.status === 408 || error.status >= 500) return undefined
  if (error.status >= 300 && error.status < 400) {
    return new ToolError('refused', `${server} sent the call elsewhere (${error.status}). Redirects are not followed; nothing was done.`, {
      cause: error,
    })
  }
  const retryAfterMs = askedPauseMs(error)
  const words = `${server} refused the call (HTTP ${error.status}). Nothing was done.${retryAfterWords(retryAfterMs)}`
  return new ToolError('refused', words, { cause: error, retryable: error.status === 429, retryAfterMs })
}

const WORDS: Partial<Record<string, string>> = {
  [SdkErrorCode.RequestTimeout]: 'did not answer in time',
  [SdkErrorCode.ConnectionClosed]: 'went away before it answered',
  [SdkErrorCode.SendFailed]: 'went away while it was called',
  [SdkErrorCode.UnsupportedResultType]: 'asked for something in the middle of the call, which is not answered here',
  [SdkErrorCode.InputRequiredRoundsExceeded]: 'asked for something in the middle of the call, which is not answered here',
}
