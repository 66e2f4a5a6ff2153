import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import type { JsonObject } from '@countersign/core'
import { Command } from 'commander'
import { HOOK_HOSTS, HOST_NAMES, type HookHost } from '../../coding-agent/index.ts'
import type { Environment } from '../../config/index.ts'
import { type ApiFlags, serverOf, withServerAddress } from '../api.ts'
import { readHost } from '../hook.ts'
import type { JsonOutput } from '../json-output.ts'
import { complain, type Out, safeJson, say, sayJson } from '../say.ts'
import { tryCanary } from './canary.ts'
import { putInPlace } from './put-in-place.ts'
import { type Connection, HOST_SETTINGS } from './settings.ts'
import { changeSettings, type Hooks, NotPlainJson, showChange } from './settings-file.ts'
import { writeWhole } from './whole-file.ts'

interface ConnectFlags extends ApiFlags {
  limit: string
  project?: true
  onlyPrompts?: true
  park?: true
  direct?: true
  undo?: true
  print?: true
  yes?: true
}

const HELP = `
It shows the change of the host's settings, writes it after you agree, and sends a call through the hook that must be refused. If it is not
refused, the settings are put back. The host is not started: countersign doctor tries the same again later.

The key is that of an agent. From COUNTERSIGN_KEY it is stored for the hook in ~/.countersign/hooks/<host>.key, which only you can read;
with --key-file the hook reads that file. Claude Code can also call the server itself, with COUNTERSIGN_KEY from its environment: --direct.

An editor that speaks the Agent Client Protocol needs no hooks: it starts countersign acp in the place of its agent.

Examples:
  countersign key create --name "ana's claude" --kind agent --role agent
  COUNTERSIGN_KEY=… countersign connect claude
  countersign connect claude --undo

Exit code: 0 when it is connected and the canary was refused, or undone. 1 when nothing was changed, 130 when a signal stopped it and it was put
back.`

/** `countersign connect`: puts the hooks of a coding agent in place, and proves them. */
export const connectCommand = (environment: Environment): Command =>
  withServerAddress(new Command('connect'))
    .description('connect a coding agent: show and write its settings, and prove that a call is refused')
    .argument('<host>', HOOK_HOSTS.map((host) => `${host} (${HOST_NAMES[host]})`).join(', '))
    .option('--limit <seconds>', 'how long people may take before a call is denied', '550')
    .option('--project', 'for this folder instead of the user (claude, gemini, cursor)')
    .option('--only-prompts', 'ask only where the host would ask a person (claude, codex, copilot)')
    .option('--direct', 'claude: call the server without the shim, with COUNTERSIGN_KEY from the environment of Claude Code')
    .option('--park', 'claude -p: at the limit the run ends, and asks again when it is resumed')
    .option('--print', 'print the settings as JSON and change nothing: the key is not stored either')
    .option('--undo', 'remove the hooks again')
    .option('--yes', 'do not ask before writing')
    .option('--json', 'with --yes: print one JSON object: {host, file, isConnected, hasChanged, problem, notes}')
    .addHelpText('after', HELP)
    .action(async (name: string, flags: ConnectFlags) => {
      const host = readHost(name)
      if (flags.json && flags.print) throw new Error('--print prints the settings, which are JSON: leave out --json')
      if (flags.json && !flags.yes) throw new Error('--json needs --yes, because it asks nothing')
      const result = await connect(host, flags, environment, flags.json ? UNHEARD : process.stdout)
      if (!result.isDone) process.exitCode = 1
      if (flags.json) sayJson(jsonOf(host, flags, result))
    })

/** Takes the words for people where a program reads the result. */
const UNHEARD: Out = { write: () => true }

/** The result of a change to the settings of a host. */
interface Result {
  file: string
  /** True when the host is as it should be: connected, or no longer connected with `--undo`. */
  isDone: boolean
  isConnected: boolean
  hasChanged: boolean
  /** Why the settings were put back. */
  problem?: string
}

const notesOf = (host: HookHost, { onlyPrompts }: ConnectFlags): string[] => {
  const { notes, promptNotes = [] } = HOST_SETTINGS[host]
  return [...notes, ...(onlyPrompts ? promptNotes : [])]
}

const jsonOf = (host: HookHost, flags: ConnectFlags, { file, isConnected, hasChanged, problem }: Result): JsonOutput<'connect'> => ({
  host,
  file,
  isConnected,
  hasChanged,
  problem: problem ?? null,
  notes: isConnected ? notesOf(host, flags) : [],
})

async function connect(host: HookHost, flags: ConnectFlags, environment: Environment, out: Out): Promise<Result> {
  const settings = HOST_SETTINGS[host]
  const file = settings.file(environment, flags.project === true)
  const hooks = flags.undo ? undefined : settings.hooks(connectionOf(host, flags, environment))
  const unchanged = { file, isConnected: false, hasChanged: false }
  if (flags.print) {
    out.write(`${safeJson(settingsToPrint(file, host, hooks), 2)}\n`)
    return { ...unchanged, isDone: true }
  }
  const change = changeSettings(file, host, settings.empty, hooks)
  const hasChanged = change.before !== change.after
  if (!hasChanged) say(`${file} needs no change.`, out)
  else {
    say(`${file}:`, out)
    for (const line of showChange(change)) say(line, out)
    if (!flags.yes && !(await agrees(out))) return { ...unchanged, isDone: false }
  }
  if (flags.undo) {
    if (hasChanged) writeWhole(file, change.after)
    say(`${HOST_NAMES[host]} no longer asks Countersign.`, out)
    return { file, isDone: true, isConnected: false, hasChanged }
  }
  const key = keyToStore(host, flags, environment)
  const problem = await putInPlace({ file, change, key, prove: () => tryCanary(host, file, environment) })
  if (problem !== undefined) {
    say(`The hook does not work, so the settings were put back: ${problem}`, out)
    return { ...unchanged, isDone: false, problem }
  }
  say(`A canary call through the hook was refused: ${HOST_NAMES[host]} asks Countersign from its next start on.`, out)
  for (const note of notesOf(host, flags)) say(`Note: ${note}`, out)
  return { file, isDone: true, isConnected: true, hasChanged }
}

/** Returns the settings as they would be written; the hooks alone where they can only be added by hand. */
function settingsToPrint(file: string, host: HookHost, hooks: Hooks | undefined): JsonObject {
  const { empty } = HOST_SETTINGS[host]
  try {
    const { after } = changeSettings(file, host, empty, hooks)
    return after === undefined ? empty : JSON.parse(after)
  } catch (error) {
    if (!(error instanceof NotPlainJson) || hooks === undefined) throw error
    complain(`${file} is not plain JSON, so only the hooks are printed: add them to it by hand.`)
    return { ...empty, hooks }
  }
}

function connectionOf(host: HookHost, flags: ConnectFlags, environment: Environment): Connection {
  if (!/^\d{1,5}$/.test(flags.limit) || Number(flags.limit) === 0)
    throw new Error(`--limit: must be a number of seconds, not "${flags.limit}"`)
  if ((flags.direct || flags.park) && host !== 'claude') throw new Error(`--${flags.direct ? 'direct' : 'park'} is for claude only`)
  const { base } = serverOf(flags, environment)
  const keyFile = flags.direct ? '' : keyFileOf(host, flags, environment)
  const command = [
    ...ownCommand(),
    'hook',
    host,
    '--limit',
    flags.limit,
    '--url',
    base,
    '--key-file',
    keyFile,
    ...(flags.park ? ['--park', 'defer'] : []),
  ]
    .map(quoted)
    .join(' ')
  return {
    base,
    limitSeconds: Number(flags.limit),
    command,
    isDirect: flags.direct === true,
    parks: flags.park === true,
    onlyPrompts: flags.onlyPrompts === true,
  }
}

/** Where the shim finds the key: settings of a host are no place for a secret. */
function keyFileOf(host: HookHost, { keyFile }: ConnectFlags, environment: Environment): string {
  const given = keyFile ?? environment.COUNTERSIGN_KEY_FILE
  return given === undefined ? join(environment.HOME ?? homedir(), '.countersign', 'hooks', `${host}.key`) : resolve(given)
}

/** The key of the environment, where the hook has to find it in a file. */
function keyToStore(host: HookHost, flags: ConnectFlags, environment: Environment): { file: string; text: string } | undefined {
  if (flags.direct || flags.keyFile !== undefined || environment.COUNTERSIGN_KEY_FILE !== undefined) return undefined
  return { file: keyFileOf(host, flags, environment), text: `${environment.COUNTERSIGN_KEY?.trim()}\n` }
}

/** How this very program is started again. */
const ownCommand = (): string[] => [process.execPath, ...process.execArgv, resolve(process.argv[1] ?? 'countersign')]

const quoted = (word: string): string => (/^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)

async function agrees(out: Out): Promise<boolean> {
  if (!process.stdin.isTTY) throw new Error('nothing was written: --yes writes without asking')
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    if (/^y(es)?$/i.test((await terminal.question('Write this? [y/N] ')).trim())) return true
    say('Nothing was written.', out)
    return false
  } finally {
    terminal.close()
  }
}
