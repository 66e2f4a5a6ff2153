import type { PolicyDocument } from '@countersign/core'
import type { z } from 'zod'

/** What goes for good, and what costs: as names of operations say it, in either case. */
const HIGH = ['delete', 'remove', 'destroy', 'purge', 'cancel', 'revoke', 'transfer', 'pay', 'charge', 'refund', 'purchase', 'order']
const WORDS = HIGH.flatMap((word) => [word, word.charAt(0).toUpperCase() + word.slice(1)])

/**
 * The rules of a policy to start from for the tools of an OpenAPI document: what reads runs, what writes asks, and what by its name destroys
 * or spends is of high risk. Names are only names: read what `countersign doctor` says would be asked, and add what is missing.
 * @param group The group's name in the configuration.
 */
export const openApiStarter = (group: string): z.input<typeof PolicyDocument>['rules'] => [
  { name: `${group}: reads run`, match: { tool: `${group}.*`, effect: 'read' }, verdict: 'allow' },
  {
    name: `${group}: what destroys or spends asks`,
    match: { tool: `${group}.*`, effect: 'write', when: `${JSON.stringify(WORDS)}.exists(word, tool.name.contains(word))` },
    verdict: 'ask',
    risk: 'high',
  },
  { name: `${group}: writes ask`, match: { tool: `${group}.*`, effect: 'write' }, verdict: 'ask' },
]
