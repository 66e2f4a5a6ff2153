import { posix } from 'node:path'
import {
  type Assignment,
  type Command,
  forEachChild,
  type ParameterExpansionPart,
  parse,
  type Redirect,
  type SyntaxNode,
  type Word,
} from 'unbash'
import { isSensitive } from '../sensitive-names.ts'
import {
  DECIDING_VARIABLE,
  DELETERS,
  DELETING_SUBCOMMANDS,
  GIT_READ_OPTION,
  GIT_READERS,
  INLINE_CODE,
  NETWORK,
  NETWORK_SUBCOMMANDS,
  PRIVILEGED,
  READERS,
  RUNS_DOWNLOADS,
  SHELLS,
  WRAPPERS,
} from './programs.ts'

/** The parts and risks of a shell command, read from its text alone. They are stored with the call, so that policy can match them. */
export interface ShellReading {
  /** False when a part cannot be read. Then the rest is incomplete, and nobody should rely on it. */
  understood: boolean
  /** Why it cannot be read. */
  unclear: string[]
  /** Every program that runs, once each, in the order of the text. */
  programs: string[]
  /** The words of a single command without operators, variables or patterns; else empty. */
  words: string[]
  /** Files that redirections write. */
  writes: string[]
  /** Paths outside the folder. */
  outside: string[]
  /** True when every program only prints what it reads, in the folder. */
  readOnly: boolean
  /** One of its programs uses the network. */
  network: boolean
  /** One of its programs deletes. */
  deletes: boolean
  /** One of its programs gets more rights. */
  privileged: boolean
  /** It contains `$(…)`, backquotes or `<(…)`. */
  substitutes: boolean
  /** It contains a program in another language, or hands one to its interpreter, which is not read. */
  inlineCode: boolean
}

const MAX_CHARS = 20_000
const MAX_NESTED = 4
/** Programs that run one another by their words. Each has all words of those behind it: 5,000 of them took 5 s. */
const MAX_WRAPPED = 16

/**
 * Reads a shell command: which programs run, what redirections write, and whether it deletes, reaches the network or gets more rights.
 * The lists of programs are short, so an unknown program is an unknown program: `readOnly` is then false and the other marks say nothing.
 * @param folder The folder that paths are compared with.
 * @param runsIn The folders that the call names as where the command runs.
 */
export function readCommand(command: string, folder: string, runsIn: readonly string[] = []): ShellReading {
  const reading: ShellReading = {
    understood: true,
    unclear: [],
    programs: [],
    words: [],
    writes: [],
    outside: [...new Set(runsIn.filter((path) => isOutside(path, folder)))],
    readOnly: !runsIn.some(isSensitive),
    network: false,
    deletes: false,
    privileged: false,
    substitutes: false,
    inlineCode: false,
  }
  const reader = new Reader(reading, folder, runsIn)
  reader.read(command, 0)
  reading.understood = reading.unclear.length === 0
  reading.readOnly &&= reading.understood && reading.writes.length === 0 && reading.outside.length === 0 && reading.programs.length > 0
  if (!reading.understood) reading.words = []
  return reading
}

class Reader {
  readonly #reading: ShellReading
  readonly #folder: string
  /** It may run in another folder than `folder`. */
  readonly #isElsewhere: boolean

  constructor(reading: ShellReading, folder: string, runsIn: readonly string[]) {
    this.#reading = reading
    this.#folder = folder
    this.#isElsewhere = runsIn.some((path) => posix.resolve('/', folder, path) !== posix.resolve('/', folder))
  }

  read(text: string, depth: number) {
    if (text.length > MAX_CHARS) return this.#unclear(`it is longer than ${MAX_CHARS} characters`)
    if (depth > MAX_NESTED) return this.#unclear('it is nested too deeply')
    if (/[\u0000-\u0008\u000b-\u001f\u007f]/.test(text)) return this.#unclear('it contains control characters')
    try {
      const script = parse(text)
      if (depth === 0) this.#reading.words = wordsOf(script)
      this.#visit(script, depth)
    } catch {
      this.#unclear('it is not a shell command that can be read')
    }
  }

  #visit(node: SyntaxNode, depth: number) {
    const { type } = node
    if (type === 'Script' && node.errors && node.errors.length > 0) this.#unclear('it is not valid shell syntax')
    if (type === 'Function') this.#unclear('it defines a function')
    if (type === 'Coproc') this.#unclear('it starts a coprocess')
    if (type === 'CommandExpansion' || type === 'ProcessSubstitution') this.#reading.substitutes = true
    if (type === 'Assignment') this.#assignment(node)
    if (type === 'ParameterExpansion') this.#expansion(node)
    if (type === 'Redirect') this.#redirect(node)
    if (type === 'Command') this.#command(node, depth)
    // Conditions and arithmetic may run what the index of a variable contains.
    if (isCompound(type)) this.#reading.readOnly = false
    if (type === 'Statement' && node.background) this.#reading.readOnly = false
    forEachChild(node, (child) => this.#visit(child, depth))
  }

  #assignment({ name }: Assignment) {
    // Many variables decide what a program loads or what the shell runs later, and the index of one may run a command.
    this.#reading.readOnly = false
    if (DECIDING_VARIABLE.test(name)) this.#unclear(`it sets ${name}`)
  }

  #expansion({ prefix, parameter, index, operation }: ParameterExpansionPart) {
    // Bash may evaluate the value of the variable, and then runs the commands in it.
    this.#reading.readOnly = false
    const isPrompt = operation?.type === 'Transform' && operation.operand.value === 'P'
    const isList = operation?.type === 'Names' || /^[@*]$/.test(index?.value ?? '')
    if (isPrompt || (prefix === '!' && !isList)) this.#unclear(`it runs commands in the value of ${parameter}`)
  }

  #command({ name, args }: Command, depth: number) {
    if (!name) return
    const words = args.map((arg) => (arg.type === 'Word' ? literal(arg) : arg.text))
    const program = literal(name)
    if (program === undefined) return this.#unclear('the name of a program is only known when it runs')
    this.#run(program, words, depth)
  }

  /**
   * Judges one program. An argument that is only known when it runs is undefined.
   * @param wrapped The number of programs in the same words that lead to it.
   */
  #run(path: string, args: readonly (string | undefined)[], depth: number, wrapped = 0) {
    if (wrapped > MAX_WRAPPED) return this.#unclear('too many programs run one another')
    const reading = this.#reading
    const program = posix.basename(path)
    if (!reading.programs.includes(path)) reading.programs.push(path)
    if (path !== program) reading.readOnly = false
    const known = args.filter((arg) => arg !== undefined)
    for (const word of known) this.#path(word)
    const { subcommands, options } = readSubcommand(args)
    reading.network ||=
      NETWORK.has(program) || RUNS_DOWNLOADS.has(program) || subcommands.some((word) => has(NETWORK_SUBCOMMANDS, program, word))
    reading.deletes ||=
      DELETERS.has(program) ||
      subcommands.some((word) => has(DELETING_SUBCOMMANDS, program, word)) ||
      (program === 'find' && known.includes('-delete')) ||
      (program === 'git' && known.some((word) => /^(-f|--force.*|--delete|-D)$/.test(word)))
    reading.privileged ||= PRIVILEGED.has(program)
    // A folder of files that make a repository may come with any project, and its settings name programs that even `git status` runs.
    reading.readOnly &&= isReader(program, args) && !(program === 'git' && this.#isElsewhere)
    reading.inlineCode ||= hasInlineCode(program, args)
    if (program === 'git' && configures(options)) this.#unclear('it gives git a configuration, which may run a program')
    if (program === 'eval' || program === 'source' || program === '.' || program === 'trap' || program === 'alias') {
      this.#unclear(`${program} runs what is not shown as a command`)
    } else if (SHELLS.has(program)) this.#shell(program, args, depth)
    else if (program === 'find') this.#find(args, depth, wrapped + 1)
    else if (WRAPPERS.has(program)) this.#wrapped(program, args, depth, wrapped + 1)
  }

  #shell(shell: string, args: readonly (string | undefined)[], depth: number) {
    const [option, text] = args
    if (option === '-c' && text !== undefined && args.length === 2) return this.read(text, depth + 1)
    this.#unclear(`${shell} runs commands that are not shown here`)
  }

  #find(args: readonly (string | undefined)[], depth: number, wrapped: number) {
    const isUnknown = () => this.#unclear('find runs a program that is only known when it runs')
    let at = args.findIndex(isExec)
    if (at < 0 && args.includes(undefined)) return isUnknown()
    while (at >= 0) {
      const length = args.slice(at).findIndex((word) => word === ';' || word === '+')
      const end = length < 0 ? args.length : at + length + 1
      const [program, ...rest] = args.slice(at + 1, end)
      if (program === undefined) return isUnknown()
      this.#run(program, rest, depth, wrapped)
      const next = args.slice(end).findIndex(isExec)
      at = next < 0 ? next : end + next
    }
  }

  /** `env A=1 timeout 5 npm test`: the program is the first word that is neither an option, an assignment nor a duration. */
  #wrapped(wrapper: string, args: readonly (string | undefined)[], depth: number, wrapped: number) {
    const at = args.findIndex((word) => word === undefined || !/^(\w+=.*|\d+(\.\d+)?[smhd]?)$/.test(word))
    const program = args[at]
    if (at < 0 && args.every((word) => word !== undefined)) return
    if (program === undefined || program.startsWith('-')) return this.#unclear(`${wrapper} has options, so it is not known what it runs`)
    for (const word of args.slice(0, at)) {
      const variable = /^(\w+)=/.exec(word ?? '')?.[1]
      if (variable !== undefined && DECIDING_VARIABLE.test(variable)) this.#unclear(`it sets ${variable}`)
    }
    this.#run(program, args.slice(at + 1), depth, wrapped)
  }

  #redirect({ operator, target }: Redirect) {
    const path = target && literal(target)
    if (path !== undefined && /^\/dev\/(tcp|udp)\//.test(path)) this.#reading.network = true
    if (!operator.includes('>')) {
      if (path === undefined) this.#reading.readOnly = false
      else if (operator === '<') this.#path(path)
      return
    }
    if (path !== undefined && (path === '/dev/null' || (operator === '>&' && /^(\d+|-)$/.test(path)))) return
    if (path === undefined) return this.#unclear('it writes a file whose name is only known when it runs')
    if (!this.#reading.writes.includes(path)) this.#reading.writes.push(path)
    this.#path(path)
  }

  #path(word: string) {
    // `--file=/etc/x`, `-f/etc/x` and `-f../x` name a path too.
    const value = word.startsWith('-') ? (/[=/~.](.*)$/s.exec(word)?.[0].replace(/^=/, '') ?? '') : word
    if (isSensitive(value)) this.#reading.readOnly = false
    if (!isOutside(value, this.#folder) || this.#reading.outside.includes(value)) return
    this.#reading.outside.push(value)
  }

  #unclear(why: string) {
    if (!this.#reading.unclear.includes(why)) this.#reading.unclear.push(why)
  }
}

const isExec = (word: string | undefined): boolean => word !== undefined && /^-(exec|execdir|ok|okdir)$/.test(word)

/**
 * Returns the words that may be the subcommand, and everything before the last of them: the word behind an option may be its value, as in
 * `git -C web push`.
 */
function readSubcommand(args: readonly (string | undefined)[]): { subcommands: string[]; options: readonly (string | undefined)[] } {
  const subcommands: string[] = []
  for (const [at, word] of args.entries()) {
    const isOption = word === undefined || word.startsWith('-')
    if (!isOption) subcommands.push(word)
    if (!isOption && !/^-[^=]*$/.test(args[at - 1] ?? '')) return { subcommands, options: args.slice(0, at) }
  }
  return { subcommands, options: args }
}

/** Settings of git that run nothing. */
const HARMLESS_SETTING = /^(user|author|committer|color|advice)\./i

/** True for options of git that decide which programs it runs. */
const configures = (options: readonly (string | undefined)[]): boolean =>
  options.some(
    (word, at) => (word === '-c' && !HARMLESS_SETTING.test(options[at + 1] ?? '')) || /^--(config-env|exec-path=)/.test(word ?? ''),
  )

/** Options with which an interpreter only says something about itself. `python3 -v` is none: it runs what it gets. */
const SAYS = /^(-V+|-h|-v|--version|--help|--ini|--test)$/

function hasInlineCode(program: string, args: readonly (string | undefined)[]): boolean {
  const name = Object.hasOwn(INLINE_CODE, program) ? program : program.replace(/[\d.]+$/, '')
  const code = Object.hasOwn(INLINE_CODE, name) ? INLINE_CODE[name] : undefined
  if (!code) return false
  if (args.some((word) => word === undefined || word === '-' || code.test(word))) return true
  // Without a file it takes its program from standard input.
  const saysOnly = args.some((word) => word !== undefined && SAYS.test(word) && !(word === '-v' && name.startsWith('python')))
  return !saysOnly && args.every((word) => word?.startsWith('-'))
}

const has = (table: Readonly<Record<string, readonly string[]>>, program: string, word: string): boolean =>
  Object.hasOwn(table, program) && (table[program] ?? []).includes(word)

/** True for a path that leads out of the folder, as far as its text says. A link may still lead out of it. */
export function isOutside(path: string, folder: string): boolean {
  if (path.startsWith('~')) return true
  if (path.startsWith('/')) return path !== '/dev/null' && !isWithin(posix.normalize(path), posix.normalize(folder))
  return /(^|\/)\.\.(\/|$)/.test(path) && !isWithin(posix.resolve('/', folder, path), posix.normalize(folder))
}

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)

function isReader(program: string, args: readonly (string | undefined)[]): boolean {
  // The value of a variable may be an option or a path of any kind.
  if (args.includes(undefined)) return false
  if (READERS.has(program)) return true
  const [first, ...rest] = args
  if (program !== 'git' || first === undefined || !GIT_READERS.has(first)) return false
  return rest.every((word) => !word?.startsWith('-') || GIT_READ_OPTION.test(word))
}

const COMPOUND = /^(If|For|ArithmeticFor|Select|While|Subshell|BraceGroup|Case|TestCommand|ArithmeticCommand|ArithmeticExpansion)$/
const isCompound = (type: string): boolean => COMPOUND.test(type)

/** The words of a text that is one command and nothing else; empty for every other. */
export function plainWords(text: string): string[] {
  if (text.length > MAX_CHARS) return []
  try {
    const script = parse(text)
    return script.errors && script.errors.length > 0 ? [] : wordsOf(script)
  } catch {
    return []
  }
}

/** The words of a script that is one command and nothing else: no operator, redirection, assignment or variable. */
function wordsOf({ commands }: ReturnType<typeof parse>): string[] {
  const [statement] = commands
  const command = statement?.command
  if (commands.length !== 1 || statement?.background || command?.type !== 'Command' || !command.name) return []
  if (command.prefix.length > 0 || command.redirects.length > 0) return []
  const words = [command.name, ...command.args].map((arg) => (arg.type === 'Word' ? literal(arg) : undefined))
  return words.every((word) => word !== undefined) ? words : []
}

const UNKNOWN = new Set<string>([
  'SimpleExpansion',
  'ParameterExpansion',
  'CommandExpansion',
  'ArithmeticExpansion',
  'ProcessSubstitution',
  'BraceExpansion',
  'Glob',
  'ExtendedGlob',
])

/** The value of a word without variables, substitutions and patterns; undefined for others. */
function literal(word: Word): string | undefined {
  let isKnown = true
  const look = (node: SyntaxNode): void => {
    if (UNKNOWN.has(node.type)) isKnown = false
    else forEachChild(node, look)
  }
  forEachChild(word, look)
  return isKnown ? word.value : undefined
}
