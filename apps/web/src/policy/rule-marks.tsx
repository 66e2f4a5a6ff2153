import type { PolicyRuleReach } from '@countersign/client'
import { showInvisible } from '@countersign/react'

type RuleMarksProps = {
  reach: PolicyRuleReach
  /** Likely mistakes, each as the rest of a sentence about the rule. */
  warnings?: readonly string[]
  /** How many calls an earlier rule decided in 30 days; undefined or null where that is not known. */
  hitsOf?: (rule: string) => number | null | undefined
}

/** Shows the warnings about a valid rule: it never decides, an earlier rule asks for less, or it contains a likely mistake. */
export function RuleMarks({ reach: { never, conflicts }, warnings = [], hitsOf = () => null }: RuleMarksProps) {
  const marks = [
    ...(never ? [neverText(never)] : []),
    ...conflicts.map((conflict) => `Conflict: ${conflict.text}.${conflict.isCertain ? '' : evidenceText(hitsOf(conflict.with))}`),
    ...warnings.map((text) => `The rule ${text}.`),
  ]
  return marks.map((mark) => (
    <p key={mark} className="rule-mark">
      <span aria-hidden="true">⚠ </span>
      {showInvisible(mark)}
    </p>
  ))
}

/** Whether the earlier rule decides at all, where it is not known whether it meets the calls of this one. */
function evidenceText(hits: number | null | undefined): string {
  if (hits == null) return ''
  const count = hits === 0 ? 'no call' : hits === 1 ? '1 call' : `${hits.toLocaleString('en')} calls`
  return ` That rule decided ${count} in 30 days.`
}

function neverText(never: NonNullable<PolicyRuleReach['never']>): string {
  if (never.why === 'no_tool') return 'Never decides: it is about no tool that there is now.'
  const names = never.by.map((by) => `“${by}”`).join(' and ')
  return `Never decides: ${names} ${never.by.length === 1 ? 'decides' : 'decide'} about all of its calls.`
}
