export {
  ACTION_EVENTS,
  ACTION_STATES,
  type ActionEvent,
  type ActionState,
  AFTER,
  type Answer,
  hasEnded,
  isSettled,
  isTerminal,
  OPEN_STATES,
  statesBefore,
} from './action/lifecycle.ts'
export {
  type ActionOutcome,
  actionOutcome,
  OUTCOME_STATUSES,
  type OutcomeFacts,
  type OutcomeStatus,
  ranWith,
  shortenText,
  whyExpired,
} from './action/outcome.ts'
export { type Command, readCommand, shortIdOf } from './commands.ts'
export { type BallotPaper, countedVotes, holdsRole, meetsRoles, type Tally, tallyVotes } from './decision/tally.ts'
export { assert, CountersignError, ERRORS, type ErrorCode, isCountersignError, toProblem } from './errors.ts'
export { type IdPrefix, makeId } from './ids.ts'
export { canonicalJson, inOrder } from './json/canonical.ts'
export { type CheckResult, checkJson } from './json/check.ts'
export type { ParseLimits } from './json/limits.ts'
export { type ParseResult, parseJson } from './json/parse.ts'
export type { JsonObject, JsonValue } from './json/value.ts'
export { decimalText } from './objective/decimal.ts'
export { elapsedOf, PERIOD } from './objective/period.ts'
export { type Measure, meanProgress, progressOf } from './objective/progress.ts'
export { standingOf } from './objective/standing.ts'
export { DEFAULT_POLICY, PolicyDocument, PolicyRule, Verdict, WAITING_LIMITS } from './policy/document.ts'
export {
  type CheckCondition,
  type ConditionFailure,
  DEFAULT_REQUIREMENTS,
  evaluatePolicy,
  expiryOf,
  explainPolicy,
  meansTool,
  NOT_EVALUATED,
  overrules,
  type PolicyResult,
  type PolicySubject,
  REGISTERED_GROUP,
  type Requirements,
  type RuleOpinion,
  strongest,
} from './policy/evaluate.ts'
export { matchesGlob } from './policy/glob.ts'
export { higherRisk, strictestRequirements, strictestResult } from './policy/strictest.ts'
export {
  type EditedOutcome,
  type FinishReason,
  MODEL_ERROR_CODES,
  type Model,
  type ModelErrorCode,
  type ModelEvent,
  type ModelMessage,
  type ModelRequest,
  type ModelTool,
  type ModelToolCall,
  type PassedOver,
  type ToolOutcome,
  toolResultValue,
  type Usage,
} from './ports/model.ts'
export {
  type ArgumentCheck,
  type ArgumentIssue,
  type Effect,
  type ExecuteContext,
  type Executor,
  type JsonSchema,
  type Preview,
  type PreviewField,
  type Tool,
  type ToolChange,
  ToolError,
  type ToolErrorKind,
  type Verification,
  type VerifyContext,
} from './ports/tool.ts'
export { mediaBytes, mediaOf, mediaOfOutcome, resultWithoutMedia, type ToolMedia, withoutMedia } from './ports/tool-media.ts'
export * from './wire/index.ts'
