import { CountersignError, type Principal, type ReplayedActions, type TestedCall, type TestPolicyBody } from '@countersign/core'
import type { z } from 'zod'
import { readerOf } from '../gate/index.ts'
import {
  type CompiledPolicy,
  compilePolicy,
  documentOf,
  findVersion,
  type PolicyWorld,
  readPolicy,
  replayActions,
} from '../policy/index.ts'
import type { HttpDeps } from './app.ts'

type Body = z.output<typeof TestPolicyBody>
type Parts = Pick<HttpDeps, 'store' | 'clock' | 'tools' | 'registered' | 'policies'>

/** Evaluates a policy for a call that may never be made, or for those calls of the last days that the caller may see. Changes nothing. */
export function createPolicyTests({ store, clock, tools, registered, policies }: Parts, world: PolicyWorld) {
  let isReplaying = false

  return async (body: Body, principal: Principal): Promise<TestedCall | ReplayedActions> => {
    // Rules may name what agents have registered meanwhile.
    await registered.list()
    const policy = await chosenPolicy(body)
    const version = body.document === undefined ? policy.version : null
    return 'call' in body ? testCall(policy, version, body.call, principal) : replay(policy, version, body.replay, principal)
  }

  async function chosenPolicy({ document, version }: Body): Promise<CompiledPolicy> {
    if (document !== undefined && version !== undefined) throw new CountersignError('bad_request', 'name a version or a document, not both')
    if (document !== undefined) return compilePolicy(readPolicy(document, world), 0)
    if (version === undefined) return store.read(() => policies.inForce())
    return compilePolicy(documentOf(await store.read(() => findVersion(version))), version)
  }

  function testCall(policy: CompiledPolicy, version: number | null, call: Extract<Body, { call: unknown }>['call'], principal: Principal) {
    const tool = tools.byName(call.tool)
    if (!tool) throw new CountersignError('not_found', `there is no tool ${call.tool}`)
    const checked = tool.check(call.arguments)
    if (!checked.ok) {
      const [first] = checked.issues
      const where = first?.path ? ` at ${first.path}` : ''
      throw new CountersignError('invalid_arguments', `${tool.name}: ${first?.message ?? 'the arguments do not fit'}${where}`, {
        issues: checked.issues,
      })
    }
    const { agent, session = null, requester = principal, at } = call
    const nowMs = at === undefined ? clock.nowMs() : Date.parse(at)
    const asked = { tool, arguments: checked.value, agent, session, requester, nowMs }
    const { verdict, rule, reason, requires, risk = null } = policy.evaluate(asked)
    return { verdict, rule, reason, version, requires, risk, rules: policy.explain(asked) }
  }

  async function replay(
    policy: CompiledPolicy,
    version: number | null,
    { days, limit }: Extract<Body, { replay: unknown }>['replay'],
    principal: Principal,
  ) {
    if (isReplaying) throw new CountersignError('rate_limited', 'another replay is under way: wait for it')
    isReplaying = true
    try {
      const startedAt = clock.nowMs()
      const sinceMs = Math.max(Math.floor(startedAt - days * 86_400_000), 0)
      const elapsedMs = () => clock.nowMs() - startedAt
      const replayed = await replayActions({ store, tools, policy, reader: readerOf(principal), sinceMs, limit, elapsedMs })
      return { version, since: new Date(sinceMs).toISOString(), ...replayed }
    } finally {
      isReplaying = false
    }
  }
}
