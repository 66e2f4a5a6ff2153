import { PARTS_OF, type RuleFields, setField, setVerdict } from './rule-text.ts'

/** What a rule was before its verdict changed. */
export type Before = { verdict: string; rule: RuleFields; text: string; without: string }

/**
 * Returns the text with another verdict of a rule. The parts that it must not have (nobody votes about what is allowed) are left out, and are there
 * again when the first verdict returns: loosening a rule and tightening it again loses nothing.
 * @param before What `changeVerdict` returned for this rule the last time.
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
