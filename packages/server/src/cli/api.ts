import { readFileSync } from 'node:fs'
import type { Principal } from '@countersign/core'
import type { Command } from 'commander'
import type { Environment } from '../config/index.ts'

/** The server that a command connects to, and the credentials for it. */
export interface ApiFlags {
  url?: string
  keyFile?: string
  json?: true
}

export const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]'])

const API_HELP = `
The key is that of a person: COUNTERSIGN_KEY in the environment, or a file that holds it (--key-file, COUNTERSIGN_KEY_FILE).
It is never taken from the command line, where other users of the machine see it.

Exit code: 0 when it is done. 1 when something went wrong: no answer, no such action, not allowed. 3 when the action is not as it was:
somebody else decided, or it changed. 130 or 143 when it was ended by Ctrl + C or by a signal.`

/** The flags that say which server is called, and with which key. */
export const withServerAddress = (command: Command): Command => withAddressNamed('--url <url>', command)

/** The same flags for commands whose --url was called --server before: they take both. */
export const withServerFlag = (command: Command): Command => withAddressNamed('--server, --url <url>', command)

const withAddressNamed = (flags: string, command: Command): Command =>
  command
    .option(flags, 'the server (COUNTERSIGN_URL, default http://127.0.0.1:4319)')
    .option('--key-file <file>', 'a file that holds the key (COUNTERSIGN_KEY_FILE)')

export const withApiFlags = (command: Command): Command => withServerAddress(command).addHelpText('after', API_HELP)

/** An error answer of the server. */
export class Refused extends Error {
  readonly status: number
  /** The server gave a reason itself: it was not a proxy before it. */
  readonly isExplained: boolean

  constructor(status: number, message: string, isExplained = true) {
    super(message)
    this.status = status
    this.isExplained = isExplained
  }
}

/**
 * True for a refusal that asking again cannot help, once a stream was open. While a server is replaced, the proxy before it may answer 502,
 * 404 without a reason, or a page for people.
 */
export const isFinal = (error: unknown): boolean =>
  error instanceof Refused &&
  error.status >= 400 &&
  error.status < 500 &&
  error.status !== 408 &&
  error.status !== 429 &&
  !(error.status === 404 && !error.isExplained)

/** No answer came from the server. */
export class Unreachable extends Error {}

export interface OpenStream {
  headers?: Record<string, string>
  /** The stream is the answer to a POST of this. */
  body?: object
  signal?: AbortSignal
}

/** Calls a running server over HTTP with a person's key. */
export interface Api {
  /** @throws Refused with the server's own sentence, or Unreachable. */
  call(method: 'GET' | 'POST', path: string, body?: object, signal?: AbortSignal): Promise<unknown>
  /** Opens an event stream. @throws Refused */
  open(path: string, options?: OpenStream): Promise<Response>
}

/** The address of a server, and the header that proves who calls. */
export interface Server {
  base: string
  authorization: string
}

/** @throws Error without a key, for what is more than a key, or for an address that would expose the key to the network. */
export function serverOf({ url, keyFile }: ApiFlags, environment: Environment): Server {
  const base = (url ?? environment.COUNTERSIGN_URL ?? 'http://127.0.0.1:4319').replace(/\/$/, '')
  requireSafeAddress(base, '--url')
  return { base, authorization: `Bearer ${readKey(keyFile ?? environment.COUNTERSIGN_KEY_FILE, environment)}` }
}

/** @throws Error for an address that would expose a key to the network. @param flag Names it in the refusal. */
export function requireSafeAddress(base: string, flag: string): void {
  const address = URL.canParse(base) ? new URL(base) : undefined
  if (!address || !/^https?:$/.test(address.protocol)) throw new Error(`${flag} must be an http:// or https:// address`)
  if (address.protocol === 'http:' && !LOOPBACK.has(address.hostname)) {
    throw new Error(`the key would go to ${address.host} unencrypted: use https`)
  }
}

/** @throws Error like {@link serverOf}. */
export function openApi(flags: ApiFlags, environment: Environment): Api {
  const { base, authorization } = serverOf(flags, environment)
  const { origin } = new URL(base)

  async function send(path: string, init: RequestInit & { headers: { accept: string } }): Promise<Response> {
    const response = await fetch(base + path, { ...init, redirect: 'error' }).catch((cause: unknown) => {
      throw new Unreachable(`${origin} cannot be reached: start the server, or name another with --url or COUNTERSIGN_URL`, { cause })
    })
    if (!response.ok) throw await refusalOf(response)
    if (response.headers.get('content-type')?.startsWith(init.headers.accept)) return response
    // The page of another server, or of a proxy that wants a sign-in.
    await response.body?.cancel()
    throw new Refused(response.status, `${origin} answered with something else than was asked for: is it a Countersign server?`, false)
  }

  return {
    async call(method, path, body, signal) {
      const headers = { authorization, accept: 'application/json', ...(body && { 'content-type': 'application/json' }) }
      return (await send(path, { method, headers, ...(body && { body: JSON.stringify(body) }), ...(signal && { signal }) })).json()
    },
    open: (path, { headers, body, signal } = {}) =>
      send(path, {
        headers: { ...headers, authorization, accept: 'text/event-stream', ...(body && { 'content-type': 'application/json' }) },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
        ...(signal && { signal }),
      }),
  }
}

/** Returns the person whose key this is. @throws Error for the key of a program, which would wait for decisions in vain. */
export async function readPerson(api: Api): Promise<Principal> {
  const { principal } = (await api.call('GET', '/api/me')) as { principal: Principal | null }
  if (!principal) throw new Error('the server does not say whose key this is: make another one with `countersign key create`')
  const { name, kind } = principal
  if (kind === 'person') return principal
  throw new Error(
    `this key is that of ${name}, which is ${kind === 'agent' ? 'an agent' : 'a service'}, and only people decide. ` +
      'Make one for yourself: countersign key create --name me --kind person --role approver',
  )
}

async function refusalOf(response: Response): Promise<Refused> {
  const { status } = response
  const { origin } = new URL(response.url)
  const problem: unknown = await response.json().catch(() => undefined)
  if (typeof problem !== 'object' || problem === null || !('detail' in problem))
    return new Refused(status, `${origin} answered ${status} without a reason: is it a Countersign server?`, false)
  if (status !== 401) return new Refused(status, String(problem.detail))
  return new Refused(status, `${origin}: ${problem.detail}; on its machine, countersign key create makes one`)
}

function readKey(file: string | undefined, { COUNTERSIGN_KEY: key }: Environment): string {
  const text = file === undefined ? key : readKeyFile(file)
  const found = text?.trim()
  if (!found) throw new Error('no key: set COUNTERSIGN_KEY, or name a file with --key-file; countersign key create makes one')
  if (!/^[\x21-\x7e]+$/.test(found)) {
    const where = file === undefined ? 'COUNTERSIGN_KEY' : `the key file ${file}`
    throw new Error(`${where} has more than a key: write the key alone, without quotes, spaces or another line`)
  }
  return found
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? ` (${cause.code})` : ''
    throw new Error(`the key file ${file} cannot be read${code}: name another with --key-file or COUNTERSIGN_KEY_FILE`, { cause })
  }
}
