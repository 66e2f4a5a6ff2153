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

/** The `--help` of every command, as the command prints it: the texts after its options too. */
export const cliReference = (): string =>
  cliCommands()
    .map(({ words, command }) => `## \`${words}\`\n\n\`\`\`text\n${helpOf(command).trim()}\n\`\`\`\n`)
    .join('\n')

function helpOf(command: Command): string {
  let text = ''
  command
    .configureHelp({ helpWidth: 110 })
    .configureOutput({ writeOut: (part) => (text += part) })
    .outputHelp()
  return text
}
