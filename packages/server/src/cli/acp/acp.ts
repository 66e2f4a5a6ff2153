import { Command } from 'commander'
import type { Environment } from '../../config/index.ts'
import { withServerAddress } from '../api.ts'
import { type ProxyFlags, runProxy } from '../proxy/run-proxy.ts'
import { createAcpDialect } from './acp-dialect.ts'

const HELP = `
An editor starts it in the place of the agent: countersign acp -- npx @agentclientprotocol/claude-agent-acp. Messages pass unchanged. When the
agent asks for permission, the editor shows its prompt, and a card waits in Countersign: the first answer counts, and the other prompt
closes. A call that policy denies, or that the server cannot be asked about, is refused.

The key is that of an agent: COUNTERSIGN_KEY in the environment, or a file that holds it. The agent does not get it.

Exit code: that of the agent. 1 when it cannot be started.`

/** `countersign acp -- agent`: stands between an editor and an agent that speak the Agent Client Protocol. */
export const acpCommand = (environment: Environment): Command =>
  withServerAddress(new Command('acp'))
    .description('stand between an editor and its agent (Agent Client Protocol): permissions are asked in both places')
    .argument('<agent...>', 'the command that starts the agent, after --')
    .option('--limit <seconds>', 'how long people may take before a call is refused', '3600')
    .addHelpText('after', HELP)
    .action((command: string[], flags: ProxyFlags) => runProxy({ command, flags, environment, dialect: createAcpDialect() }))
