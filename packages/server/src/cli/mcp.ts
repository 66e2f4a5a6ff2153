import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { Command } from 'commander'
import {
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
import { startServer } from '../server.ts'
import type { Bridge, BridgeTarget } from './mcp-bridge.ts'
import { complain } from './say.ts'
import { signInCommandLine } from './sign-in.ts'

interface McpFlags extends Pick<SettingsFlags, 'config' | 'data' | 'port' | 'logLevel'> {
  server?: string
  key?: string
  agent?: string
  policy?: string
  env?: string[]
}

const USUAL_PORT = '4319'

/** The group of the wrapped program’s tools, for a policy that names them; the client sees them under their own names. */
const GROUP = 'tools'

const HELP = `
It speaks MCP on standard input and output, for clients that start a command. What reads runs; what changes something waits for a person,
who decides in the console: its address is printed on standard error.

Examples:
  countersign mcp -- npx -y @modelcontextprotocol/server-filesystem ~/work
      another MCP server behind the gate, with a database of its own under ~/.countersign
  countersign mcp --env GITHUB_TOKEN -- npx -y some-github-server
      the same; the program gets this variable, too
  countersign mcp --config countersign.yaml
      the tools of a configuration
  countersign mcp --server https://approve.example.com --agent desk
      the tools of an agent of a running server; the key is in COUNTERSIGN_KEY

Claude Desktop, Cursor, Windsurf and others (mcpServers of their JSON file):
  { "mcpServers": { "files": { "command": "npx",
      "args": ["-y", "countersign", "mcp", "--", "npx", "-y", "@modelcontextprotocol/server-filesystem", "/home/ana/work"] } } }
VS Code (.vscode/mcp.json): the same under "servers", with "type": "stdio".
Claude Code: claude mcp add files -- npx -y countersign mcp -- npx -y @modelcontextprotocol/server-filesystem ~/work`

/** `countersign mcp`: the gate for clients that start a command. Standard output carries the protocol and nothing else. */
export const mcpCommand = (environment: Environment): Command =>
  new Command('mcp')
    .description('an MCP server on standard input and output, in front of another one or of your configuration')
    .argument('[command...]', 'after --: the MCP server to put the gate in front of')
    .option('--config <file>', 'configuration (COUNTERSIGN_CONFIG, default countersign.config.ts or countersign.yaml here)')
    .option('--policy <file>', 'policy for the tools of the command; default: what reads runs, everything else asks')
    .option('--env <name...>', 'variables that the command gets besides PATH, HOME and the like')
    .option('--server <url>', 'a running server, whose tools are offered (COUNTERSIGN_SERVER)')
    .option('--key <key>', 'its key; better in COUNTERSIGN_KEY, where other users of this machine do not see it')
    .option('--agent <name>', 'offer the tools of this agent only')
    .option('--port <number>', 'port of the console (COUNTERSIGN_PORT, default 4319, or any free one)')
    .option('--data <folder>', 'where the embedded database is (COUNTERSIGN_DATA, default: one for each command under ~/.countersign)')
    .option('--log-level <level>', 'fatal, error, warn, info, debug, trace or silent (COUNTERSIGN_LOG_LEVEL, default warn)')
    .addHelpText('after', HELP)
    .action((command: string[], flags: McpFlags) => runMcp(command, flags, environment))

async function runMcp(command: readonly string[], flags: McpFlags, environment: Environment): Promise<void> {
  const joined = flags.server ?? environment.COUNTERSIGN_SERVER
  if (joined === undefined) return runOwn(command, flags, environment)
  if (command.length > 0) throw new Error('a running server has its tools already: leave out the command, or leave out --server')
  const key = flags.key ?? environment.COUNTERSIGN_KEY
  if (!key) throw new Error(`a key of the server ${joined} is needed: put it in COUNTERSIGN_KEY`)
  if (!URL.canParse(joined)) throw new Error(`--server must be an address such as http://127.0.0.1:4319, not "${joined}"`)
  await runUntilGone(await bridgeTo({ url: addressOf(joined, flags.agent), key, complain }))
}

/** Only this command loads the libraries of the protocol. */
const bridgeTo = async (target: BridgeTarget): Promise<Bridge> => (await import('./mcp-bridge.ts')).openBridge(target)

/** Starts a separate server in this process; the client connects to it like any other. */
async function runOwn(command: readonly string[], flags: McpFlags, environment: Environment): Promise<void> {
  const { config: file, data, port, logLevel } = flags
  const settings = readSettings(
    {
      config: file,
      data: data ?? environment.COUNTERSIGN_DATA ?? dataFolderOf(command),
      port: port ?? environment.COUNTERSIGN_PORT ?? (await usualPortOrAny()),
      logLevel: logLevel ?? environment.COUNTERSIGN_LOG_LEVEL ?? 'warn',
    },
    environment,
  )
  const config = command.length > 0 ? await wrap(command, flags, environment) : await loadOwn(settings.configFile, environment)
  const key = `cs_${randomBytes(32).toString('base64url')}`
  const log = createLog(settings.logLevel, [...secretsOf(settings, config), key])
  const server = await startServer({ config, settings, log, clientKey: key })
  complain(`decide about calls at ${server.url}`)
  // No sign-in link here: the parent process reads standard error, and that is the agent's own client.
  complain(`to sign in there, run: ${signInCommandLine(settings)}`)
  try {
    await runUntilGone(await bridgeTo({ url: addressOf(server.url, flags.agent), key, complain }))
  } finally {
    await server.close()
  }
}

const addressOf = (server: string, agent: string | undefined): URL => {
  const url = new URL('/mcp', server)
  if (agent !== undefined) url.searchParams.set('agent', agent)
  return url
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
 */
function dataFolderOf(command: readonly string[]): string {
  const name = command.length === 0 ? resolve('.') : command.join('\0')
  return join(homedir(), '.countersign', `mcp-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`)
}

/** Uses the console's usual port, unless another server has it. */
function usualPortOrAny(): Promise<string> {
  const { promise, resolve: found } = Promise.withResolvers<string>()
  const probe = createServer()
  probe.once('error', () => found('0'))
  probe.listen(Number(USUAL_PORT), '127.0.0.1', () => probe.close(() => found(USUAL_PORT)))
  return promise
}

/** Resolves when the client closes standard input, or when the process is told to stop. */
async function runUntilGone(bridge: Bridge): Promise<void> {
  const stop = () => void bridge.close()
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  await bridge.ended
  process.off('SIGINT', stop)
  process.off('SIGTERM', stop)
}
