import type { Principal, Tool } from '@countersign/core'
import { agentNamed } from '../../gate/index.ts'
import { evaluateForAll } from '../../policy/index.ts'
import type { HttpDeps } from '../app.ts'
import { type Decision, Evaluation, type Evaluations } from './messages.ts'

/** The types of subjects, by the kind of the caller. */
const SUBJECT_TYPES = { agent: ['agent'], person: ['person', 'user'], service: ['service'] } as const

export interface Asker {
  principal: Principal
  /** Address of this server, for the request that asks for approval. */
  baseUrl: string
}

/** Answers several questions in their order, until the semantic of the request ends it. */
export async function evaluateAll(
  deps: HttpDeps,
  { evaluations = [], options, ...defaults }: Evaluations,
  asker: Asker,
): Promise<Decision[]> {
  const answers: Decision[] = []
  for (const one of evaluations) {
    const asked = Evaluation.safeParse({ ...defaults, ...one })
    const first = asked.error?.issues[0]
    const answer = asked.success ? await evaluate(deps, asked.data, asker) : failed(400, `${first?.path.join('.')}: ${first?.message}`)
    answers.push(answer)
    if (options?.evaluations_semantic === 'deny_on_first_deny' && !answer.decision) break
    if (options?.evaluations_semantic === 'permit_on_first_permit' && answer.decision) break
  }
  return answers
}

/**
 * Answers whether policy lets the caller make a call without approval. Only policy is evaluated: no action is made, no target is read, and
 * no grant is used. A call that cannot be evaluated is denied.
 */
export async function evaluate(
  { store, clock, tools, registered, policies }: HttpDeps,
  asked: Evaluation,
  { principal, baseUrl }: Asker,
): Promise<Decision> {
  const { subject, action, resource } = asked
  const wrongSubject = whyNotSubject(subject, principal)
  if (wrongSubject !== undefined) return denied(wrongSubject)
  if (action.name !== 'call' || resource.type !== 'tool') {
    return denied('this server decides about calls of tools: action.name is "call" and resource.type is "tool"')
  }
  await registered.list()
  const tool = tools.byName(resource.id)
  // Another one's tool is answered like one that does not exist.
  if (!tool || (tool.registered && tool.registered.ownerId !== principal.id)) {
    return failed(404, `there is no tool ${resource.id}`)
  }
  const checked = tool.check(resource.properties ?? {})
  if (!checked.ok) return failed(422, invalid(tool, checked.issues))
  const call = { tool, arguments: checked.value, ...agentNamed(undefined, principal), session: null, requesters: [principal] }
  const policy = await store.read(() => policies.inForce())
  const { verdict, rule, reason, version } = evaluateForAll(policy, { ...call, nowMs: clock.nowMs() })
  const context = { reason, verdict, rule, policyVersion: version }
  if (verdict !== 'ask') return { decision: verdict === 'allow', context }
  const body = { tool: tool.name, arguments: checked.value }
  return {
    decision: false,
    context: { ...context, reason: `approval is needed: ${reason}`, approval: { method: 'POST', url: `${baseUrl}/api/actions`, body } },
  }
}

const denied = (reason: string): Decision => ({ decision: false, context: { reason } })

const failed = (status: number, message: string): Decision => ({
  decision: false,
  context: { reason: message, error: { status, message } },
})

const invalid = (tool: Tool, [first]: readonly { path: string; message: string }[]): string =>
  `${tool.name}: ${first?.message ?? 'the arguments do not fit'}${first?.path ? ` at ${first.path}` : ''}`

/** The key says who asks: a gateway cannot ask in the name of others. */
function whyNotSubject({ type, id }: Evaluation['subject'], principal: Principal): string | undefined {
  const types: readonly string[] = SUBJECT_TYPES[principal.kind]
  const names = [principal.id, principal.name, principal.agent]
  if (types.includes(type) && names.includes(id)) return undefined
  return `this key speaks for ${principal.kind} ${principal.agent ?? principal.name} only, whatever subject is named`
}
