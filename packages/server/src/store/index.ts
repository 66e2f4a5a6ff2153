export { type BackupProgress, type BackupSummary, backupDatabase, restoreDatabase } from './backup/index.ts'
export { databaseFile, requireExisting } from './data-folder.ts'
export { answerToAny, findAnswer, type IdempotencyKey, idempotently, keepAnswer } from './idempotency.ts'
export { type DatabaseLook, lookAtDatabase, type StoredPolicy } from './inspect.ts'
export { type DatabaseClient, type Machine, thisMachine } from './machine.ts'
export { newId, newSalt, newSecret } from './new-id.ts'
export { openBeside } from './open-beside.ts'
export { openForArchive } from './open-for-archive.ts'
export {
  findNewer,
  inMigrationLock,
  type LastingConnection,
  LONGEST_ATTEMPT_MS,
  openLastingConnection,
  openPostgres,
  type PostgresOptions,
} from './postgres/index.ts'
export { ahead, changeRights, keepRights, lock, lockKey, lockUnderRights, mapInTurn, type Tx, together } from './query.ts'
export { ArchiveInProgress, DataFolderInUse, openSqlite, ownFolder, type SqliteOptions } from './sqlite/sqlite.ts'
export type { Database, Outbox, Store, StoredEvent } from './store.ts'
export * as stored from './stored-action.ts'
export { tellAccess, writesOfOthers } from './tables/access.ts'
export { afterMove, endUnstarted, type MovedAsRead, type MovedById, moveAction, type PatchOf, startAtOnce } from './tables/action-moves.ts'
export type { ActionRevisionRow, ActionRow, GrantRow, VoteRow } from './tables/action-rows.ts'
export * as actions from './tables/actions.ts'
export * as agentRequests from './tables/agent-requests.ts'
export * as archive from './tables/archive.ts'
export * as attempts from './tables/attempts.ts'
export * as audit from './tables/audit.ts'
export type { AuditHeadRow, AuditRow } from './tables/audit-rows.ts'
export * as claims from './tables/claims.ts'
export * as consoleSessions from './tables/console-sessions.ts'
export * as delegations from './tables/delegations.ts'
export type { DueActionRow, DueRow } from './tables/due-work.ts'
export * as dueWork from './tables/due-work.ts'
export * as embedTokens from './tables/embed-tokens.ts'
export * as events from './tables/events.ts'
export * as gatewayCalls from './tables/gateway-calls.ts'
export * as gatewayRequests from './tables/gateway-requests.ts'
export * as grants from './tables/grants.ts'
export { type Happening, noteHappening } from './tables/happening.ts'
export * as hostCalls from './tables/host-calls.ts'
export type { Mark } from './tables/instance.ts'
export * as instance from './tables/instance.ts'
export { type ClaimedStep, type EndedJobs, enqueueJobs, type HeldJob, type JobName, type JobPayload } from './tables/jobs.ts'
export * as keys from './tables/keys.ts'
export { lastCalls } from './tables/last-calls.ts'
export * as messages from './tables/messages.ts'
export * as modelCalls from './tables/model-calls.ts'
export * as notices from './tables/notices.ts'
export type { KeyResultRow, ObjectiveChangeRow, ObjectiveRow } from './tables/objective-rows.ts'
export * as objectives from './tables/objectives.ts'
export * as participants from './tables/participants.ts'
export * as policyVersions from './tables/policy-versions.ts'
export * as preferences from './tables/preferences.ts'
export type { DelegationRow, PrincipalRow } from './tables/principal-rows.ts'
export * as principals from './tables/principals.ts'
export type { OtherProcess, OwnConnection } from './tables/processes.ts'
export * as processes from './tables/processes.ts'
export * as pushDeliveries from './tables/push-deliveries.ts'
export * as pushSubscriptions from './tables/push-subscriptions.ts'
export * as reads from './tables/reads.ts'
export * as redaction from './tables/redaction.ts'
export * as registeredTools from './tables/registered-tools.ts'
export * as retention from './tables/retention.ts'
export * as revisions from './tables/revisions.ts'
export type { InstanceRow, PolicyDifferenceRow, PolicyVersionRow, RegisteredToolRow } from './tables/schema.ts'
export * as seen from './tables/seen.ts'
export * as sessionDeletion from './tables/session-deletion.ts'
export type { AgentRequestRow, ArchiveFileRow, EventRow, MessageRow, ModelCallRow, RunRow, SessionRow } from './tables/session-rows.ts'
export * as sessionSearch from './tables/session-search.ts'
export {
  currentAction,
  currentSession,
  historyAfter,
  historyAtStep,
  type KnownRows,
  keepSession,
  loadSession,
  openAhead,
  type QueuedMessage,
  readSession,
  type SessionState,
  takeSession,
} from './tables/session-state.ts'
export * as sessionThreads from './tables/session-threads.ts'
export * as sessions from './tables/sessions.ts'
export * as settings from './tables/settings.ts'
export * as snoozes from './tables/snoozes.ts'
export * as stats from './tables/stats.ts'
export * as textPieces from './tables/text-pieces.ts'
export * as toolPins from './tables/tool-pins.ts'
export * as visibility from './tables/visibility.ts'
export * as votes from './tables/votes.ts'
export * as waiting from './tables/waiting.ts'
export * as waits from './tables/waits-for.ts'
export * as webhookDeliveries from './tables/webhook-deliveries.ts'
export type { ChannelName, WebhookDeliveryRow, WebhookRow } from './tables/webhook-rows.ts'
export * as webhooks from './tables/webhooks.ts'
