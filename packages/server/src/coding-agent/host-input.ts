import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import type { Host, HostTool, Kind } from './hosts.ts'
import { readMcpName } from './mcp/read-mcp.ts'
import { readCommand } from './shell/read-command.ts'
import { foldersIn, runFolder } from './shell/run-folder.ts'

/** A kind, and the fields of the host's input that become arguments of their own. Everything else stays under `options`. */
interface Known {
  kind: Kind
  fields: Readonly<Record<string, string>>
}

const shell: Known = { kind: 'shell', fields: { command: 'command' } }
const read = (path: string): Known => ({ kind: 'read', fields: { path } })
const edit = (path: string, oldText: string, newText: string): Known => ({ kind: 'edit', fields: { path, oldText, newText } })
const write = (path: string, content: string): Known => ({ kind: 'write', fields: { path, content } })
const fetch: Known = { kind: 'fetch', fields: { url: 'url' } }
const search: Known = { kind: 'search', fields: { query: 'query' } }

const KNOWN: Readonly<Record<Host, Readonly<Record<string, Known>>>> = {
  claude: {
    Bash: shell,
    Read: read('file_path'),
    Glob: read('path'),
    Grep: read('path'),
    LS: read('path'),
    NotebookRead: read('notebook_path'),
    Edit: edit('file_path', 'old_string', 'new_string'),
    MultiEdit: { kind: 'edit', fields: { path: 'file_path', edits: 'edits' } },
    NotebookEdit: { kind: 'edit', fields: { path: 'notebook_path', newText: 'new_source' } },
    Write: write('file_path', 'content'),
    WebFetch: fetch,
    WebSearch: search,
  },
  codex: { Bash: shell, apply_patch: { kind: 'patch', fields: { patch: 'command' } } },
  copilot: {
    bash: shell,
    view: read('path'),
    glob: read('path'),
    grep: read('path'),
    edit: edit('path', 'old_str', 'new_str'),
    create: write('path', 'file_text'),
    web_fetch: fetch,
    web_search: search,
  },
  gemini: {
    run_shell_command: shell,
    read_file: read('file_path'),
    list_directory: read('dir_path'),
    glob: read('dir_path'),
    grep_search: read('dir_path'),
    search_file_content: read('dir_path'),
    replace: edit('file_path', 'old_string', 'new_string'),
    write_file: write('file_path', 'content'),
    // Its prompt names the addresses: one that is nothing but an address is read as one.
    web_fetch: { kind: 'fetch', fields: { url: 'prompt' } },
    google_web_search: search,
  },
  cursor: { Shell: shell, Read: read('file_path'), Write: write('file_path', 'content') },
  opencode: {
    bash: shell,
    read: read('filePath'),
    glob: read('path'),
    grep: read('path'),
    list: read('path'),
    edit: edit('filePath', 'oldString', 'newString'),
    write: write('filePath', 'content'),
    apply_patch: { kind: 'patch', fields: { patch: 'patchText' } },
    webfetch: fetch,
    websearch: search,
  },
  acp: { execute: shell, edit: edit('path', 'oldText', 'newText'), write: write('path', 'content'), fetch },
}

/** Tools with which a host keeps its own affairs. They touch nothing, or every call that they lead to is checked by itself. */
const OWN_AFFAIRS: Readonly<Partial<Record<Host, RegExp>>> = {
  // A plan and a question are for the person at the terminal: an answer from here would take them out of their hands.
  claude: /^(AskUserQuestion|EnterPlanMode|ExitPlanMode|TodoWrite|Task|Task(Create|Get|List|Update|Output)|Agent|ToolSearch|BashOutput)$/,
  codex: /^update_plan$/,
  gemini: /^(write_todos|save_plan|ask_user)$/,
  copilot: /^(report_intent|ask_user|update_todo|task)$/,
}

/** True for a tool that needs no approval here: the host decides, as it would without Countersign. */
export const isOwnAffair = ({ host, tool }: Pick<HostTool, 'host' | 'tool'>): boolean => OWN_AFFAIRS[host]?.test(tool) ?? false

function knownOf({ host, tool, input }: HostTool): Known {
  const known = Object.hasOwn(KNOWN[host], tool) ? KNOWN[host][tool] : undefined
  const fits = known && Object.entries(known.fields).every(([name, field]) => isOptional(known, name) || isText(input[field], name))
  return known && fits ? known : { kind: 'other', fields: {} }
}

/** A search without a path searches the folder. */
const isOptional = ({ kind }: Known, name: string): boolean => kind === 'read' && name === 'path'
const isText = (value: JsonValue | undefined, name: string): boolean =>
  name === 'edits' ? Array.isArray(value) : typeof value === 'string'

/** Returns the call as a tool of the group and its arguments. The tool's `check` adds the facts that follow from the arguments. */
export function toArguments(call: HostTool): { kind: Kind; args: JsonObject } {
  const { host, tool, input, folder } = call
  const about = { host, hostTool: tool, folder }
  const mcp = readMcpName(tool)
  if (mcp) return { kind: 'mcp', args: { ...about, ...mcp, input } }
  const { kind, fields } = knownOf(call)
  if (kind === 'other') return { kind, args: { ...about, input } }
  const named = Object.entries(fields).filter(([, field]) => input[field] !== undefined)
  const taken = new Set(named.map(([, field]) => field))
  const options = Object.fromEntries(Object.entries(input).filter(([field]) => !taken.has(field)))
  const args = { ...about, ...Object.fromEntries(named.map(([name, field]) => [name, input[field] ?? null])), options }
  if (kind !== 'shell') return { kind, args }
  const readIn = (place: string) => readCommand(String(input.command), place, foldersIn(options))
  const runsIn = runFolder(options, folder)
  // The settings of a repository decide which programs git runs, so git is judged from the folder of the session.
  const place = readIn(runsIn).programs.includes('git') ? folder : runsIn
  return { kind: readIn(place).readOnly ? 'look' : kind, args: { ...args, folder: place } }
}

/** Returns the input for the host's tool: what {@link toArguments} was given, with the changes that people made. */
export function toHostInput(host: Host, args: JsonObject): JsonObject {
  const { hostTool, input, options } = args
  if (isObject(input)) return input
  const known = typeof hostTool === 'string' && Object.hasOwn(KNOWN[host], hostTool) ? KNOWN[host][hostTool] : undefined
  const named = Object.entries(known?.fields ?? {}).flatMap(([name, field]) => {
    const value = args[name]
    return value === undefined ? [] : [[field, value] as const]
  })
  return { ...(isObject(options) && options), ...Object.fromEntries(named) }
}
