export { type CompiledPolicy, compilePolicy, digestPolicy } from './compile.ts'
export type { PolicyCall } from './facts.ts'
export { fixedPolicies, type Policies } from './policies.ts'
export { findPolicyProblems, type PolicyWorld } from './problems.ts'
