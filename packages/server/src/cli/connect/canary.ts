import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import type { JsonObject } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { CANARY_TOOL, type HookHost } from '../../coding-agent/index.ts'
import type { Environment } from '../../config/index.ts'
import { postHook } from './post-hook.ts'
import { isOurs } from './settings.ts'

/** The messages of a call that must be refused. */
const MESSAGES: Readonly<Record<HookHost, JsonObject>> = {
  claude: { session_id: 'canary', cwd: '/', hook_event_name: 'PreToolUse', tool_name: CANARY_TOOL, tool_input: {} },
  codex: { session_id: 'canary', cwd: '/', hook_event_name: 'PreToolUse', tool_name: CANARY_TOOL, tool_input: {} },
  copilot: { sessionId: 'canary', cwd: '/', toolName: CANARY_TOOL, toolArgs: {} },
  gemini: { session_id: 'canary', cwd: '/', hook_event_name: 'BeforeTool', tool_name: CANARY_TOOL, tool_input: {} },
  cursor: { conversation_id: 'canary', hook_event_name: 'preToolUse', tool_name: CANARY_TOOL, tool_input: {} },
}

/** The events that carry the canary, of which one is connected. */
const ASKS = ['PreToolUse', 'PermissionRequest', 'preToolUse', 'permissionRequest', 'BeforeTool']

const WITHIN_MS = 20_000

/**
 * Sends a call that must be refused through the hook that a settings file holds, as the host would: by its command, or to its address.
 * @returns What is wrong; undefined when the canary was refused. A file without our hook is an error too.
 */
export async function tryCanary(host: HookHost, file: string, environment: Environment): Promise<string | undefined> {
  try {
    const found = findHook(host, file)
    if (!found) return `${file} has no hook of Countersign`
    const event = found.event
    const message = 'hook_event_name' in MESSAGES[host] ? { ...MESSAGES[host], hook_event_name: event } : MESSAGES[host]
    const answer = await (typeof found.hook.url === 'string'
      ? callAddress(found.hook, message, environment)
      : callCommand(String(found.hook.command ?? found.hook.bash), message, environment))
    const said = JSON.stringify(answer)
    if (!/"deny"/.test(said)) return `the canary call was not refused: ${said.slice(0, 200)}`
    return said.includes('its own canary call') ? undefined : `the canary call was refused for another reason: ${reasonIn(answer)}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** True when a settings file holds a hook that `countersign connect` wrote. */
export const isConnected = (host: HookHost, file: string): boolean => {
  try {
    return findHook(host, file) !== undefined
  } catch {
    return false
  }
}

function findHook(host: HookHost, file: string): { event: string; hook: JsonObject } | undefined {
  if (!existsSync(file)) return undefined
  const settings: unknown = JSON.parse(readFileSync(file, 'utf8'))
  const hooks = isObject(settings) && isObject(settings.hooks) ? settings.hooks : {}
  for (const event of ASKS) {
    const entries = hooks[event]
    const entry = Array.isArray(entries) ? entries.find((one) => isOurs(one, host)) : undefined
    if (!isObject(entry)) continue
    const inner = Array.isArray(entry.hooks) ? entry.hooks.find((one) => isOurs(one, host)) : entry
    if (isObject(inner)) return { event, hook: inner }
  }
  return undefined
}

/** As Claude Code does: a variable that is not allowed or not set becomes empty. */
async function callAddress({ url, headers }: JsonObject, body: JsonObject, environment: Environment): Promise<JsonObject> {
  const written = isObject(headers) ? String(headers.Authorization ?? '') : ''
  const authorization = written.replaceAll(/\$(\w+)/g, (_all, name: string) => environment[name] ?? '')
  if (authorization.trim() === 'Bearer') throw new Error('COUNTERSIGN_KEY is not set here, so the server would refuse every call')
  const { origin, pathname, search } = new URL(String(url))
  return postHook({ server: { base: origin, authorization }, path: `${pathname}${search}`, body, withinMs: WITHIN_MS })
}

async function callCommand(command: string, body: JsonObject, environment: Environment): Promise<JsonObject> {
  const child = spawn(command, { shell: true, env: { ...environment }, stdio: ['pipe', 'pipe', 'pipe'], timeout: WITHIN_MS })
  child.stdin.on('error', () => {})
  child.stdin.end(JSON.stringify(body))
  const ended = new Promise<number | null>((resolve, reject) => child.on('close', resolve).on('error', reject))
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  if (code !== 0) throw new Error(`the command of the hook ended with ${code ?? 'a signal'}: ${errors.trim().slice(0, 300)}`)
  const read: unknown = JSON.parse(output)
  if (!isObject(read)) throw new Error('the command of the hook printed no JSON object')
  return read
}

/** The longest text in the answer is its reason. */
function reasonIn(answer: JsonObject): string {
  const texts: string[] = []
  JSON.stringify(answer, (_key, value: unknown) => {
    if (typeof value === 'string') texts.push(value)
    return value
  })
  return texts.reduce((a, b) => (b.length > a.length ? b : a), '')
}
