import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access, lstat } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { Fault } from '../fault.ts'

/** Runs git in one repository. */
export interface Git {
  /** Returns the standard output. @throws GitFault with the error output of git; Fault when git cannot be started; Error when it was killed. */
  run(args: readonly string[], options?: GitOptions): Promise<Buffer>
  /** Returns the same as text, without the last line feed. */
  text(args: readonly string[], options?: GitOptions): Promise<string>
}

export interface GitOptions {
  input?: Buffer | string | undefined
  signal?: AbortSignal | undefined
  /** Variables in addition to the few that git gets. */
  env?: Readonly<Record<string, string>> | undefined
  /** Default: 8 MB. */
  maxOutputBytes?: number
}

/** Git exited with an error. */
export class GitFault extends Fault {
  readonly exitCode: number

  constructor(message: string, exitCode: number) {
    super(message)
    this.exitCode = exitCode
  }
}

const MAX_OUTPUT_BYTES = 8_000_000
const MAX_WORDS = 500

/**
 * Overrides for settings that the repository's own configuration must not decide: programs to run (hooks, file monitors, pagers, signing),
 * other protocols, other locations. The repository chooses the names of filters and hooks, so each is read and turned off.
 */
const HARDENED = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.pager=cat',
  'core.attributesFile=/dev/null',
  'core.excludesFile=/dev/null',
  'core.precomposeUnicode=false',
  'core.quotePath=false',
  'protocol.allow=never',
  'protocol.ext.allow=never',
  'commit.gpgSign=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'log.showSignature=false',
  'advice.detachedHead=false',
]

/**
 * Opens the machine's git for the repository at `root`, or returns the reason in words why it cannot.
 * @param root A real path. Its `.git` has to be a folder: a file there points to a repository elsewhere.
 * @param searchPath The folders to look for git in. Folders in the workspace are skipped.
 */
export async function openGit(root: string, searchPath: readonly string[]): Promise<Git | { problem: string }> {
  const folder = join(root, '.git')
  const found = await lstat(folder).catch(() => undefined)
  if (!found) return { problem: 'is not a git repository' }
  if (!found.isDirectory()) return { problem: 'has a .git that is no folder: linked worktrees and submodules are not supported' }
  const program = await findProgram(searchPath.filter((place) => !`${place}/`.startsWith(`${root}/`)))
  if (program === undefined) return { problem: 'is a git repository, but git is not installed where this server runs' }
  const git = gitAt(root, folder, program)
  try {
    await git.run(['rev-parse', '--git-dir'])
    return git
  } catch (error) {
    return { problem: error instanceof Fault ? error.message : 'git cannot be used' }
  }
}

async function findProgram(places: readonly string[]): Promise<Program | undefined> {
  for (const place of places) {
    const file = join(place, process.platform === 'win32' ? 'git.exe' : 'git')
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return { file, searchPath: places.join(delimiter) }
  }
  return undefined
}

interface Program {
  file: string
  searchPath: string
}

function gitAt(root: string, folder: string, program: Program): Git {
  const base = ['--no-pager', '--no-optional-locks', `--git-dir=${folder}`, `--work-tree=${root}`]
  const plain = HARDENED.flatMap((setting) => ['-c', setting])
  const run = async (args: readonly string[], options: GitOptions = {}) => {
    const off = await turnedOff(root, base, program, options.signal)
    return start(root, program, [...base, ...plain, ...off, ...args], options)
  }
  return { run, text: async (args, options) => (await run(args, options)).toString('utf8').replace(/\n$/, '') }
}

/** Programs that the configuration of a repository names freely, and the settings that turn one off. */
const NAMED_PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  /** Runs on every compared file. */
  filter: ['clean=', 'smudge=', 'process=', 'required=false'],
  /** Since 2.54, beside those in `core.hooksPath`. */
  hook: ['enabled=false'],
}

/** Returns the options that turn off the filters and hooks that the repository configures. Reading their names runs none of them. */
async function turnedOff(root: string, base: readonly string[], program: Program, signal: AbortSignal | undefined): Promise<string[]> {
  const listed = await start(root, program, [...base, 'config', '--list', '--name-only', '-z'], { signal })
  const keys = listed.toString('utf8').split('\0')
  // A name may be empty, and may have dots.
  const named = new Set(keys.flatMap((key) => /^((?:filter|hook)\..*)\.[^.]*$/s.exec(key)?.[1] ?? []))
  if ([...named].some((name) => name.includes('=')))
    throw new Fault('The configuration of this repository names a filter or a hook that cannot be turned off.')
  return [...named].flatMap((name) =>
    (NAMED_PROGRAMS[name.slice(0, name.indexOf('.'))] ?? []).flatMap((setting) => ['-c', `${name}.${setting}`]),
  )
}

function start(
  root: string,
  program: Program,
  args: readonly string[],
  { input, signal, env, maxOutputBytes = MAX_OUTPUT_BYTES }: GitOptions,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn(program.file, [...args], {
      cwd: root,
      env: environmentOf(program, env),
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(signal && { signal }),
    })
    const out: Buffer[] = []
    let bytes = 0
    let words = ''
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > maxOutputBytes) child.kill('SIGKILL')
      else out.push(chunk)
    })
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      words = (words + chunk).slice(0, MAX_WORDS)
    })
    // Git may exit before it has read its whole input. Its error output then gives the reason.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    child.on('error', (error) => {
      const isMissing = 'code' in error && error.code === 'ENOENT'
      reject(isMissing ? new Fault('git is not installed where this server runs.', { cause: error }) : error)
    })
    child.on('close', (code) => {
      if (bytes > maxOutputBytes) reject(new Fault('git answered with more than is read here.'))
      else if (code === 0) resolve(Buffer.concat(out))
      // Not a fault: a git that was killed may have made its change already.
      else if (code === null) reject(new Error('git was killed while it ran'))
      else reject(new GitFault(`git said no: ${words.trim().replace(/\s+/g, ' ') || `exit code ${code}`}`, code))
    })
  })
}

/**
 * Only the variables that programs need to start. The rest of this process's environment may hold secrets, and variables that git obeys.
 */
const environmentOf = ({ searchPath }: Program, more: GitOptions['env']): Record<string, string> => ({
  PATH: searchPath,
  LC_ALL: 'C.UTF-8',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ATTR_NOSYSTEM: '1',
  ...more,
})
