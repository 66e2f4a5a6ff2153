// Exports for the other packages of Countersign. They are not public and may change with any version.
export { argumentWords, cutWords } from './argument-words.ts'
export { type WorkBudget, WorkEnded, WorkTimedOut } from './bounded/workers.ts'
export { readCacheFor } from './cache-for.ts'
export { checkpoint } from './checkpoints.ts'
export { decodeText } from './decode-text.ts'
export { isCodedTool } from './define.ts'
export { isConfiguredSource } from './define-source.ts'
export { asName, asTitle } from './headline.ts'
export { credentialOf, NO_CREDENTIAL } from './http/credential.ts'
export { mayHaveRun } from './http/graphql-answer.ts'
export { headerFault, isHeader } from './http/is-header.ts'
export { createParameterNames, foldCase, foldParameter, isMethodOverride } from './http/name-spellings.ts'
export { networkError } from './http/network-error.ts'
export { NO_CACHE } from './http/no-cache.ts'
export { OVERRIDE_HEADERS } from './http/override-headers.ts'
export { readRetryAfter, retryAfterWords } from './http/retry-after.ts'
export { serviceMessage } from './http/service-text.ts'
export {
  asText,
  fillJson,
  fillWords,
  member,
  namesBefore,
  namesIn,
  readJsonTemplate,
  readsResult,
  readTemplate,
  readWords,
  type Template,
  textsIn,
} from './http/template.ts'
export { buildUrl, fillUrlText, pathValueFault } from './http/url-template.ts'
export { mayBeModelName } from './model-names.ts'
export { addressKind } from './net/addresses.ts'
export { bodyOf } from './net/body-of.ts'
export { http } from './net/node-http.ts'
export { exactLinesOf, LineError, linesOf } from './net/split-lines.ts'
export type { KeyResultValues, ObjectiveStore, ObjectiveWrite, Written } from './objective-store.ts'
export { fitsNoTool, fitsTool, groupSecrets, openTools, type ToolGroup, type ToolRegistry, toolDefinitionHash } from './open-tools.ts'
export { once } from './overlay.ts'
export { riskByName, wordsOf } from './risk-by-name.ts'
export { type ReadBefore, readBefore } from './routes/route.ts'
export { Route, RouteTable, type RouteTableInput } from './routes/route-schema.ts'
export { KEY, type ReadVerify, readVerify, verifyRoute, verifyTemplates } from './routes/route-verify.ts'
export { type Finding, listKnownKeys, toArgumentIssues, zodFindings } from './schema/issues.ts'
export { isPlainPattern, openCountedPattern } from './schema/pattern.ts'
export { openPatternBudget, type PatternBudget, patternCost, patternsIn, TOO_COSTLY } from './schema/pattern-cost.ts'
export { resolveRef } from './schema/resolve-ref.ts'
export { costFault } from './schema/schema-cost.ts'
export { changesByItself, lasting } from './schema/self-changing.ts'
export { readSettlesWithin } from './settles-within.ts'
export { dotted } from './setup-error.ts'
export { type DiffSide, linesWithEnds, wholeDiff } from './text-work/diff.ts'
export { type DiffOptions, diffWithin, openDiffBudget } from './text-work/diff-within.ts'
export type { TextEdit } from './text-work/edits.ts'
export { fitsGlob } from './text-work/fits-glob.ts'
export type { PatchInput } from './text-work/jobs.ts'
export { openTextWork, type TextWork } from './text-work/text-work.ts'
export { byClient, executorOf, valuesOf } from './tool-draft.ts'
export { VERSION } from './version.ts'
export { watchAway } from './watch-away.ts'
