import type { JsonObject } from '@countersign/core'

/** The coding agents whose hooks are understood, by the name that the command line and the address use. */
export const HOOK_HOSTS = ['claude', 'codex', 'copilot', 'gemini', 'cursor'] as const
export type HookHost = (typeof HOOK_HOSTS)[number]

/** The same, every agent behind `countersign acp`, and opencode behind `countersign opencode`. */
export const HOSTS = [...HOOK_HOSTS, 'acp', 'opencode'] as const
export type Host = (typeof HOSTS)[number]

/** The names of the hosts for people. */
export const HOST_NAMES: Readonly<Record<Host, string>> = {
  claude: 'Claude Code',
  codex: 'Codex',
  copilot: 'GitHub Copilot CLI',
  gemini: 'Gemini CLI',
  cursor: 'Cursor',
  acp: 'The agent',
  opencode: 'opencode',
}

/** The tool that no host has. A call of it proves that hooks reach the server and are refused. */
export const CANARY_TOOL = 'countersign_canary'

/** The tools of the group: what a host does, whatever the host calls it. A command that only looks is no `shell` but a `look`. */
export type Kind = 'look' | 'shell' | 'read' | 'edit' | 'write' | 'patch' | 'fetch' | 'search' | 'mcp' | 'other'

/** One call of a host's own tool. */
export interface HostTool {
  host: Host
  tool: string
  input: JsonObject
  /** The folder that the host works in. */
  folder: string
  /** The agent's reason for the call, unverified. */
  reason?: string
}
