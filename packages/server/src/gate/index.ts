export {
  accepterOf,
  type Caller,
  isAdmin,
  isAdminInScope,
  isWriter,
  mayDecide,
  partOf,
  requireAdmin,
  requireAllRoles,
  requireOwnSignIn,
  requirePerson,
  requireScope,
  requireStanding,
  requireWriter,
  seesAll,
  whyNeverDecides,
} from './caller.ts'
export type { CallerContext } from './context.ts'
export { alreadyDecided, decideInSession } from './decide/decide.ts'
export { delegationsSeenBy, viewDelegation } from './decide/delegations.ts'
export type { RanElsewhere } from './decide/ran-elsewhere.ts'
export { requestersIn } from './decide/requesters.ts'
export { findRight, requirementsOf } from './decide/rights.ts'
export { EXPIRED, INSISTED, type RunContext, STOPPED, type StopReason, stopRun, stopSession } from './decide/stop-run.ts'
export { createStartFailures, type StartFailures } from './execute/start-failures.ts'
export { createGate, type Gate, type GateDeps, type SignOfLife } from './gate.ts'
export { endWholeSession, grantedTool, grantWholeSession, viewGrant } from './grants/grants.ts'
export { findVisibleGrant, seesEveryGrant } from './grants/manage-grants.ts'
export { usualRisk } from './policy.ts'
export { agentNamed } from './propose/agent-name.ts'
export { requireFittingArguments } from './propose/argument-size.ts'
export { takesCallback } from './propose/callback.ts'
export { isRepeatedTooOften } from './propose/denial-memory.ts'
export { definitionHashOf } from './propose/digest.ts'
export { type ImpossibleCall, readImpossible, recordImpossible } from './propose/impossible.ts'
export { type PreparedAction, type PrepareInput, prepareAction } from './propose/prepare.ts'
export { insertPrepared } from './propose/propose.ts'
export type { PreviewReading } from './propose/read-preview.ts'
export { countRepeat } from './propose/repeat-ask.ts'
export { countNear, findFullWaiting, limitsOf, noteRefusedAsk, queueNearLimit, type WaitingLimits } from './propose/waiting-limits.ts'
export { isWaitingFor, listLentIds, listWaitingFor } from './read/inbox-query.ts'
export { searchActions } from './read/search-actions.ts'
export {
  isOverdue,
  isoOrNull,
  isoTime,
  viewAction,
  viewActions,
  viewMessageWithActions,
  viewOutcome,
  viewPrincipal,
  viewSaid,
  viewSession,
} from './read/view.ts'
export { viewRevisions } from './read/view-revisions.ts'
export { viewSeenBy } from './read/view-seen.ts'
export { viewStory } from './read/view-story.ts'
export { viewTimelineEntry } from './read/view-timeline.ts'
export { findVisibleAction, readerOf, requireVisibleAction, requireVisibleSession, visibleAmong } from './read/visible.ts'
export { type OtherEvent, type SessionWriter, writeSession } from './session-writer.ts'
export { viewSnooze } from './snooze.ts'
export type { DeliveryFacts, DeliveryWords } from './tell-webhooks.ts'
export { transactOnce } from './transact-once.ts'
