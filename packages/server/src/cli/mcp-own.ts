import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import {
  CONFIG_FILE_NAMES,
  type Config,
  type Environment,
  findConfig,
  loadConfig,
  openConfig,
  readSettings,
  type SettingsFlags,
  secretsOf,
} from '../config/index.ts'
import { createLog } from '../log.ts'
import { type RunningServer, startServer } from '../server.ts'
import { DataFolderInUse } from '../store/index.ts'
import { withoutData } from './options.ts'
import { quoted } from './own-command.ts'
import { complain } from './say.ts'
import { signInCommandLine } from './sign-in.ts'

export interface McpFlags extends Pick<SettingsFlags, 'config' | 'data' | 'port' | 'logLevel'> {
  server?: string
  key?: string
  agent?: string
  policy?: string
  env?: string[]
}

interface Own {
  key: string
  server: RunningServer
}

const USUAL_PORT = '4319'

/** The group of the wrapped program’s tools, for a policy that names them; the client sees them under their own names. */
const GROUP = 'tools'

/**
 * Starts a separate server in this process; the client connects to it like any other. Its data is its own: with the database of an
 * installation it would put its policy in the place of the one in force there.
 * @returns The server, and a key for the client.
 */
export async function startOwn(command: readonly string[], flags: McpFlags, environment: Environment): Promise<Own> {
  const { config: file, data, port, logLevel } = flags
  const settings = readSettings(
    {
      config: file,
      data: data ?? dataFolderOf(command, file ?? environment.COUNTERSIGN_CONFIG),
      port: port ?? environment.COUNTERSIGN_PORT ?? (await usualPortOrAny()),
      logLevel: logLevel ?? environment.COUNTERSIGN_LOG_LEVEL ?? 'warn',
    },
    withoutData(environment),
  )
  const config = command.length > 0 ? await wrap(command, flags, environment) : await loadOwn(settings.configFile, environment)
  const unknown = whyNotAgent(config, flags.agent)
  if (unknown !== undefined) {
    await config.close()
    throw new Error(`--agent: ${unknown}`)
  }
  const key = `cs_${randomBytes(32).toString('base64url')}`
  const log = createLog(settings.logLevel, [...secretsOf(settings, config), key])
  const server = await startServer({ config, settings, log, clientKey: key }).catch((error: unknown) => {
    throw error instanceof DataFolderInUse ? alreadyRuns(settings.dataDir, error) : error
  })
  complain(`decide about calls at ${server.url}`)
  // No sign-in link here: the parent process reads standard error, and that is the agent's own client.
  complain(`to sign in there, run: ${signInCommandLine(settings, typedAnywhere())}`)
  return { key, server }
}

/** The client would hear it with each of its requests, and many show their users none of that. */
function whyNotAgent({ agents }: Pick<Config, 'agents'>, agent: string | undefined): string | undefined {
  if (agent === undefined || agents.some(({ name }) => name === agent)) return undefined
  const known = agents.map(({ name }) => name).join(', ')
  return `there is no agent ${agent}${known === '' ? ': no agents are configured' : `; there is ${known}`}`
}

/** A host with two windows, or a second host, starts the same command again. */
const alreadyRuns = (dataDir: string, cause: Error): Error =>
  new Error(
    `another client or window already has this running, with its data in ${dataDir}. To share one inbox, run countersign serve with these tools and give each client countersign mcp --server URL; for an inbox of its own, add --data FOLDER.`,
    { cause },
  )

/** The whole path where npm installed the command: the client starts it in a folder of its own. */
function typedAnywhere(): string | undefined {
  const started = process.argv[1] ?? ''
  return /[\\/]\.bin[\\/]countersign$/.test(started) ? quoted(started) : undefined
}

async function loadOwn(given: string | undefined, environment: Environment): Promise<Config> {
  const file = given ?? (await findConfig(resolve('.')))
  if (file === undefined) throw new Error('name an MCP server after --, or a configuration with --config (countersign mcp --help)')
  return loadConfig(file, environment)
}

/** Returns the configuration of a wrapped program: its tools under their own names. */
function wrap([program = '', ...args]: readonly string[], { policy, env = [] }: McpFlags, environment: Environment): Promise<Config> {
  const variables = Object.fromEntries(env.map((name) => [name, `\${${name}}`]))
  const document = {
    tools: { [GROUP]: { prefix: false, mcp: { command: program, args, env: variables } } },
    ...(policy !== undefined && { policy }),
  }
  return openConfig(document, { environment, folder: resolve('.'), source: 'countersign mcp' })
}

/**
 * Returns a data folder for each command: clients often start commands in a read-only folder, and two commands must not share a database.
 * A configuration has the same one wherever it is named from: a client starts all its commands in one folder.
 */
function dataFolderOf(command: readonly string[], configFile: string | undefined): string {
  const name = command.length > 0 ? command.join('\0') : placeOf(configFile)
  return join(homedir(), '.countersign', `mcp-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`)
}

/** The folder of a configuration that is found there without its name, else the file. */
function placeOf(configFile: string | undefined): string {
  if (!configFile) return resolve('.')
  const file = resolve(configFile)
  return CONFIG_FILE_NAMES.includes(basename(file)) ? dirname(file) : file
}

/** Uses the console's usual port, unless another server has it. */
function usualPortOrAny(): Promise<string> {
  const { promise, resolve: found } = Promise.withResolvers<string>()
  const probe = createServer()
  probe.once('error', () => found('0'))
  probe.listen(Number(USUAL_PORT), '127.0.0.1', () => probe.close(() => found(USUAL_PORT)))
  return promise
}
