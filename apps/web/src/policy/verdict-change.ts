import { PARTS_OF, type RuleFields, readRules, setField, setVerdict } from './rule-text.ts'

/** A rule and the text before its verdict changed, and the text after it. */
export type Before = { verdict: string; rule: RuleFields; text: string; without: string }

/**
 * Returns the text with another verdict of a rule. Parts that a rule with this verdict must not have, such as the roles that approve, are left
 * out. They return with the first verdict: loosening a rule and tightening it again loses nothing.
 * @param before Returned by the last `changeVerdict` for this rule.
 */
export function changeVerdict(
  text: string,
  { index, rule, verdict }: { index: number; rule: RuleFields; verdict: string },
  before: Before | undefined,
): { text: string; before: Before | undefined } {
  if (before?.verdict === verdict) {
    if (text === before.without) return { text: before.text, before: undefined }
    let restored = setVerdict(text, index, verdict)
    for (const field of PARTS_OF[verdict] ?? [])
      if (before.rule[field] !== '') restored = setField(restored, index, field, before.rule[field])
    return { text: restored, before: undefined }
  }
  const without = setVerdict(text, index, verdict)
  // On a way by several verdicts, the parts of the first one are kept.
  return { text: without, before: before !== undefined && rule.verdict !== 'ask' ? before : { verdict: rule.verdict, rule, text, without } }
}

/** The parts that the form left out of the rules of `text`, by the index of the rule. */
export type LeftOut = { text: string; parts: ReadonlyMap<number, Before> }

export const NOTHING: LeftOut = { text: '', parts: new Map() }

/** Returns the parts that still belong to the rule at their index: the text may have been edited since, and another rule may be there now. */
export function leftOutOf({ text: was, parts }: LeftOut, text: string): LeftOut['parts'] {
  if (was === text || parts.size === 0) return parts
  const [before, now] = [was, text].map((each) => readRules(each)?.map((rule) => JSON.stringify(rule)))
  return new Map([...parts].filter(([at]) => before?.[at] !== undefined && before[at] === now?.[at]))
}
