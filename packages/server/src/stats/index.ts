export { readStats } from './read.ts'
export { countRuleHits, type RuleHits } from './rule-hits.ts'
