import { isIP } from 'node:net'
import { durationMs } from '@countersign/core'
import type { SetupProblem } from '@countersign/toolkit'
import type { ModelSettings, ProviderSettings } from '../models/settings.ts'
import type { Database } from '../store/index.ts'
import { ConfigError } from './config-error.ts'
import type { Environment } from './environment.ts'

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

const MIN_KEY_CHARACTERS = 24

/** The flags of the command line; they take precedence over the environment. */
export interface SettingsFlags {
  host?: string | undefined
  port?: string | number | undefined
  data?: string | undefined
  config?: string | undefined
  databaseUrl?: string | undefined
  databaseDirectUrl?: string | undefined
  logLevel?: string | undefined
  maxExecutions?: string | number | undefined
  maxExecutionsPerSession?: string | number | undefined
  maxModelCalls?: string | number | undefined
  publicUrl?: string | undefined
  oidcIssuer?: string | undefined
  oidcClientId?: string | undefined
  acceptLoss?: boolean | undefined
  /** Start held: nothing is executed until a person accepts. */
  hold?: boolean | undefined
  /** Adopt the database as this installation's own although it looks like a copy. */
  acceptCopy?: boolean | undefined
}

/** Requests per second of a principal, and wrong keys and sign-ins per minute from an address; 0 means no limit. */
export interface RateLimits {
  requestsPerSecond: number
  failuresPerMinute: number
}

/** The settings of this process, from flags and environment. */
export interface Settings {
  host: string
  /** 0 takes any free port. */
  port: number
  /** As given: relative to the working directory. */
  dataDir: string
  /** The embedded database in `dataDir`, or Postgres. */
  database: Database
  /** The password of a Postgres whose address has none. A secret. */
  databasePassword: string | undefined
  configFile: string | undefined
  /** How many actions are executed concurrently: by this process, and in one session by all processes. */
  executions: { perProcess: number; perSession: number }
  /** How many model calls this process makes concurrently. */
  modelCalls: number
  logLevel: LogLevel
  /** Where browsers find the console, `https://approve.example.com`, when that differs from where it listens. */
  publicUrl: string | undefined
  /** Trusted proxies, whose headers about the browser's address and protocol are used: addresses or ranges. */
  trustedProxies: string[]
  /** A console session ends after `idleMs` without a request, and after `maxMs` in any case. */
  sessionLimits: { idleMs: number; maxMs: number }
  rateLimits: RateLimits
  /** The sign-in service, as far as flags and environment name it; the configuration file may complete it. */
  oidc: { issuer?: string | undefined; clientId?: string | undefined; clientSecret?: string | undefined }
  /** An admin person's key, at least 24 characters. A secret. */
  bootstrapKey: string | undefined
  /** The file of the key that signs the record; undefined keeps the key in the database. */
  auditKeyFile: string | undefined
  /** The file of the remembered newest head of the record; undefined for the default place. */
  headFile: string | undefined
  /** How a copy of the database is distinguished from the original. The token is a secret. */
  instance: { hold: boolean; acceptCopy: boolean; file: string | undefined; token: string | undefined }
  /** Keys are secrets. */
  models: ModelSettings
}

/**
 * Returns the settings of this process: flags, then environment, then defaults. An empty variable counts as not set.
 * @param environment Usually `process.env`; only this function and {@link loadConfig} receive it.
 * @throws ConfigError naming every flag or variable that cannot be used, never the value of a secret.
 * @example
 * readSettings({ port: '8080' }, { COUNTERSIGN_DATA: '/var/lib/countersign' }).port // 8080
 */
export function readSettings(flags: SettingsFlags, environment: Environment): Settings {
  const read = createReader(flags, environment)
  const [host, hostFrom] = read.setting('host', '--host', 'COUNTERSIGN_HOST', '127.0.0.1')
  if (!/^[\w.:%-]+$/.test(host)) read.fault(hostFrom, `must be an address or a host name to listen on, not ${JSON.stringify(host)}`)
  const port = readPort(read)
  const logLevel = readLogLevel(read)
  const executions = {
    perProcess: read.count('maxExecutions', '--max-executions', 'COUNTERSIGN_MAX_EXECUTIONS', 128),
    perSession: read.count('maxExecutionsPerSession', '--max-executions-per-session', 'COUNTERSIGN_MAX_EXECUTIONS_PER_SESSION', 8),
  }
  const modelCalls = read.count('maxModelCalls', '--max-model-calls', 'COUNTERSIGN_MAX_MODEL_CALLS', 200)
  const [dataDir] = read.setting('data', '--data', 'COUNTERSIGN_DATA', './.countersign')
  const database = readDatabase(read, dataDir, flags.acceptLoss === true)
  const reached = readReached(read)
  const sessionLimits = {
    idleMs: read.duration('COUNTERSIGN_SESSION_IDLE', 'PT12H'),
    maxMs: read.duration('COUNTERSIGN_SESSION_MAX', 'P30D'),
  }
  const rateLimits: RateLimits = {
    requestsPerSecond: read.rate('COUNTERSIGN_MAX_REQUESTS', 5_000),
    failuresPerMinute: read.rate('COUNTERSIGN_MAX_FAILURES', 600),
  }
  const oidc = {
    issuer: read.setting('oidcIssuer', '--oidc-issuer', 'COUNTERSIGN_OIDC_ISSUER', '')[0] || undefined,
    clientId: read.setting('oidcClientId', '--oidc-client-id', 'COUNTERSIGN_OIDC_CLIENT_ID', '')[0] || undefined,
    clientSecret: read.variable('COUNTERSIGN_OIDC_CLIENT_SECRET'),
  }
  const bootstrapKey = readBootstrapKey(read)
  const { hold = false, acceptCopy = false } = flags
  if (hold && acceptCopy) read.fault('--hold', 'cannot be given together with --accept-copy')
  const instance = {
    hold,
    acceptCopy,
    file: read.variable('COUNTERSIGN_INSTANCE_FILE'),
    token: read.variable('COUNTERSIGN_INSTANCE_TOKEN'),
  }
  const models = readModels(read)
  if (read.problems.length > 0 || !logLevel) throw new ConfigError(undefined, read.problems)
  return {
    ...{ host, port, dataDir, database, executions, modelCalls, logLevel, ...reached, sessionLimits, rateLimits, oidc, bootstrapKey },
    configFile: read.setting('config', '--config', 'COUNTERSIGN_CONFIG', '')[0] || undefined,
    // The driver reads it by itself.
    databasePassword: database.kind === 'postgres' ? read.variable('PGPASSWORD') : undefined,
    auditKeyFile: read.variable('COUNTERSIGN_AUDIT_KEY_FILE'),
    headFile: read.variable('COUNTERSIGN_AUDIT_HEAD_FILE'),
    ...{ instance, models },
  }
}

type Reader = ReturnType<typeof createReader>

/** Reads one flag or variable after the other, and notes what cannot be used. */
function createReader(flags: SettingsFlags, environment: Environment) {
  const problems: SetupProblem[] = []
  const fault = (name: string, message: string) => problems.push({ path: [name], message })
  const variable = (name: string): string | undefined => environment[name] || undefined
  /** Returns the value and the flag or variable that set it. */
  const setting = (flag: keyof SettingsFlags, flagName: string, name: string, fallback: string): [value: string, from: string] =>
    flags[flag] === undefined ? [variable(name) ?? fallback, name] : [String(flags[flag]), flagName]
  return {
    ...{ problems, fault, variable, setting },
    count(flag: keyof SettingsFlags, flagName: string, name: string, fallback: number): number {
      const [text, from] = setting(flag, flagName, name, String(fallback))
      if (!/^[1-9]\d{0,3}$/.test(text)) fault(from, `must be a number from 1 to 9999, not ${JSON.stringify(text)}`)
      return Number(text)
    },
    duration(name: string, fallback: string): number {
      const text = variable(name) ?? fallback
      const ms = durationMs(text)
      if (ms === undefined) fault(name, `must be an ISO 8601 duration such as ${fallback}, not ${JSON.stringify(text)}`)
      return ms ?? 0
    },
    rate(name: string, fallback: number): number {
      const text = variable(name) ?? String(fallback)
      if (!/^\d{1,7}$/.test(text)) fault(name, `must be a whole number, 0 for no limit, not ${JSON.stringify(text)}`)
      return Number(text)
    },
  }
}

function readPort({ setting, fault }: Reader): number {
  const [text, from] = setting('port', '--port', 'COUNTERSIGN_PORT', '4319')
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) fault(from, `must be a port from 0 to 65535, not ${JSON.stringify(text)}`)
  return Number(text)
}

function readLogLevel({ setting, fault }: Reader): LogLevel | undefined {
  const [text, from] = setting('logLevel', '--log-level', 'COUNTERSIGN_LOG_LEVEL', 'info')
  const logLevel = LOG_LEVELS.find((level) => level === text)
  if (!logLevel) fault(from, `must be one of ${LOG_LEVELS.join(', ')}, not ${JSON.stringify(text)}`)
  return logLevel
}

const POSTGRES_URL = 'must be a postgres:// address, with special characters of the password encoded (/ as %2F)'

function readDatabase({ setting, fault }: Reader, dataDir: string, acceptLoss: boolean): Database {
  const [url, urlFrom] = setting('databaseUrl', '--database-url', 'DATABASE_URL', '')
  const [directUrl, directFrom] = setting('databaseDirectUrl', '--database-direct-url', 'DATABASE_DIRECT_URL', '')
  if (url !== '' && !isPostgresUrl(url)) fault(urlFrom, `${POSTGRES_URL}; take it out to use the built-in database`)
  if (directUrl !== '' && !isPostgresUrl(directUrl)) fault(directFrom, POSTGRES_URL)
  if (directUrl !== '' && url === '') fault(directFrom, 'is of use only beside DATABASE_URL')
  if (url === '') return { kind: 'sqlite', dataDir, ...(acceptLoss ? { acceptLoss } : {}) }
  return { kind: 'postgres', url, directUrl: directUrl || undefined }
}

/** Where the server is reached, and by way of whom. */
function readReached({ setting, variable, fault }: Reader): Pick<Settings, 'publicUrl' | 'trustedProxies'> {
  const [publicUrl, from] = setting('publicUrl', '--public-url', 'COUNTERSIGN_PUBLIC_URL', '')
  const isUsable = publicUrl === '' || isOrigin(publicUrl)
  if (!isUsable) fault(from, 'must be an http:// or https:// address without a path')
  const trustedProxies = (variable('COUNTERSIGN_TRUST_PROXY') ?? '').split(',').flatMap((part) => part.trim() || [])
  for (const proxy of trustedProxies) {
    if (!isAddressOrRange(proxy))
      fault('COUNTERSIGN_TRUST_PROXY', `must list addresses or ranges such as 10.0.0.0/8, not ${JSON.stringify(proxy)}`)
  }
  return { publicUrl: publicUrl === '' || !isUsable ? undefined : new URL(publicUrl).origin, trustedProxies }
}

function readBootstrapKey({ variable, fault }: Reader): string | undefined {
  const key = variable('COUNTERSIGN_BOOTSTRAP_KEY')
  if (key !== undefined && !/^[\x21-\x7e]*$/.test(key)) {
    fault('COUNTERSIGN_BOOTSTRAP_KEY', 'must be printable ASCII without spaces: it is sent in a header')
  } else if (key !== undefined && key.length < MIN_KEY_CHARACTERS) {
    fault('COUNTERSIGN_BOOTSTRAP_KEY', `must have at least ${MIN_KEY_CHARACTERS} characters, it has ${key.length}`)
  }
  return key
}

function readModels({ variable, fault }: Reader): ModelSettings {
  const provider = (keys: readonly string[], baseUrlName: string): ProviderSettings => {
    const baseUrl = variable(baseUrlName)
    if (baseUrl !== undefined && !isHttpUrl(baseUrl)) fault(baseUrlName, 'must be an http:// or https:// address')
    return { apiKey: keys.map(variable).find((key) => key !== undefined), baseUrl: baseUrl?.replace(/\/+$/, '') }
  }
  return {
    openai: provider(['OPENAI_API_KEY'], 'OPENAI_BASE_URL'),
    anthropic: provider(['ANTHROPIC_API_KEY'], 'ANTHROPIC_BASE_URL'),
    google: provider(['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'], 'GOOGLE_BASE_URL'),
    openaiCompatible: {
      ...provider(['OPENAI_COMPATIBLE_API_KEY'], 'OPENAI_COMPATIBLE_BASE_URL'),
      ...(variable('OPENAI_COMPATIBLE_PICTURES') === 'true' && { pictures: true }),
    },
  }
}

function isPostgresUrl(text: string): boolean {
  try {
    const { protocol, username, password, pathname } = new URL(text)
    for (const part of [username, password, pathname]) decodeURIComponent(part)
    return /^postgres(ql)?:$/.test(protocol)
  } catch {
    return false
  }
}

const isHttpUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

const isOrigin = (text: string): boolean => isHttpUrl(text) && new URL(text).href === `${new URL(text).origin}/`

function isAddressOrRange(text: string): boolean {
  const [, address = '', bits] = /^([\da-f:.]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? []
  const version = isIP(address)
  return version !== 0 && (bits === undefined || Number(bits) <= (version === 4 ? 32 : 128))
}
