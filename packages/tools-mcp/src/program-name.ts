import { basename } from 'node:path'

/** Programs that run another program named in their arguments, with the words that come before the name. */
const RUNNERS: Readonly<Record<string, readonly string[]>> = {
  npx: [],
  bunx: [],
  pnpx: [],
  uvx: [],
  npm: ['exec', 'x'],
  pnpm: ['dlx', 'exec'],
  yarn: ['dlx', 'exec'],
  bun: ['x', 'run'],
  deno: ['run'],
  uv: ['run', 'tool'],
  pipx: ['run'],
  node: [],
  python: [],
  python3: [],
  docker: ['run'],
  podman: ['run'],
}
/** Options that are followed by the name of the program to run. */
const NAMES_IT = new Set(['-p', '--package', '--from', '-m'])
/** Container options without a value. Every other option takes the next word, unless it contains `=`. */
const ALONE = new Set([
  '-i',
  '-t',
  '-it',
  '-ti',
  '-d',
  '--rm',
  '--init',
  '--interactive',
  '--tty',
  '--privileged',
  '--read-only',
  '-q',
  '--quiet',
])
/** Options of other runners that take the next word. */
const TAKES_NEXT = new Set([
  '-c',
  '--call',
  '--import',
  '--require',
  '-r',
  '--env-file',
  '--python',
  '--with',
  '--directory',
  '--project',
  '-w',
])

/**
 * Returns the name of the program that a command runs: the package, module, image or script rather than the program that starts it. Its
 * arguments are left out, because they may contain a password.
 * @example
 * programName('npx', ['-y', '@modelcontextprotocol/server-memory@2026.8.31']) // '@modelcontextprotocol/server-memory@2026.8.31'
 * programName('node', ['/opt/node_modules/server-memory/dist/index.js']) // 'server-memory'
 * programName('/usr/bin/mcp-server-git', ['--repository', '/srv']) // 'mcp-server-git'
 */
export function programName(command: string, args: readonly string[]): string {
  const program = basename(command).replace(/\.(exe|cmd)$/i, '')
  const before = Object.hasOwn(RUNNERS, program) ? RUNNERS[program] : undefined
  const run = before && firstNamed(args, program === 'docker' || program === 'podman', before)
  return run === undefined ? program : packageOf(run)
}

function firstNamed(args: readonly string[], isContainer: boolean, before: readonly string[]): string | undefined {
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? ''
    const [option = '', value] = word.split('=', 2)
    if (!word.startsWith('-')) {
      if (!before.includes(word)) return word
    } else if (!isContainer && NAMES_IT.has(option)) return value ?? args[at + 1]
    else if (value === undefined && (isContainer ? !ALONE.has(word) : TAKES_NEXT.has(word))) at++
  }
  return undefined
}

/** Returns the package that contains a file, or the file's own name. */
function packageOf(run: string): string {
  const inPackage = /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(run.replaceAll('\\', '/'))
  if (inPackage?.[1] !== undefined) return inPackage[1]
  return /^(\.{0,2}[/\\]|[A-Za-z]:[/\\])/.test(run) ? basename(run) : run.replace(/\/\/[^/@]*@/, '//')
}
