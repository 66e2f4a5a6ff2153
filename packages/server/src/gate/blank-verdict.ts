import { EARLIER_DENIAL } from '../policy/index.ts'

/**
 * Returns a verdict of the policy without what its reason repeats: of an earlier decline the words of a person, of a condition that could not
 * be evaluated a value that it met. Conditions no longer tell values, but reasons from before are stored.
 */
export const blankVerdict = <T extends { rule: string; reason: string }>(said: T): T =>
  said.rule === EARLIER_DENIAL || said.reason.includes('could not be evaluated') ? { ...said, reason: 'Redacted' } : said
