import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { ToolError } from '@countersign/core'
import { deserializeMessage, type JSONRPCMessage, serializeMessage, type Transport } from '@modelcontextprotocol/client'
import { MAX_MESSAGE_BYTES } from './limits.ts'

/** How long a program has to end by itself before it is told to, and before it is made to. */
const GRACE_MS = 1_000

/** A program that speaks MCP over its standard input and output. */
export interface StdioProgram {
  command: string
  args: readonly string[]
  /** All of its environment: nothing of ours comes with it by itself. */
  env: Readonly<Record<string, string>>
  cwd: string
}

export interface StdioOptions {
  program: StdioProgram
  onStderr(chunk: Buffer): void
}

/**
 * The transport of one life of a program. The SDK's own inherits from our environment, tries the protocol out on a second copy of the
 * program, and leaves behind what the program started itself (`npx`); this one does none of that: the program leads a process group, and
 * the group is ended.
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

  /** Its process id. With {@link stderr} also what the SDK knows a program by, which may answer nothing to what it does not know. */
  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  /** Never read through this: it is bounded before it goes anywhere. */
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
    // A program that it started may hold the pipes open: what counts is the end of itself.
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
    // A program that ends without reading never says so on its input.
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
      // The group is gone already.
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
    // It cannot be read on from the middle of a message.
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
