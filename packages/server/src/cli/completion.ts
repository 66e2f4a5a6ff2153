import { Argument, Command } from 'commander'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

const COMPLETION_HELP = `
bash: countersign completion bash > ~/.local/share/bash-completion/completions/countersign
zsh:  countersign completion zsh > "\${fpath[1]}/_countersign"
fish: countersign completion fish > ~/.config/fish/completions/countersign.fish

Exit code: 0 with a script, 1 without.`

/** `countersign completion <shell>`: prints a script that completes commands and options. @param rootOf Returns the whole program. */
export const completionCommand = (rootOf: () => Command): Command =>
  new Command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', COMPLETION_HELP)
    .action((shell: Shell) => void process.stdout.write(SCRIPTS[shell](wordsOf(rootOf()))))

/** The words that may follow each command, by its path: `policy test` → `--json …`. */
function wordsOf(command: Command, path = ''): [string, string[]][] {
  const subcommands = command.commands.map((sub) => sub.name())
  const options = command.options.filter(({ hidden }) => !hidden).flatMap(({ long }) => long ?? [])
  const own: [string, string[]] = [path, [...subcommands, ...options, '--help']]
  return [own, ...command.commands.flatMap((sub) => wordsOf(sub, `${path} ${sub.name()}`.trim()))]
}

type Words = readonly (readonly [string, readonly string[]])[]

const cases = (words: Words): string => words.map(([path, next]) => `    "${path}") words="${next.join(' ')}" ;;`).join('\n')

/** Shell code that sets `seen` to the path of commands before the cursor, without options. */
const FIND_COMMAND = `  local seen="" word words=""
  for word in $typed; do
    case "$word" in -*) ;; *) if [[ " $paths " == *"|\${seen:+$seen }$word|"* ]]; then seen="\${seen:+$seen }$word"; fi ;; esac
  done`

const pathsOf = (words: Words): string => words.map(([path]) => `|${path}|`).join(' ')

const SCRIPTS: Readonly<Record<Shell, (words: Words) => string>> = {
  bash: (words) => `_countersign() {
  local paths='${pathsOf(words)}'
  local typed="\${COMP_WORDS[*]:1:COMP_CWORD-1}"
${FIND_COMMAND}
  case "$seen" in
${cases(words)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _countersign countersign
`,
  zsh: (words) => `#compdef countersign
_countersign() {
  setopt local_options sh_word_split
  local paths='${pathsOf(words)}'
  local typed="\${words[2,CURRENT-1]}"
${FIND_COMMAND.replace(' words=""', ' next=""')}
  case "$seen" in
${cases(words).replaceAll('words=', 'next=')}
  esac
  compadd -- $next
}
compdef _countersign countersign
`,
  fish: (words) =>
    `complete -c countersign -f\n${words
      .flatMap(([path, next]) => {
        const seen = path === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${path.split(' ').at(-1)}`
        return next.map((word) =>
          word.startsWith('--')
            ? `complete -c countersign -n '${seen}' -l ${word.slice(2)}`
            : `complete -c countersign -n '${seen}' -a ${word}`,
        )
      })
      .join('\n')}\n`,
}
