import { createHash } from 'node:crypto'
import {
  CountersignError,
  canonicalJson,
  evaluatePolicy,
  type JsonObject,
  type PolicyDocument,
  type PolicyResult,
  type PreviewField,
  type Tool,
} from '@countersign/core'
import type { Clock } from '../clock.ts'
import { toolDefinitionHash } from '../tools/index.ts'
import { withinTimeout } from './patience.ts'

/** A target that takes longer than this to be read gets a card without current values. */
const PREVIEW_TIMEOUT_MS = 5_000

/** Everything about a proposed call that is worked out before the transaction that stores it. */
export interface PreparedAction {
  tool: Tool
  /** Canonical: what is shown, hashed, stored and sent. */
  argumentsText: string
  definitionHash: string
  digest: string
  description: string
  preview: PreviewField[] | null
  previewError: string | null
  previewedAtMs: number | null
  policy: Pick<PolicyResult, 'verdict' | 'rule'> & { reason: string }
  /** What policy says of how long people may take. */
  times: Pick<PolicyResult, 'expiresMs' | 'remindMs'>
}

export interface PrepareInput {
  tool: Tool
  arguments: JsonObject
  agent: string | undefined
  policy: PolicyDocument
  clock: Clock
}

/**
 * Checks a call's arguments, asks policy, and reads what would change.
 * @throws CountersignError `invalid_arguments` with `issues: [{path, message}]`.
 */
export async function prepareAction({ tool, arguments: args, agent, policy, clock }: PrepareInput): Promise<PreparedAction> {
  const checked = tool.check(args)
  if (!checked.ok) {
    const first = checked.issues[0]
    const where = first?.path ? ` at ${first.path}` : ''
    throw new CountersignError('invalid_arguments', `${tool.name}: ${first?.message ?? 'the arguments do not fit'}${where}`, {
      issues: checked.issues,
    })
  }
  const argumentsText = canonicalJson(checked.value)
  const definitionHash = definitionHashOf(tool)
  const { expiresMs, remindMs, ...result } = evaluatePolicy(policy, { tool: tool.name, group: tool.group, effect: tool.effect, agent })
  // Only a person looks at a preview: what runs or is refused at once needs none.
  const preview = result.verdict === 'ask' ? await readPreview(tool, checked.value, clock) : NO_PREVIEW
  return {
    tool,
    argumentsText,
    definitionHash,
    digest: digestAction(tool, definitionHash, argumentsText),
    description: tool.describe(checked.value),
    ...preview,
    policy: { ...result, reason: REASONS[result.verdict](result.rule) },
    times: { expiresMs, remindMs },
  }
}

const REASONS = {
  allow: (rule: string) => `Allowed by the rule "${rule}"`,
  ask: (rule: string) => (rule === 'default' ? 'A person decides about every change' : `The rule "${rule}" asks a person`),
  deny: (rule: string) => (rule === 'default' ? 'Policy denies what no rule allows' : `Denied by the rule "${rule}"`),
}

const NO_PREVIEW = { preview: null, previewError: null, previewedAtMs: null }

async function readPreview(tool: Tool, args: JsonObject, clock: Clock) {
  const { name, preview } = tool
  if (!preview) return NO_PREVIEW
  const previewedAtMs = clock.nowMs()
  try {
    const fields = await withinTimeout(clock, { name, timeoutMs: PREVIEW_TIMEOUT_MS }, (signal) => preview.call(tool, args, signal))
    return { preview: fields, previewError: null, previewedAtMs }
  } catch (error) {
    const known = error instanceof Error && error.name === 'ToolError'
    return { preview: null, previewError: known ? error.message : 'the current values could not be read', previewedAtMs: null }
  }
}

const hashes = new WeakMap<Tool, string>()

/** The hash of what a tool is; hashing a schema anew for each call would cost more than storing the action. */
export function definitionHashOf(tool: Tool): string {
  const hash = hashes.get(tool) ?? toolDefinitionHash(tool)
  hashes.set(tool, hash)
  return hash
}

/**
 * The digest that a decision is bound to: SHA-256 over the canonical JSON of what will be sent and where. Computed again from the
 * stored bytes when the action starts.
 */
export function digestAction(tool: Pick<Tool, 'name' | 'destination'>, definitionHash: string, argumentsText: string): string {
  const bound = canonicalJson({ tool: tool.name, definition: definitionHash, arguments: argumentsText, destination: tool.destination })
  return `sha256:${createHash('sha256').update(bound).digest('hex')}`
}
