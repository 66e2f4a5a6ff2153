import { canonicalJson, type PolicyChange, type PolicyDocument, type PolicyRule } from '@countersign/core'

const MAX_VALUE = 200

/** What differs from `before` to `after`: rules by name, each with its parts, then their order. */
export function diffPolicies(before: PolicyDocument, after: PolicyDocument): PolicyChange[] {
  const changes: PolicyChange[] = []
  if (before.default !== after.default) changes.push({ kind: 'changed', text: `default: ${before.default} → ${after.default}` })
  const old = new Map(before.rules.map((rule) => [rule.name, rule]))
  const kept = new Set<string>()
  for (const rule of after.rules) {
    const earlier = old.get(rule.name)
    if (!earlier) changes.push({ kind: 'added', rule: rule.name, text: `added "${rule.name}": ${summary(rule)}` })
    else {
      kept.add(rule.name)
      for (const text of partsChanged(earlier, rule)) changes.push({ kind: 'changed', rule: rule.name, text: `"${rule.name}" ${text}` })
    }
  }
  for (const { name, ...rule } of before.rules) {
    if (!kept.has(name)) changes.push({ kind: 'removed', rule: name, text: `removed "${name}": ${summary({ name, ...rule })}` })
  }
  const order = (rules: readonly PolicyRule[]) => rules.map(({ name }) => name).filter((name) => kept.has(name))
  const [were, are] = [order(before.rules), order(after.rules)]
  for (const [index, name] of are.entries()) {
    if (were[index] === name) continue
    changes.push({ kind: 'moved', rule: name, text: `"${name}" stands elsewhere: of two rules that ask, the first names the requirements` })
    break
  }
  return changes
}

function* partsChanged(before: PolicyRule, after: PolicyRule): Generator<string> {
  for (const key of ['match', 'verdict', 'requires', 'expires', 'remind', 'escalate', 'risk'] as const) {
    const [was, is] = [shown(before[key]), shown(after[key])]
    if (was !== is) yield `${key}: ${was} → ${is}`
  }
}

const summary = ({ name: _name, ...rule }: PolicyRule): string => shown(rule)

function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  // Through JSON once: a member that is undefined is none.
  const text = typeof value === 'string' ? value : canonicalJson(JSON.parse(JSON.stringify(value)))
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text
}
