import type { PolicyChange, PolicyDocument, PolicyRule } from '@countersign/core'
import { orderPolicy } from './order.ts'
import { lineOf } from './text.ts'

/** Returns the differences from `before` to `after`: rules by name, each with its parts, then their order. Every text is complete. */
export function diffPolicies(before: PolicyDocument, after: PolicyDocument): PolicyChange[] {
  const [was, is] = [orderPolicy(before), orderPolicy(after)]
  const changes: PolicyChange[] = []
  if (was.default !== is.default) changes.push({ kind: 'changed', text: `default: ${was.default} → ${is.default}` })
  for (const key of ['expires', 'extend'] as const) {
    if (was[key] !== is[key]) changes.push({ kind: 'changed', text: `${key}: ${was[key] ?? NOTHING} → ${is[key] ?? NOTHING}` })
  }
  for (const key of ['waitingPerAgent', 'waitingPerSession'] as const) {
    const [earlier, later] = [was.limits?.[key] ?? 'usual', is.limits?.[key] ?? 'usual']
    if (earlier !== later) changes.push({ kind: 'changed', text: `limits.${key}: ${earlier} → ${later}` })
  }
  const old = new Map(was.rules.map((rule) => [rule.name, rule]))
  const kept = new Set<string>()
  for (const rule of is.rules) {
    const earlier = old.get(rule.name)
    if (!earlier) changes.push({ kind: 'added', rule: rule.name, text: `added "${rule.name}": ${summary(rule)}` })
    else {
      kept.add(rule.name)
      for (const text of partsChanged(earlier, rule)) changes.push({ kind: 'changed', rule: rule.name, text: `"${rule.name}" ${text}` })
    }
  }
  for (const rule of was.rules) {
    if (!kept.has(rule.name)) changes.push({ kind: 'removed', rule: rule.name, text: `removed "${rule.name}": ${summary(rule)}` })
  }
  const order = (rules: readonly PolicyRule[]) => rules.map(({ name }) => name).filter((name) => kept.has(name))
  const [were, are] = [order(was.rules), order(is.rules)]
  for (const [index, name] of are.entries()) {
    if (were[index] === name) continue
    changes.push({ kind: 'moved', rule: name, text: `"${name}" stands elsewhere: of two rules that ask, the first names the requirements` })
    break
  }
  return changes
}

/** Returns the parts that differ, each by its path: `match.when`, `requires.quorum`, `verdict`. */
function* partsChanged(before: PolicyRule, after: PolicyRule): Generator<string> {
  const [was, is] = [partsOf(before), partsOf(after)]
  for (const path of new Set([...was.keys(), ...is.keys()])) {
    const [earlier, later] = [was.get(path) ?? NOTHING, is.get(path) ?? NOTHING]
    if (earlier !== later) yield `${path}: ${earlier} → ${later}`
  }
}

const NOTHING = 'nothing'

function partsOf(rule: PolicyRule): Map<string, string> {
  const parts = new Map<string, string>()
  for (const [key, value] of Object.entries(rule)) {
    if (typeof value !== 'object') parts.set(key, lineOf(value))
    else for (const [inner, part] of Object.entries(value)) parts.set(`${key}.${inner}`, lineOf(part))
  }
  return parts
}

const summary = ({ name: _name, ...rule }: PolicyRule): string => lineOf(rule)
