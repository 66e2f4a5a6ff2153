import { NOT_EVALUATED } from '@countersign/core'
import { EARLIER_DENIAL } from '../policy/index.ts'

/**
 * Returns a verdict of the policy without a reason that may repeat what a redaction removes. After an earlier decline, the reason quotes a
 * person. Where a condition could not be evaluated, a reason that an earlier version stored may quote an argument.
 */
export const blankVerdict = <T extends { rule: string; reason: string }>(said: T): T =>
  said.rule === EARLIER_DENIAL || said.reason.includes(NOT_EVALUATED) ? { ...said, reason: 'Redacted' } : said
