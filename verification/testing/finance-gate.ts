import { isCountersignError, type PolicyDocument, type Principal } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { compilePolicy, fixedPolicies } from '../../packages/server/src/policy/index.ts'
import { principals } from '../../packages/server/src/store/index.ts'
import { openBareGate } from './bare-gate.ts'
import { hurriedClock } from './open-gate.ts'
import { openTempSqlite } from './temp-store.ts'

export const person = (name: string, ...roles: string[]): Principal => ({ id: `prn_${name}`, kind: 'person', name, roles })
export const [fay, gil, hal, vic, wil, both, root] = [
  person('fay', 'finance'),
  person('gil', 'finance'),
  person('hal', 'finance'),
  person('vic', 'viewer'),
  person('wil', 'viewer'),
  person('both', 'legal', 'viewer'),
  person('root', 'admin'),
]
/** An agent of Fay's. */
export const bot: Principal = { id: 'prn_bot', kind: 'agent', name: 'bot', roles: ['agent'], personId: fay.id }

const pay = defineTool({ name: 'pay', description: 'Pay', effect: 'write', input: { type: 'object' }, execute: () => null })

/** A gate at which people of finance decide about payments, and may lend each other their votes. */
export async function openFinance(requires: NonNullable<PolicyDocument['rules'][number]['requires']>) {
  const temp = await openTempSqlite()
  let nowMs = Date.UTC(2026, 0, 1)
  const rules = [{ name: 'finance', match: { tool: 'own.pay' }, verdict: 'ask' as const, requires: { roles: ['finance'], ...requires } }]
  const policies = fixedPolicies(compilePolicy({ default: 'deny', rules }, 1))
  const gate = openBareGate(temp.store, [pay], 'prc_1', { ...hurriedClock, nowMs: () => nowMs, policies })
  await temp.store.transact(function* () {
    for (const one of [fay, gil, hal, vic, wil, both, root, bot]) yield* principals.savePrincipal(one, 1)
  })
  return {
    gate,
    store: temp.store,
    propose: async (by = bot) => (await gate.propose({ tool: 'own.pay', arguments: {} }, { principal: by })).id,
    vote: (id: string, by: Principal, verdict: 'approve' | 'decline' = 'approve') =>
      gate.decide(id, { verdict }, { principal: by }).then(
        ({ state }) => state,
        (error: unknown) => {
          if (isCountersignError(error)) return error.code
          throw error
        },
      ),
    lend: (from: Principal, to: Principal, by = from) =>
      gate.createDelegation({ ...(from.id !== by.id && { from: from.id }), to: to.id, expiresIn: 'P1D' }, { principal: by }),
    nowMs: () => nowMs,
    pass: (ms: number) => {
      nowMs += ms
    },
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  }
}
