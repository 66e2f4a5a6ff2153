import type { Command } from 'commander'
import type { Environment } from '../config/index.ts'

/** The flags that say where the data is. */
export interface DataFlags {
  data?: string
  databaseUrl?: string
  databaseDirectUrl?: string
}

export const withDataFlags = (command: Command): Command =>
  command
    .option('--data <folder>', 'where the embedded database is (COUNTERSIGN_DATA, default ./.countersign)')
    .option('--database-url <url>', 'Postgres instead of the embedded database (DATABASE_URL)')
    .option('--database-direct-url <url>', 'the same database past a pooler in transaction mode (DATABASE_DIRECT_URL)')

/** The flags of every command that runs a server. */
export interface ServerFlags extends DataFlags {
  config?: string
  port?: string
  host?: string
  logLevel?: string
  maxExecutions?: string
  maxExecutionsPerSession?: string
  maxModelCalls?: string
  publicUrl?: string
  oidcIssuer?: string
  oidcClientId?: string
  acceptLoss?: true
  hold?: boolean
  acceptCopy?: boolean
  open: boolean
}

const SERVER_HELP = `
Exit code: 0 when it was stopped by Ctrl + C or by a signal, 1 when it could not start. 130 when a second signal stopped it at once.`

/** The variables that name the data of an installation, whose server may run in the same environment. */
const OF_AN_INSTALLATION = [
  'COUNTERSIGN_DATA',
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'COUNTERSIGN_INSTANCE_FILE',
  'COUNTERSIGN_INSTANCE_TOKEN',
  'COUNTERSIGN_AUDIT_KEY_FILE',
  'COUNTERSIGN_AUDIT_HEAD_FILE',
]

/**
 * Returns the environment of a server with data of its own: on the data of an installation, such a server would replace the policy in force
 * there.
 */
export const withoutData = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !OF_AN_INSTALLATION.includes(name)))

/** @param how Whether the variables of the environment name the data, too. */
export const withServerFlags = (command: Command, { readsData = true } = {}): Command =>
  command
    .option('--port <number>', 'port to listen on; 0 takes any free one (COUNTERSIGN_PORT, default 4319)')
    .option('--host <address>', 'address to listen on (COUNTERSIGN_HOST, default 127.0.0.1)')
    .option('--data <folder>', `where the embedded database is (${readsData ? 'COUNTERSIGN_DATA, ' : ''}default ./.countersign)`)
    .option('--accept-loss', 'start although the data folder lost its database or its newest commits; its remaining files are moved aside')
    .option('--database-url <url>', `Postgres 15 or newer instead of the embedded database${readsData ? ' (DATABASE_URL)' : ''}`)
    .option(
      '--database-direct-url <url>',
      `the same database past a pooler in transaction mode${readsData ? ' (DATABASE_DIRECT_URL)' : ''}`,
    )
    .option('--max-executions <number>', 'actions that this process executes at a time (COUNTERSIGN_MAX_EXECUTIONS, default 128)')
    .option('--max-executions-per-session <number>', 'the same for one session (COUNTERSIGN_MAX_EXECUTIONS_PER_SESSION, default 8)')
    .option('--max-model-calls <number>', 'model calls of this process at a time (COUNTERSIGN_MAX_MODEL_CALLS, default 200)')
    .option('--public-url <url>', 'where browsers find the console, when that differs from where it listens (COUNTERSIGN_PUBLIC_URL)')
    .option('--oidc-issuer <url>', 'OpenID Connect provider that people sign in with (COUNTERSIGN_OIDC_ISSUER)')
    .option('--oidc-client-id <id>', 'id of this server at the provider; the secret comes from COUNTERSIGN_OIDC_CLIENT_SECRET')
    .option('--log-level <level>', 'fatal, error, warn, info, debug, trace or silent (COUNTERSIGN_LOG_LEVEL, default info)')
    .option('--hold', 'execute nothing until an admin accepts the database in the console')
    .option('--accept-copy', 'once, for a database that looks like a copy: make it a separate installation and continue')
    .option('--no-open', 'do not open the browser')
    .addHelpText('after', SERVER_HELP)
