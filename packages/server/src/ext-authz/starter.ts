import type { StarterRules } from '@countersign/toolkit'

/**
 * Returns the starting policy rules for requests through a gateway. A request that no rule matches needs approval, which is the default of
 * the policy.
 */
export const gatewayStarter = (group: string): StarterRules => [
  { name: `${group}: reading runs`, match: { tool: `${group}.readRequest`, effect: 'read' }, verdict: 'allow' },
  {
    name: `${group}: deleting asks as high risk`,
    match: { tool: `${group}.writeRequest`, when: 'args.method == "DELETE"' },
    verdict: 'ask',
    risk: 'high',
  },
]
