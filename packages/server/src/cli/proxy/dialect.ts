import type { JsonObject, JsonValue } from '@countersign/core'

/**
 * A message of the proxy to the server. Its answer is a `decision` with a `reason`, or `accepted` with `reports`. The decision `later` asks for
 * the same question again: the server stops.
 */
export type ServerMessage =
  | { event: 'ask'; about: JsonObject }
  | { event: 'answered'; about: JsonObject; allowed: boolean; said?: string }
  | { event: 'report'; about: JsonObject; status: Ended['status']; output: JsonValue }
  | { event: 'ended'; session: string }

/** The call that a permission request is about. */
export interface AskedCall {
  session: string
  callId: string
}

/** A permission request, as the server is told about it. */
export interface Asked extends AskedCall {
  /** The fields of its messages to the server, the same for the question, the answer and the report. */
  about: JsonObject
}

/** The meaning of an answer of the editor. */
export interface EditorAnswer {
  /** `unclear`: neither a known permission nor a known refusal. It is kept from the agent, which may take it for a permission. */
  is: 'allowed' | 'declined' | 'unclear'
  /** The answer in the words of the editor, for the record. */
  said?: string
}

/** The outcome of a call, as the agent reports it. */
export interface Ended extends AskedCall {
  /** `stopped`: it was ended while it ran, and what it did is not known. */
  status: 'completed' | 'failed' | 'stopped'
  output: JsonValue
}

/** The words of one protocol between an agent and the program with its prompts. It may remember what messages say. */
export interface Dialect {
  /** The host whose messages the server reads at `/hooks/:host`. */
  host: 'acp' | 'codex'
  /** A message for the server in the words of that host. */
  toServer(message: ServerMessage): JsonObject
  fromServer(answer: JsonObject): JsonObject
  isAsk(message: JsonValue | undefined): message is JsonObject
  fromEditor(message: JsonObject): void
  /** Reads a message of the agent. Returns the calls that it changed after people were asked about them. */
  fromAgent(message: JsonObject): AskedCall[]
  /** Reads a permission request. Returns the reason for one that is refused without asking. */
  read(request: JsonObject): Asked | string
  /** The answer to a request: for one call, never one that lasts. */
  answer(request: JsonObject, isAllowed: boolean, reason?: string): JsonObject
  readAnswer(answer: JsonObject, request: JsonObject): EditorAnswer
  /** Tells the editor that its prompt is answered. Undefined where the agent tells it. */
  closePrompt(request: JsonObject): JsonObject | undefined
  /** The request that a message of the agent takes back. */
  takesBack(message: JsonObject): JsonValue | undefined
  /** True when the agent waits for an answer to a request that it took back. */
  answersTakenBack: boolean
  /** The calls that ended with a message of the agent. */
  ended(message: JsonObject): Ended[]
}
