import type { Effect, JsonObject } from '@countersign/core'
import { VERSION } from '@countersign/toolkit/internal'
import { Client, ProtocolError, SdkError, SdkErrorCode, SdkHttpError, type Transport } from '@modelcontextprotocol/client'
import { away, isLostSession, noTimeLeft, readFailure } from './failure.ts'
import { keepListening } from './keep-listening.ts'
import type { Listed } from './list-tools.ts'
import { OpenRequests } from './open-requests.ts'
import type { Pace } from './pace.ts'
import { Pauses } from './pauses.ts'
import { lossOf } from './ping.ts'
import { ToolList } from './tool-list.ts'
import { plainLine } from './words.ts'

/** The time for a server to start and to complete the handshake: `npx` may have to download it first. */
const CONNECT_MS = 60_000

export interface ConnectionOptions {
  /** The name of the server in a sentence: `The MCP server files`. */
  name: string
  openTransport(): Transport
  /** True over HTTP, where only a request shows that the server is unavailable. */
  isHttp: boolean
  /** The time allowed for connecting, in ms. At least 60,000 ms are allowed. */
  connectMs: number
  pace: Pace
  /**
   * Called after connecting, before the first call of the connection, and whenever the tools were listed again.
   * @param isNew True for the first list of a connection.
   */
  onListed(listed: Listed, isNew: boolean): void
  onAway(why: string): void
  /** Removes the secrets of the configuration from a text. */
  redact(text: string): string
  /** Called with a description of unexpected behaviour of the server. */
  onOdd(words: string): void
}

/** The arguments and options of a tool call. */
export interface Call {
  args: JsonObject
  effect: Effect
  signal: AbortSignal
  timeoutMs: number
  /** Called when the server is connected, just before the call. What it throws keeps the call from being sent. */
  beforeSend?: (() => void | Promise<void>) | undefined
}

/** The facts that a server reports about itself. */
export interface ServerFacts {
  name: string
  protocol: string
  takesTasks: boolean
}

/** A connection to one MCP server. It reconnects with growing pauses whenever it is lost. */
export class McpConnection {
  readonly #options: ConnectionOptions
  readonly #stopped = new AbortController()
  readonly #requests = new OpenRequests()
  #client: Client | undefined
  /** The transport of the connection that is being made. */
  #transport: Transport | undefined
  #connecting: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  readonly #pauses = new Pauses()
  #upSinceMs = 0
  #why = 'it was not connected yet'
  #awaySinceMs: number | undefined
  #hasFailed = false
  readonly #lists = new WeakMap<Client, ToolList>()
  facts: ServerFacts | undefined

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  /** Aborts when the connection is closed for good. */
  get closed(): AbortSignal {
    return this.#stopped.signal
  }

  /** The reason why the server is unavailable; undefined while it is connected. */
  get trouble(): string | undefined {
    return this.#client ? undefined : this.#why
  }

  /** When the server became unavailable (epoch ms); undefined while it is connected or has not failed yet. */
  get awaySinceMs(): number | undefined {
    return this.#client ? undefined : this.#awaySinceMs
  }

  /** True during the first connect: the server may only be slow. */
  get isStarting(): boolean {
    return !this.#client && !this.#hasFailed && this.#connecting !== undefined
  }

  /** Connects and lists the tools once. Resolves whether or not that succeeded. A failed connect is retried automatically. */
  connect(): Promise<void> {
    this.#connecting ??= this.#connectOnce().finally(() => {
      this.#connecting = undefined
    })
    return this.#connecting
  }

  /**
   * Calls a tool, once.
   * @throws ToolError
   */
  call(name: string, { args, effect, signal, timeoutMs, beforeSend }: Call): Promise<unknown> {
    // The given definition keeps the SDK from compiling the server's output schema, and from sending a call a second time by itself.
    const toolDefinition = { name, inputSchema: { type: 'object' } } as const
    const options = { signal, timeout: timeoutMs, resetTimeoutOnProgress: false, toolDefinition }
    return this.ask((client) => client.callTool({ name, arguments: args }, options), { effect, signal, beforeSend })
  }

  /**
   * Sends a request to the server once. A read is sent a second time if its session was lost.
   * @throws ToolError
   */
  async ask(
    question: (client: Client) => Promise<unknown>,
    { effect, signal, beforeSend }: Pick<Call, 'effect' | 'signal' | 'beforeSend'>,
  ): Promise<unknown> {
    const client = await this.#ready(effect, signal)
    await beforeSend?.()
    try {
      return await this.#requests.run(client, question)
    } catch (error) {
      const isGone = isLostSession(error)
      const failure = readFailure(error, this.#options.name, effect, signal)
      if (isGone || failure.kind === 'unreachable') this.#lost(client, failure.message)
      if (!isGone || effect === 'write') throw failure
    }
    // The request had no effect: the server does not know the session. A read is repeated in a new session.
    const next = await this.#again(signal)
    await beforeSend?.()
    try {
      return await this.#requests.run(next, question)
    } catch (error) {
      throw readFailure(error, this.#options.name, effect, signal)
    }
  }

  /** Closes the connection and ends the program. */
  async close(): Promise<void> {
    this.#stopped.abort()
    clearTimeout(this.#timer)
    const client = this.#client
    this.#client = undefined
    if (client) this.#lists.get(client)?.end()
    // The SDK observes the signal only from the handshake on.
    if (this.#connecting) await this.#transport?.close().catch(() => {})
    await this.#connecting
    await client?.close().catch(() => {})
    await this.#requests.closeReplaced()
  }

  async #ready(effect: Effect, signal: AbortSignal): Promise<Client> {
    const { name, pace, isHttp } = this.#options
    if (!this.#client && this.#connecting) await within(this.#connecting, pace.patienceMs, signal)
    const client = this.#client
    if (!client) throw away(`${name} (${this.isStarting ? 'it is still starting' : this.#why})`)
    // Over HTTP a lost session shows only when it is used. A write must not be the request that finds out.
    if (!isHttp || effect === 'read' || client.getProtocolEra() === 'modern') return client
    const isAtWork = () => this.#requests.has(client)
    const why = await lossOf(client, { server: name, patienceMs: pace.patienceMs, signal, isAtWork })
    if (why === undefined) return client
    this.#lost(client, why)
    return this.#again(signal)
  }

  /** Reconnects now, without the usual pause. */
  async #again(signal: AbortSignal): Promise<Client> {
    await within(this.connect(), this.#options.pace.patienceMs, signal)
    if (!this.#client) throw away(`${this.#options.name} (${this.#why})`)
    return this.#client
  }

  async #connectOnce(): Promise<void> {
    clearTimeout(this.#timer)
    if (this.#stopped.signal.aborted || this.#client) return
    let client: Client | undefined
    try {
      client = await this.#handshake()
      await this.#adopt(client)
    } catch (error) {
      if (client) this.#leave(client)
      this.#away(reasonOf(error))
    }
  }

  /** Makes the client the one that calls use. It lists the tools first: behind the same address may be another version of the server. */
  async #adopt(client: Client): Promise<void> {
    const info = client.getServerVersion()
    this.facts = {
      name: info ? plainLine(`${info.name} ${info.version}`, 100) : 'a server without a name',
      protocol: client.getNegotiatedProtocolVersion() ?? 'unknown',
      takesTasks: takesTasks(client),
    }
    client.onclose = () => this.#lost(client, 'it went away')
    const list = this.#lists.get(client)
    const listed = await list?.first()
    if (!list || !listed || !client.transport) throw new Error('it went away')
    this.#client = client
    this.#awaySinceMs = undefined
    this.#upSinceMs = performance.now()
    this.#options.onListed(listed, true)
    void keepListening(client, list, (error) => this.#onListFailed(client, error))
  }

  async #handshake(): Promise<Client> {
    try {
      return await this.#open(undefined)
    } catch (error) {
      if (this.#stopped.signal.aborted) throw error
      if (!this.#options.isHttp) {
        // Some older programs exit at the first request that they do not know.
        const isClosed =
          error instanceof SdkError && [SdkErrorCode.ConnectionClosed, SdkErrorCode.EraNegotiationFailed].includes(error.code)
        if (isClosed) return this.#open({ kind: 'legacy' })
        // A program that was still starting when it was probed, and speaks only the newer protocol.
        if (error instanceof ProtocolError) return this.#open(undefined, this.#connectMs)
        throw error
      }
      // Some older servers answer 500 to a request before the handshake. Only the handshake tells them from a server that is broken.
      if (!isServerError(error)) throw error
      return this.#open({ kind: 'legacy' }).catch((handshake: unknown) => {
        throw isServerError(handshake) ? error : handshake
      })
    }
  }

  get #connectMs(): number {
    return Math.max(CONNECT_MS, this.#options.connectMs)
  }

  /** @param probeMs How long a program has to answer in the newer protocol before it is spoken to in the older one. */
  async #open(prior: { kind: 'legacy' } | undefined, probeMs = this.#options.pace.probeMs): Promise<Client> {
    const client = new Client(
      { name: 'countersign', version: VERSION },
      {
        // The client offers no sampling, no roots and no elicitation. A server gets input from people only through arguments, which they
        // can see.
        capabilities: {},
        versionNegotiation: { mode: 'auto', ...(!this.#options.isHttp && { probe: { timeoutMs: probeMs } }) },
        inputRequired: { autoFulfill: false },
        // The SDK's own delay begins anew with each notice, so a server that sends many would never be listed.
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => this.#lists.get(client)?.changed() } },
      },
    )
    const list = new ToolList(client, {
      // A program that ends takes its connection with it: only over HTTP notices are lost without a trace.
      everyMs: this.#options.isHttp ? this.#options.pace.relistMs : undefined,
      onListed: (listed) => this.#options.onListed(listed, false),
      onFailed: (error) => this.#onListFailed(client, error),
    })
    this.#lists.set(client, list)
    client.onerror = (error) => this.#options.onOdd(plainLine(error.message, 300))
    const options = { timeout: this.#connectMs, signal: this.#stopped.signal }
    try {
      this.#transport = this.#options.openTransport()
      await client.connect(this.#transport, prior ? { ...options, prior } : options)
      return client
    } catch (error) {
      await client.close().catch(() => {})
      throw error
    }
  }

  #onListFailed(client: Client, error: unknown): void {
    if (this.#client !== client) return
    const failure = readFailure(error, this.#options.name, 'read', this.#stopped.signal)
    if (isLostSession(error) || failure.kind === 'unreachable') this.#lost(client, failure.message)
    else this.#options.onOdd(`its tools could not be listed again: ${plainLine(failure.message, 300)}`)
  }

  /** @param client The lost one: a later one may already be connected. */
  #lost(client: Client, why: string): void {
    if (this.#client !== client) return
    this.#client = undefined
    this.#leave(client)
    this.#pauses.restartAfter(performance.now() - this.#upSinceMs)
    this.#away(why)
  }

  /** Over HTTP the calls under way are waited for. A program ends before the next one is started. */
  #leave(client: Client): void {
    this.#lists.get(client)?.end()
    if (this.#options.isHttp) this.#requests.closeAfterLast(client)
    else void client.close().catch(() => {})
  }

  /** @param said It may quote the server, which may repeat what a request signed in with. */
  #away(said: string): void {
    // A secret that was cut would not be recognised.
    const why = plainLine(this.#options.redact(said), 300)
    const client = this.#client
    this.#client = undefined
    this.#hasFailed = true
    this.#awaySinceMs ??= Date.now()
    if (client) this.#leave(client)
    this.#why = why
    if (this.#stopped.signal.aborted) return
    this.#options.onAway(why)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.connect(), this.#pauses.next())
    this.#timer.unref()
  }
}

const isServerError = (error: unknown): boolean => error instanceof SdkHttpError && (error.status ?? 0) >= 500

/** Returns whether the server supports calls as tasks. Only the protocol 2025-11-25 has tasks of this kind. */
export const takesTasks = (client: Client): boolean =>
  client.getProtocolEra() !== 'modern' && client.getServerCapabilities()?.tasks?.requests?.tools?.call !== undefined

/** Waits for the work, for at most `ms`. */
async function within(work: Promise<unknown>, ms: number, signal: AbortSignal): Promise<void> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, ms)
  signal.addEventListener('abort', () => late.resolve(), { once: true })
  await Promise.race([work, late.promise]).finally(() => clearTimeout(timer))
  if (signal.aborted) throw noTimeLeft()
}

/**
 * Returns the message; of a failed fetch that of its cause, which says what failed, and of a refusal with its status. The SDK keeps a cause
 * under `data`.
 */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 4; depth++) {
    const cause: unknown =
      at.cause ?? (at instanceof SdkError && at.data instanceof Object && 'cause' in at.data ? at.data.cause : undefined)
    if (at.message === 'fetch failed' && cause instanceof Error) return cause.message || ('code' in cause ? String(cause.code) : at.message)
    at = cause
  }
  const status = error instanceof SdkHttpError ? error.status : undefined
  return status === undefined || error.message.includes(String(status)) ? error.message : `HTTP ${status}: ${error.message}`
}
