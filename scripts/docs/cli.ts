import { createProgram } from '../../packages/server/src/cli/index.ts'

const program = await createProgram({})

type Command = typeof program

/** A command with the words that call it: `countersign policy test`. */
export interface CliCommand {
  words: string
  command: Command
}

/** Every command, each before its subcommands. */
export function cliCommands(command: Command = program, before = ''): CliCommand[] {
  const words = `${before} ${command.name()}`.trim()
  return [{ words, command }, ...command.commands.flatMap((one) => cliCommands(one, words))]
}

/** The `--help` of every command, as the command prints it. */
export const cliReference = (): string =>
  cliCommands()
    .map(
      ({ words, command }) =>
        `## \`${words}\`\n\n\`\`\`text\n${command.configureHelp({ helpWidth: 110 }).helpInformation().trim()}\n\`\`\`\n`,
    )
    .join('\n')
