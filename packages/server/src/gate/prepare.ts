import { createHash } from 'node:crypto'
import {
  CountersignError,
  canonicalJson,
  type JsonObject,
  type PolicyResult,
  type PreviewField,
  type Principal,
  type Tool,
} from '@countersign/core'
import type { Clock } from '../clock.ts'
import type { Policies, PolicyCall } from '../policy/index.ts'
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
  /** What the version of the policy that stood then says. It counts once a transaction has found that version in force: {@link isInForce}. */
  policy: PolicyResult
}

export interface PrepareInput {
  tool: Tool
  arguments: JsonObject
  agent: string | undefined
  /** The session it is proposed in; null where an outside agent proposes. */
  session: PolicyCall['session']
  /** On whose behalf it is proposed. */
  requester: Principal
  policies: Policies
  clock: Clock
}

/**
 * Checks a call's arguments, asks policy, and reads what would change.
 * @throws CountersignError `invalid_arguments` with `issues: [{path, message}]`.
 */
export async function prepareAction({ tool, arguments: args, policies, clock, ...who }: PrepareInput): Promise<PreparedAction> {
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
  const policy = policies.current.evaluate({ tool, arguments: checked.value, ...who, nowMs: clock.nowMs() })
  // Only a person looks at a preview: what runs or is refused at once needs none.
  const preview = policy.verdict === 'ask' ? await readPreview(tool, checked.value, clock) : NO_PREVIEW
  return {
    tool,
    argumentsText,
    definitionHash,
    digest: digestAction(tool, definitionHash, argumentsText),
    description: tool.describe(checked.value),
    ...preview,
    policy,
  }
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
