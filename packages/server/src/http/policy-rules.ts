import { PolicyRuleUses } from '@countersign/core'
import { isoTime, seesAll } from '../gate/index.ts'
import { callerOf } from '../identity/authenticate.ts'
import { findRuleReach, warningsAbout } from '../policy/index.ts'
import { countRuleHits, type RuleHits } from '../stats/index.ts'
import type { App, HttpDeps } from './app.ts'
import { readRoles } from './policy.ts'
import { taggedRoute } from './route.ts'

const route = taggedRoute('policy')

const DAYS = 30
const DAY_MS = 86_400_000

/** Registers the overview of the rules in force: how often each decided, and which never can. */
export function policyRuleRoutes(app: App, { store, clock, policies, tools, registered }: HttpDeps): void {
  app.get(
    '/api/policy/rules',
    route('person-with-role', {
      operationId: 'listPolicyRules',
      summary: 'List the rules in force with their use in the last 30 days',
      errors: ['forbidden'],
      response: { 200: PolicyRuleUses },
    }),
    async (request): Promise<PolicyRuleUses> => {
      const { principal } = callerOf(request)
      const nowMs = clock.nowMs()
      const { version, document } = await store.read(policies.inForce)
      const all = [...tools.all(), ...(await registered.list())]
      const reach = await findRuleReach(document, all)
      const found = await warningsAbout(document, { roles: await store.read(readRoles), tools: all })
      const warnings = Map.groupBy(found, ({ rule }) => rule)
      // The numbers cover everybody, as the statistics do.
      const hits = seesAll(principal) ? await countRuleHits(store, Math.max(0, nowMs - DAYS * DAY_MS), nowMs) : undefined
      const of = useOf(hits)
      return {
        ...{ version, days: DAYS },
        items: reach.map((rule) => ({ ...rule, ...of(rule.rule), warnings: (warnings.get(rule.rule) ?? []).map(({ text }) => text) })),
        default: of('default'),
        isComplete: hits?.isComplete ?? true,
      }
    },
  )
}

const useOf =
  (hits: RuleHits | undefined) =>
  (rule: string): PolicyRuleUses['default'] => {
    if (!hits) return { hits: null, lastHitAt: null }
    const found = hits.byRule.get(rule)
    return { hits: found?.count ?? 0, lastHitAt: found ? isoTime(found.lastAt) : null }
  }
