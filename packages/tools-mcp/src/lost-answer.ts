import { type JsonValue, withoutMedia } from '@countersign/core'

/** What a server puts before the words of an exception. */
const BEFORE_WORDS = /^(?:error (?:executing|calling) tool \S+?(?::\s*|\s*$)|\w*(?:error|exception): *)*/i

/** Words that are the whole message of an exception: of undici, axios, OkHttp, Go and the clients of model providers. */
const ONLY_WORDS = /^(?:timeout|terminated|aborted|cancell?ed|eof|connection error)[.!]?$/i

/**
 * Words in which HTTP clients, database drivers and RPC libraries tell of an answer that they did not get. Repetitions are bounded, so that
 * no text of a hostile server takes long.
 */
const LOST: readonly RegExp[] = [
  // A timeout. "timeout must be at most 60" is about an argument.
  /timed[ _-]?out|timeout ?(?:error|exception)|\btime-?out (?:of )?(?:[\d.]{1,12} ?\w{1,20} )?(?:exceeded|expired|elapsed|reached|awaiting|waiting|while|after|on reading)\b/i,
  /\b(?:read|write|connect|connection|pool|socket|request|response|gateway|network|handshake|query|statement|i\/o|client|upstream)[ ._-]?time-?out\b(?! (?:must|should|is|needs|cannot|has to)\b)/i,
  /\b(?:due to|because of|hit|exceeded) (?:an? |the )?(?:\w+ )?timeout\b|"(?:\w+_)?timeout"(?!:)|deadline[ _]?exceeded|deadline has elapsed/i,
  /\btook too long to (?:answer|respond)|did not (?:answer|respond|reply) (?:in time|within)|no response (?:was )?received|failed to respond\b/i,
  // An abort. "the leave request was cancelled" is the state of what the call is about.
  /\baborterror\b|(?:operation|request|connection|stream|fetch|call|response|socket|read|query)(?: (?:was|has been))? aborted|aborted pending request/i,
  /\b(?:context|operation was|net\/http: request|a task was) cancell?ed\b|cancell?ed due to (?:the )?(?:\w+ )?\S*timeout\b|cancell?ederror\b/i,
  // A broken connection. ECONNREFUSED and ENOTFOUND say that nothing was sent.
  /\b(?:ECONNRESET|ECONNABORTED|EPIPE|ENETRESET|ERR_STREAM_PREMATURE_CLOSE|ERR_HTTP2_\w+|ERR_NETWORK|ERR_EMPTY_RESPONSE)\b/,
  /\bUND_ERR_(?:\w{1,40}_TIMEOUT|SOCKET|ABORTED|DESTROYED|CLOSED)\b|\bERR_CONNECTION_(?:RESET|CLOSED|ABORTED)\b/,
  /\bsocket hang ?up|fetch failed|failed to fetch|other side closed|premature (?:close|eof)|broken ?pipe|network ?error\b|incompleteread/i,
  /\b(?:connection|socket|stream|transport)(?: (?:was|has been|is|got))?(?: \w+ly)? (?:reset|closed|lost|broken|terminated|dropped|interrupted|destroyed)\b/i,
  /\bclosed (?:the |its |an? |idle )*(?:network )?connection\b|connection(?:reset|aborted)error|terminating connection\b/i,
  /\b(?:server|remote) ?disconnected\b|(?:response|connection) (?:ended|closed) prematurely|payload is not completed|closed before message completed/i,
  /\bunexpected (?:eof\b|end of (?:file|stream)\b)|: EOF$|received no bytes|\bgoaway\b|error (?:occurred while )?sending (?:the )?request\b/i,
  // The answer of a service behind the server that is none of its own (502, 504), or is a failure in the middle.
  /\b(?:http(?:\/\d(?:\.\d)?)?|status|response)(?:[ _-]?(?:error|status|code)){0,4}[^\w\n]{0,4}(?:408|5\d\d)\b|\b5\d\d server error\b/i,
  /\bbad gateway\b|service (?:temporarily )?unavailable\b|\binternal[ _](?:server[ _])?error\b|MCP error -(?:32000|32001|32603)\b/i,
  /\b(?:1 CANCELLED|13 INTERNAL|14 UNAVAILABLE)\b|\bStatusCode\.(?:CANCELLED|INTERNAL|UNAVAILABLE)\b|\bcode = (?:Canceled|Internal|Unavailable)\b/,
]

/**
 * Returns whether a result with `isError` leaves open what a write did. The SDKs turn every exception of a tool into such a result, so it
 * may tell only that the tool got no answer after it had acted: a timeout, an abort, a broken connection, HTTP 408 or 5xx of a service
 * behind it. An exception without words counts as well, because those of Python for a timeout have none. Everything else is an answer.
 * @param text The text of the result, without space around it.
 * @param output The whole result, with its structured content.
 * @example
 * isLostAnswer('Error executing tool pay: fetch failed', '') // true
 * isLostAnswer('order 7 is shipped already', '') // false
 */
export function isLostAnswer(text: string, output: JsonValue): boolean {
  const words = text.replace(BEFORE_WORDS, '')
  const isText = typeof output === 'string'
  if (words === '' && isText) return true
  const all = isText ? [text] : [text, JSON.stringify(withoutMedia(output))]
  return ONLY_WORDS.test(words) || all.some((said) => LOST.some((lost) => lost.test(said)))
}
