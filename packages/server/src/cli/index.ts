import { Command } from 'commander'
import type { Environment } from '../config/index.ts'
import { tolerateClosedOutput } from './closed-output.ts'
import { complain } from './say.ts'

type OpenCommand = (environment: Environment) => Promise<Command>

/**
 * The subcommands, in the order of the help. Each is loaded when it is called: `hook` starts for every call of a coding agent, and would
 * take three times as long with the code of the server.
 */
const COMMANDS: Readonly<Record<string, OpenCommand>> = {
  init: async () => (await import('./init/index.ts')).initCommand(),
  serve: async (environment) => (await import('./serve.ts')).serveCommand(environment),
  demo: async (environment) => (await import('./demo.ts')).demoCommand(environment),
  mcp: async (environment) => (await import('./mcp.ts')).mcpCommand(environment),
  connect: async (environment) => (await import('./connect/connect.ts')).connectCommand(environment),
  hook: async (environment) => (await import('./hook.ts')).hookCommand(environment),
  acp: async (environment) => (await import('./acp/acp.ts')).acpCommand(environment),
  opencode: async (environment) => (await import('./opencode/opencode.ts')).opencodeCommand(environment),
  codex: async (environment) => (await import('./codex/codex.ts')).codexCommand(environment),
  inbox: async (environment) => (await import('./inbox.ts')).inboxCommand(environment),
  approve: async (environment) => (await import('./inbox.ts')).decideCommand('approve', environment),
  decline: async (environment) => (await import('./inbox.ts')).decideCommand('decline', environment),
  tail: async (environment) => (await import('./tail.ts')).tailCommand(environment),
  run: async (environment) => (await import('./run.ts')).runAgentCommand(environment),
  archive: async (environment) => (await import('./archive.ts')).archiveCommand(environment),
  backup: async (environment) => (await import('./backup.ts')).backupCommand(environment),
  restore: async (environment) => (await import('./backup.ts')).restoreCommand(environment),
  migrate: async (environment) => (await import('./migrate.ts')).migrateCommand(environment),
  policy: async (environment) => (await import('./policy.ts')).policyCommand(environment),
  doctor: async (environment) => (await import('./doctor.ts')).doctorCommand(environment),
  audit: async (environment) => (await import('./audit.ts')).auditCommand(environment),
  key: async (environment) => (await import('./key.ts')).keyCommand(environment),
  'sign-in': async (environment) => (await import('./sign-in.ts')).signInCommand(environment),
}

const HELP = `
With --json a command prints one JSON object as one line, and what goes wrong as a sentence on standard error. Colours and a full screen are
for terminals only; NO_COLOR switches colours off.

Exit code: 0 when it is done, 1 when something went wrong or the command was not understood. The help of a command names the others.`

const describeProgram = (): Command =>
  new Command('countersign')
    .description('The approval layer for AI agents: agents propose, people countersign, actions run exactly once.')
    .showHelpAfterError('(countersign --help lists the commands)')
    .addHelpText('after', HELP)

/** Commands whose errors have an advice of their own. */
const OWN_HINT = ['mcp']

/**
 * Lets no option take another one for its value, as commander does: `restore FILE --data --force` would restore into a new folder `--force`,
 * beside the database that was meant.
 */
function refuseOptionsAsValues(command: Command): void {
  const own = new Set(['--help', '-h', ...command.options.flatMap(({ long, short }) => [long, short])])
  for (const option of command.options.filter(({ required }) => required))
    command.on(`option:${option.name()}`, (value: string) => {
      const [name = ''] = value.split('=')
      if (value === '--' || own.has(name))
        command.error(`error: option '${option.flags}' cannot take ${name}, itself an option, as its value`, {
          code: 'commander.optionMissingArgument',
        })
    })
}

/** Lets an error about arguments name the help of its command: the setting of the program is only for its own. */
function withHint(command: Command, name = `countersign ${command.name()}`): Command {
  for (const part of command.commands) withHint(part, `${name} ${part.name()}`)
  refuseOptionsAsValues(command)
  return OWN_HINT.includes(command.name()) ? command : command.showHelpAfterError(`(${name} --help has the arguments and options)`)
}

/** The `countersign` command with all its subcommands. */
export async function createProgram(environment: Environment): Promise<Command> {
  const { VERSION } = await import('@countersign/toolkit/internal')
  const program = describeProgram().version(VERSION)
  for (const open of Object.values(COMMANDS)) program.addCommand(withHint(await open(environment)))
  const { completionCommand } = await import('./completion.ts')
  return program.addCommand(withHint(completionCommand(() => program)))
}

/** The same with one subcommand, where the arguments begin with its name. */
async function programFor([name = '']: readonly string[], environment: Environment): Promise<Command> {
  const open = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  return open ? describeProgram().addCommand(withHint(await open(environment))) : createProgram(environment)
}

/** An empty variable counts as not set: Compose hands on `${COUNTERSIGN_URL:-}` as one. */
const withoutEmpty = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([name, value]) => value !== '' || !/^(COUNTERSIGN|DATABASE)_/.test(name)))

/** Runs `countersign`. A failure is printed in one sentence and sets the exit code to 1. */
export async function runCommand(argv: readonly string[], environment: Environment): Promise<void> {
  tolerateClosedOutput()
  try {
    const program = await programFor(argv.slice(2), withoutEmpty(environment))
    await program.parseAsync([...argv])
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  }
}
