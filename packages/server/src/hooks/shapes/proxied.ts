import type { JsonObject, JsonValue } from '@countersign/core'
import { z } from 'zod'
import type { HostTool } from '../../coding-agent/hosts.ts'
import { type HookEvent, stopped, type Verdict } from './shape.ts'

/** `stopped`: somebody or a limit ended the call while it ran. */
export const ReportStatus = z.enum(['completed', 'failed', 'stopped'])
type ReportStatus = z.output<typeof ReportStatus>

/** A message of one of our own programs that stand beside an agent: `countersign acp`, `countersign opencode`. */
type Message =
  | { event: 'ask' }
  | { event: 'answered'; allowed: boolean; said?: string | undefined }
  | { event: 'report'; status: ReportStatus; output?: JsonValue | undefined }

/** The event of such a message. The agents behind these programs take no other input. */
export function proxiedEvent(message: Message, about: { session: string; callId: string; call: HostTool }): HookEvent {
  const named = { event: message.event, ...about }
  if (message.event === 'ask') return { kind: 'ask', ...named, mayEdit: false }
  if (message.event === 'answered') return { kind: 'answered', ...named, allowed: message.allowed, said: message.said }
  const output = message.output ?? null
  if (message.status === 'completed') return { kind: 'report', ...named, report: { ok: output } }
  const words = JSON.stringify(output)
  return { kind: 'report', ...named, report: message.status === 'stopped' ? stopped(words) : { failed: words } }
}

/** The answer to such a program: everything that is no permission is a denial. */
export function proxiedAnswer(_event: string, verdict: Verdict): JsonObject {
  if (verdict.kind === 'allow') return { decision: 'allow' }
  return { decision: 'deny', ...(verdict.kind === 'deny' && { reason: verdict.reason }) }
}
