import { Command } from 'commander'
import type { Environment } from '../config/index.ts'
import { requireSafeAddress } from './api.ts'
import type { Bridge, BridgeTarget } from './mcp-bridge.ts'
import type { McpFlags } from './mcp-own.ts'
import { complain } from './say.ts'

const HELP = `
It speaks MCP on standard input and output, for clients that start a command. What reads runs; what changes something waits for a person,
who decides in the console: its address is printed on standard error.

Examples:
  countersign mcp -- npx -y @modelcontextprotocol/server-filesystem ~/work
      another MCP server behind the gate, with a database of its own under ~/.countersign (it uses neither DATABASE_URL nor COUNTERSIGN_DATA)
  countersign mcp --env GITHUB_TOKEN -- npx -y some-github-server
      the same; the program gets this variable, too
  countersign mcp --config countersign.yaml
      the tools of a configuration
  countersign mcp --server https://approve.example.com --agent desk
      the tools of an agent of a running server; the key is in COUNTERSIGN_KEY

Claude Desktop, Cursor, Windsurf and others (mcpServers of their JSON file):
  { "mcpServers": { "files": { "command": "/home/ana/desk/node_modules/.bin/countersign",
      "args": ["mcp", "--", "npx", "-y", "@modelcontextprotocol/server-filesystem", "/home/ana/work"] } } }
VS Code (.vscode/mcp.json): the same under "servers", with "type": "stdio".
Claude Code:
  claude mcp add files -- /home/ana/desk/node_modules/.bin/countersign mcp -- npx -y @modelcontextprotocol/server-filesystem ~/work

Exit code: 0 when the client has closed standard input, or a signal has stopped it; 1 when it could not start.`

/** `countersign mcp`: the gate for clients that start a command. Standard output carries the protocol and nothing else. */
export const mcpCommand = (environment: Environment): Command =>
  new Command('mcp')
    .description('an MCP server on standard input and output, in front of another one or of your configuration')
    .showHelpAfterError('(the options of an MCP server come after --: countersign mcp -- npx -y …)')
    .argument('[command...]', 'after --: the MCP server to put the gate in front of')
    .option('--config <file>', 'configuration (COUNTERSIGN_CONFIG, default countersign.config.ts or countersign.yaml here)')
    .option('--policy <file>', 'policy for the tools of the command; default: what reads runs, everything else asks')
    .option('--env <name...>', 'variables that the command gets besides PATH, HOME and the like')
    .option('--server <url>', 'a running server, whose tools are offered (COUNTERSIGN_SERVER)')
    .option('--key <key>', 'its key; better in COUNTERSIGN_KEY, where other users of this machine do not see it')
    .option('--agent <name>', 'offer the tools of this agent only')
    .option('--port <number>', 'port of the console (COUNTERSIGN_PORT, default 4319, or any free one)')
    .option('--data <folder>', 'where the embedded database is (default: one for each command or configuration under ~/.countersign)')
    .option('--log-level <level>', 'fatal, error, warn, info, debug, trace or silent (COUNTERSIGN_LOG_LEVEL, default warn)')
    .addHelpText('after', HELP)
    .action((command: string[], flags: McpFlags) => runMcp(command, flags, environment))

async function runMcp(command: readonly string[], flags: McpFlags, environment: Environment): Promise<void> {
  const joined = flags.server ?? environment.COUNTERSIGN_SERVER
  if (joined === undefined) return runOwn(command, flags, environment)
  if (command.length > 0) throw new Error('a running server has its tools already: leave out the command, or leave out --server')
  const key = flags.key ?? environment.COUNTERSIGN_KEY
  if (!key) throw new Error(`a key of the server ${joined} is needed: put it in COUNTERSIGN_KEY`)
  requireSafeAddress(joined, '--server')
  await runUntilGone(await bridgeTo({ url: addressOf(joined, flags.agent), key, complain }))
}

/** Only this command loads the libraries of the protocol. */
const bridgeTo = async (target: BridgeTarget): Promise<Bridge> => (await import('./mcp-bridge.ts')).openBridge(target)

/** Starts a server in this process, and bridges to it until the client is gone. */
async function runOwn(command: readonly string[], flags: McpFlags, environment: Environment): Promise<void> {
  const { startOwn } = await import('./mcp-own.ts')
  const { key, server } = await startOwn(command, flags, environment)
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

/** Resolves when the client closes standard input, or when the process is told to stop. */
async function runUntilGone(bridge: Bridge): Promise<void> {
  const stop = () => void bridge.close()
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  await bridge.ended
  process.off('SIGINT', stop)
  process.off('SIGTERM', stop)
}
