import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Block, blocksOf } from './blocks.ts'
import { type CliCommand, cliCommands } from './cli.ts'

/** Every call of `countersign` or of a script of `package.json` that does not exist or has an unknown flag, in words. */
export const shellProblems = (root: string, { page, code }: Pick<Block, 'page' | 'code'>): string[] =>
  callsIn(code).flatMap((words) => callProblems(root, page, words))

/** The commands of a text, each as its words, without the variables that are set before it. */
function callsIn(code: string): string[][] {
  const text = code.replace(/\\\n/g, ' ').replace(/(^|\s)#[^\n]*/g, '$1')
  return text
    .replace(/"\$\(|\$\(|`/g, '\n')
    .split(/\n|&&|\|\||[|;&()]/)
    .map((part) => (part.match(/'[^']*'|"[^"]*"|\S+/g) ?? []).map((word) => word.replace(/^\[|\]$/g, '')))
    .map((words) => words.slice(words.findIndex((word) => !/^(\w+=|export$|do$)/.test(word))))
    .filter((words) => words.length > 0)
}

const QUIET = ['-s', '--silent']

function callProblems(root: string, page: string, [program = '', ...words]: string[]): string[] {
  if (program === 'countersign') return flagProblems(['countersign', ...words])
  if (program === 'npx') return callProblems(root, page, words[0] === '-y' ? words.slice(1) : words)
  if (program === 'node') return fileProblems(root, page, words)
  if (program !== 'npm') return []
  const [task = '', script = '', ...rest] = words.filter((word) => !QUIET.includes(word))
  const isShort = ['start', 'test'].includes(task)
  if (!isShort && task !== 'run') return []
  const name = isShort ? task : script
  const given = isShort ? [script, ...rest] : rest
  const problems = [root, join(root, dirname(page))].some((folder) => name in scriptsOf(folder))
    ? []
    : [`package.json has no script ${name}`]
  const own = given[0] === '--' ? given.slice(1) : []
  if (name === 'countersign') problems.push(...flagProblems(['countersign', ...own]))
  if (name === 'start') problems.push(...flagProblems(['countersign', 'demo', ...own]))
  return problems
}

const scriptsOf = (folder: string): Record<string, string> => {
  const path = join(folder, 'package.json')
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')).scripts ?? {}) : {}
}

function fileProblems(root: string, page: string, words: readonly string[]): string[] {
  const file = words.find((word) => /\.(m?js|ts)$/.test(word))
  if (file === undefined) return []
  const isWritten = () => blocksOf(root, page).some(({ attributes }) => attributes.file === file)
  return existsSync(join(root, file)) || existsSync(join(root, dirname(page), file)) || isWritten() ? [] : [`there is no file ${file}`]
}

const COMMANDS = new Map(cliCommands().map(({ words, command }) => [words, command]))

function flagProblems(words: readonly string[]): string[] {
  let path = 'countersign'
  let at = 1
  while (at < words.length && COMMANDS.has(`${path} ${words[at]}`)) path += ` ${words[at++]}`
  const command = COMMANDS.get(path)
  if (!command) return []
  const [next] = words.slice(at)
  const isGroup = command.commands.length > 0
  if (isGroup && next !== undefined && !next.startsWith('-')) return [`${path} has no command ${next}`]
  const flags = words.slice(at)
  const end = flags.indexOf('--')
  return (end < 0 ? flags : flags.slice(0, end))
    .filter((word) => /^--?[a-z]/i.test(word))
    .map((word) => word.replace(/=.*$/, ''))
    .filter((flag) => !isFlagOf(command, flag))
    .map((flag) => `${path} has no flag ${flag}`)
}

const isFlagOf = (command: CliCommand['command'], flag: string): boolean =>
  ['--help', '-h'].includes(flag) || command.options.some((option) => option.long === flag || option.short === flag)
