export { tellAccess, writesOfOthers } from './access.ts'
export * as actions from './actions.ts'
export * as agentRequests from './agent-requests.ts'
export * as archive from './archive.ts'
export * as attempts from './attempts.ts'
export * as audit from './audit.ts'
export { type BackupSummary, backupDatabase, restoreDatabase } from './backup/index.ts'
export * as claims from './claims.ts'
export * as consoleSessions from './console-sessions.ts'
export { databaseFile } from './data-folder.ts'
export * as delegations from './delegations.ts'
export type { DueRow } from './due-work.ts'
export * as dueWork from './due-work.ts'
export * as events from './events.ts'
export * as gatewayCalls from './gateway-calls.ts'
export * as gatewayRequests from './gateway-requests.ts'
export * as grants from './grants.ts'
export { type Happening, noteHappening } from './happening.ts'
export { type DatabaseLook, lookAtDatabase } from './inspect.ts'
export type { Mark } from './instance.ts'
export * as instance from './instance.ts'
export { enqueueJobs, type JobName, type JobPayload } from './jobs.ts'
export * as keys from './keys.ts'
export { type LastingConnection, openLastingConnection } from './lasting-connection.ts'
export { type DatabaseClient, type Machine, thisMachine } from './machine.ts'
export * as messages from './messages.ts'
export { inMigrationLock } from './migrate-postgres.ts'
export * as modelCalls from './model-calls.ts'
export { newId, newSalt, newSecret } from './new-id.ts'
export * as notices from './notices.ts'
export type { KeyResultRow, ObjectiveChangeRow, ObjectiveRow } from './objective-rows.ts'
export * as objectives from './objectives.ts'
export { doOnce, findAnswer, keepAnswer, type OnceKey } from './once.ts'
export { openBeside } from './open-beside.ts'
export { openForArchive } from './open-for-archive.ts'
export * as participants from './participants.ts'
export * as policyVersions from './policy-versions.ts'
export { openPostgres, type PostgresOptions } from './postgres.ts'
export * as principals from './principals.ts'
export type { OtherProcess, OwnConnection } from './processes.ts'
export * as processes from './processes.ts'
export { lock, lockKey, type Tx, together } from './query.ts'
export * as reads from './reads.ts'
export * as retention from './retention.ts'
export * as revisions from './revisions.ts'
export type {
  ActionRevisionRow,
  ActionRow,
  AgentRequestRow,
  ArchiveFileRow,
  AuditHeadRow,
  AuditRow,
  DelegationRow,
  EventRow,
  GrantRow,
  InstanceRow,
  MessageRow,
  ModelCallRow,
  PolicyDifferenceRow,
  PolicyVersionRow,
  PrincipalRow,
  RunRow,
  SessionRow,
  VoteRow,
} from './schema.ts'
export * as sessionDeletion from './session-deletion.ts'
export * as sessionSearch from './session-search.ts'
export * as sessions from './sessions.ts'
export * as settings from './settings.ts'
export { openSqlite, type SqliteOptions } from './sqlite.ts'
export * as stats from './stats.ts'
export type { Database, Outbox, Store, StoredEvent } from './store.ts'
export * as toolPins from './tool-pins.ts'
export * as visibility from './visibility.ts'
export * as votes from './votes.ts'
export * as waiting from './waiting.ts'
export * as webhookDeliveries from './webhook-deliveries.ts'
export type { WebhookDeliveryRow, WebhookRow } from './webhook-rows.ts'
export * as webhooks from './webhooks.ts'
