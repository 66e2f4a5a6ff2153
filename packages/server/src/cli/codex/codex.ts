import { Command } from 'commander'
import type { Environment } from '../../config/index.ts'
import { withServerAddress } from '../api.ts'
import { type ProxyFlags, runProxy } from '../proxy/run-proxy.ts'
import { createCodexDialect } from './codex-dialect.ts'

const HELP = `
A program that drives Codex starts it in the place of codex app-server: countersign codex -- codex app-server. Messages pass unchanged. When
Codex asks for the approval of a command or of changed files, the program shows its prompt, and a card waits in Countersign: the first answer
counts, and the other prompt closes. A call that policy denies, or that the server cannot be asked about, is declined.

The key is that of an agent: COUNTERSIGN_KEY in the environment, or a file that holds it. Codex does not get it.

Exit code: that of Codex. 1 when it cannot be started.`

/** `countersign codex -- codex app-server`: stands between Codex and a program that drives it. */
export const codexCommand = (environment: Environment): Command =>
  withServerAddress(new Command('codex'))
    .description('stand between the app-server of Codex and the program that drives it: approvals are asked in both places')
    .argument('<codex...>', 'the command that starts the app-server, after --')
    .option('--limit <seconds>', 'how long people may take before a call is declined', '3600')
    .addHelpText('after', HELP)
    .action((command: string[], flags: ProxyFlags) => runProxy({ command, flags, environment, dialect: createCodexDialect() }))
