import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { ToolError } from '@countersign/core'
import { deserializeMessage, type JSONRPCMessage, serializeMessage, type Transport } from '@modelcontextprotocol/client'
import { MAX_MESSAGE_BYTES } from './limits.ts'

/** How long a program may take to exit by itself before SIGTERM, and after it before SIGKILL. */
const GRACE_MS = 1_000

/** A program that speaks MCP over its standard input and output. */
export interface StdioProgram {
  command: string
  args: readonly string[]
  /** Its whole environment: it inherits nothing from the server's own. */
  env: Readonly<Record<string, string>>
  cwd: string
}

export interface StdioOptions {
  program: StdioProgram
  onStderr(chunk: Buffer): void
}

/**
 * The transport of one run of a program. The SDK's own transport inherits from the server's environment, probes the protocol with a second
 * copy of the program, and leaves its child processes (`npx`) running. This one starts the program as the leader of a process group and
 * ends the group.
 */
export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: Transport['onmessage']
  readonly #options: StdioOptions
  readonly #gone = Promise.withResolvers<void>()
  #child: ChildProcessByStdio<Writable, Readable, Readable> | undefined
  #isOver = false
  #pieces: Buffer[] = []
  #bytes = 0

  constructor(options: StdioOptions) {
    this.#options = options
  }

  /** Its process id. By this and {@link stderr} the SDK recognizes a program, which may not answer requests that it does not know. */
  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  /** Always null: standard error is read elsewhere, and bounded. */
  get stderr(): null {
    return null
  }

  async start(): Promise<void> {
    const { program, onStderr } = this.#options
    const child = spawn(program.command, program.args, {
      env: program.env,
      cwd: program.cwd,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    })
    this.#child = child
    child.stdin.on('error', (error) => this.onerror?.(error))
    child.stdout.on('data', (chunk: Buffer) => this.#read(chunk))
    child.stderr.on('data', onStderr)
    // A child process may hold the pipes open, so the exit of the program itself counts.
    child.once('exit', () => this.#end())
    const started = Promise.withResolvers<void>()
    child.once('spawn', started.resolve)
    child.once('error', (error) => {
      started.reject(error)
      this.#end()
    })
    await started.promise
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const child = this.#child
    if (!child || this.#isOver) throw new ToolError('unreachable', 'The program of this MCP server is not running. Nothing was sent.')
    const written = Promise.withResolvers<void>()
    child.stdin.write(serializeMessage(message), (error) => (error ? written.reject(error) : written.resolve()))
    // A write never completes if the program exits without reading its input.
    await Promise.race([written.promise, this.#gone.promise])
  }

  async close(): Promise<void> {
    const child = this.#child
    if (!child || this.#isOver) return
    child.stdin.end()
    if (await this.#isGoneSoon()) return
    this.#signal('SIGTERM')
    if (await this.#isGoneSoon()) return
    this.#signal('SIGKILL')
    await this.#gone.promise
  }

  async #isGoneSoon(): Promise<boolean> {
    const late = Promise.withResolvers<false>()
    const timer = setTimeout(() => late.resolve(false), GRACE_MS)
    const gone = this.#gone.promise.then(() => true)
    return Promise.race([gone, late.promise]).finally(() => clearTimeout(timer))
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child ?? {}
    if (pid === undefined) return
    try {
      process.kill(-pid, signal)
    } catch {
      // The process group has already ended.
    }
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#signal('SIGKILL')
    const { stdin, stdout, stderr } = this.#child ?? {}
    for (const pipe of [stdin, stdout, stderr]) pipe?.destroy()
    this.#pieces = []
    this.#gone.resolve()
    this.onclose?.()
  }

  #read(chunk: Buffer): void {
    let rest = chunk
    for (let end = rest.indexOf(10); end >= 0 && !this.#isOver; end = rest.indexOf(10)) {
      this.#pieces.push(rest.subarray(0, end))
      const line = Buffer.concat(this.#pieces).toString('utf8')
      this.#pieces = []
      this.#bytes = 0
      this.#take(line)
      rest = rest.subarray(end + 1)
    }
    this.#pieces.push(rest)
    this.#bytes += rest.length
    if (this.#bytes <= MAX_MESSAGE_BYTES || this.#isOver) return
    this.onerror?.(new Error(`it sent a message of more than ${MAX_MESSAGE_BYTES} bytes`))
    // Reading cannot resume in the middle of a message.
    this.#end()
  }

  #take(line: string): void {
    if (line.trim() === '') return
    try {
      this.onmessage?.(deserializeMessage(line))
    } catch {
      this.onerror?.(new Error(`it sent a line that is no JSON-RPC message (${line.length} characters)`))
    }
  }
}
