import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { JsonObject } from '@countersign/core'
import type { HookHost } from '../../coding-agent/index.ts'
import type { Environment } from '../../config/index.ts'

/** How the hooks of a host reach the server. */
export interface Connection {
  /** Where the server is. */
  base: string
  /** Seconds that people have. The host's own limit is longer. */
  limitSeconds: number
  /** The command line of the shim, without the event. */
  command: string
  /** True for Claude Code to call the server itself, with the key from COUNTERSIGN_KEY. */
  isDirect: boolean
  /** True to end a headless run of Claude Code at the limit; it asks again when it is resumed. */
  parks: boolean
  /** True to ask only where the host would ask a person. */
  onlyPrompts: boolean
}

/** The settings of one host: where they are, what is added, and what people should know. */
export interface HostSettings {
  /** @param inProject For this folder instead of the user. */
  file(environment: Environment, inProject: boolean): string
  /** The beginning of an empty file. */
  empty: JsonObject
  /** The hooks, by event. */
  hooks(connection: Connection): Readonly<Record<string, JsonObject[]>>
  /** The limits of the settings, a sentence each. */
  notes: readonly string[]
  /** The limits of `--only-prompts`, a sentence each. */
  promptNotes?: readonly string[]
}

/** More than the server takes, so that its denial comes first. */
const MARGIN_SECONDS = 30
const REPORT_SECONDS = 30

const home = (environment: Environment): string => environment.HOME ?? homedir()

const CLAUDE_ASKS = ['PreToolUse', 'PermissionRequest']
const CLAUDE_TELLS = ['PostToolUse', 'PostToolUseFailure', 'SessionEnd']

function claudeHook(event: string, { base, limitSeconds, command, isDirect, parks }: Connection): JsonObject {
  const isAsk = CLAUDE_ASKS.includes(event)
  const timeout = isAsk ? limitSeconds + MARGIN_SECONDS : REPORT_SECONDS
  // Without it a call runs where a rule of the host allows it and the server is away.
  const failing: JsonObject = event === 'PreToolUse' ? { onFailure: 'block' } : {}
  if (!isDirect) return { type: 'command', command, timeout, ...failing }
  return {
    type: 'http',
    url: `${base}/hooks/claude?limit=${limitSeconds}${parks ? '&park=defer' : ''}`,
    timeout,
    headers: { Authorization: 'Bearer $COUNTERSIGN_KEY' },
    allowedEnvVars: ['COUNTERSIGN_KEY'],
    ...failing,
  }
}

export const HOST_SETTINGS: Readonly<Record<HookHost, HostSettings>> = {
  claude: {
    file: (environment, inProject) =>
      inProject ? resolve('.claude/settings.local.json') : join(home(environment), '.claude/settings.json'),
    empty: {},
    hooks: (connection) =>
      Object.fromEntries(
        [...(connection.onlyPrompts ? ['PermissionRequest'] : CLAUDE_ASKS), ...CLAUDE_TELLS].map((event) => [
          event,
          [{ matcher: '', hooks: [claudeHook(event, connection)] }],
        ]),
      ),
    notes: ['claude --bare, --safe-mode and disableAllHooks switch hooks off, and nothing tells you.'],
    promptNotes: [
      'In its mode auto, the default, Claude Code answers most prompts itself, and nobody here is asked: start it with --permission-mode manual.',
    ],
  },
  codex: {
    file: (environment) => join(environment.CODEX_HOME ?? join(home(environment), '.codex'), 'hooks.json'),
    empty: {},
    hooks: ({ command, limitSeconds, onlyPrompts }) => ({
      ...(!onlyPrompts && { PreToolUse: [codexHook(orDenied(command), limitSeconds)] }),
      PermissionRequest: [codexHook(orDenied(command), limitSeconds)],
      PostToolUse: [codexHook(command, 0)],
    }),
    notes: [
      'Codex skips hooks that you have not trusted, and says nothing: start codex, type /hooks and trust these. Every change of them needs that again.',
      'codex exec never asks for permission: there only PreToolUse refuses.',
      'The hooks of Codex tell what a command printed, and not whether it failed: a command that fails counts as carried out.',
    ],
    promptNotes: ['With --only-prompts there is no PreToolUse, so codex exec runs its calls without asking Countersign.'],
  },
  copilot: {
    file: (environment) => join(home(environment), '.copilot/hooks/countersign.json'),
    empty: { version: 1 },
    hooks: ({ command, limitSeconds, onlyPrompts }) => ({
      [onlyPrompts ? 'permissionRequest' : 'preToolUse']: [
        {
          type: 'command',
          bash: `${command} ${onlyPrompts ? 'permissionRequest' : 'preToolUse'}`,
          timeoutSec: limitSeconds + MARGIN_SECONDS,
        },
      ],
      ...Object.fromEntries(
        ['postToolUse', 'postToolUseFailure', 'sessionEnd'].map((event) => [
          event,
          [{ type: 'command', bash: `${command} ${event}`, timeoutSec: REPORT_SECONDS }],
        ]),
      ),
    }),
    notes: ['With --allow-all-tools, GitHub Copilot CLI runs a call whose hook takes too long.'],
  },
  gemini: {
    file: (environment, inProject) => (inProject ? resolve('.gemini/settings.json') : join(home(environment), '.gemini/settings.json')),
    empty: {},
    hooks: ({ command, limitSeconds }) => ({
      BeforeTool: [
        { matcher: '*', hooks: [{ type: 'command', command: orDenied(command), timeout: (limitSeconds + MARGIN_SECONDS) * 1_000 }] },
      ],
      AfterTool: [{ matcher: '*', hooks: [{ type: 'command', command, timeout: REPORT_SECONDS * 1_000 }] }],
      SessionEnd: [{ hooks: [{ type: 'command', command, timeout: REPORT_SECONDS * 1_000 }] }],
    }),
    notes: ['Gemini CLI runs a call whose hook is killed or takes too long.'],
  },
  cursor: {
    file: (environment, inProject) => (inProject ? resolve('.cursor/hooks.json') : join(home(environment), '.cursor/hooks.json')),
    empty: { version: 1 },
    hooks: ({ command, limitSeconds }) =>
      Object.fromEntries([
        ...['beforeShellExecution', 'beforeMCPExecution', 'preToolUse'].map((event) => [
          event,
          [{ command, timeout: limitSeconds + MARGIN_SECONDS, failClosed: true }],
        ]),
        ...['postToolUse', 'postToolUseFailure', 'sessionEnd'].map((event) => [event, [{ command, timeout: REPORT_SECONDS }]]),
      ]),
    notes: ['These settings follow the documentation of Cursor; no test of ours has run Cursor.'],
  },
}

/**
 * To Codex and Gemini CLI, 2 is a denial, and any other failure lets the call go on: also that of Node without this program, or of a shell
 * without Node. For GitHub Copilot CLI every failure before a call denies it, and Claude Code and Cursor have settings for it.
 */
const orDenied = (command: string): string => `${command} || exit 2`

const codexHook = (command: string, limitSeconds: number): JsonObject => ({
  matcher: '',
  hooks: [{ type: 'command', command, timeout: limitSeconds + MARGIN_SECONDS, statusMessage: 'Waiting for Countersign' }],
})

/** True for a hook that `countersign connect` wrote: for this host, by its address or by its command. */
export const isOurs = (entry: unknown, host: HookHost): boolean => {
  const text = JSON.stringify(entry)
  return text.includes(`/hooks/${host}?limit=`) || (text.includes('countersign') && text.includes(` hook ${host} --limit`))
}
