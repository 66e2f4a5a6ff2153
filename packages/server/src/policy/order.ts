import { PolicyDocument, PolicyRule } from '@countersign/core'

const { match, requires, escalate } = PolicyRule.shape
const PARTS = { match: match.shape, requires: requires.unwrap().shape, escalate: escalate.unwrap().shape }

/**
 * Returns the document with its keys in the order in which people write and read them: the name of a rule, its match, its verdict. It is
 * stored as canonical JSON, which sorts them alphabetically.
 */
export const orderPolicy = (document: PolicyDocument): PolicyDocument =>
  inOrder({ ...document, rules: document.rules.map(orderRule) }, PolicyDocument.shape)

function orderRule(rule: PolicyRule): PolicyRule {
  const ordered = inOrder(rule, PolicyRule.shape)
  return {
    ...ordered,
    match: inOrder(rule.match, PARTS.match),
    ...(rule.requires && { requires: inOrder(rule.requires, PARTS.requires) }),
    ...(rule.escalate && { escalate: inOrder(rule.escalate, PARTS.escalate) }),
  }
}

/** Returns the members of `value` in the order of `shape`; members that are not in the shape come last. */
function inOrder<T extends object>(value: T, shape: object): T {
  const places = Object.keys(shape)
  const placeOf = (key: string) => (places.includes(key) ? places.indexOf(key) : places.length)
  const entries = Object.entries(value).sort(([a], [b]) => placeOf(a) - placeOf(b))
  return Object.fromEntries(entries) as T
}
