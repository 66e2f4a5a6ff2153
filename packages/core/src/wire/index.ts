export {
  Action,
  ActionContext,
  ActionErrorView,
  ActionRevision,
  ActionRevisionList,
  Claim,
  ClaimBody,
  ClaimedChange,
  ClientRequest,
  ClientResultBody,
  DecisionBody,
  DecisionsAnswer,
  DecisionsBody,
  DeclineReasons,
  Extension,
  FullWaiting,
  FullWaitingList,
  OutcomeChecks,
  ProposeBody,
  ProposedAction,
  Requires,
  Resolution,
  ResolveBody,
  Revised,
  RiskLevel,
  Vote,
  WithdrawBody,
} from './action.ts'
export { ActionExportQuery, ActionFilterQuery, ActionList, ActionListQuery, SETTLED_ORDERS, type SettledOrder } from './action-list.ts'
export { AgentRequest, AgentRequestBody, ApproveToolBody, Checkpoint, RequestAnswer, RequestStatus, RequestView } from './agent-request.ts'
export { AssignBody, Assignment, AssignTo } from './assign.ts'
export {
  AcceptRecordBody,
  ActionStory,
  AUDIT_KINDS,
  AuditActor,
  AuditEntryView,
  AuditExportQuery,
  AuditKeyView,
  type AuditKind,
  AuditList,
  AuditListQuery,
  AuditSealView,
  RedactBody,
} from './audit.ts'
export { ConsoleSessionList, ConsoleSessionView } from './console-session.ts'
export { Delegation, DelegationBody, DelegationList, PeopleQuery, Person, PersonList } from './delegation.ts'
export { Duration, durationMs } from './duration.ts'
export { EMBED_TOKEN_MAX_MS, EmbedToken, EmbedTokenBody } from './embed-token.ts'
export {
  type ActionEventType,
  EVENT_SUBJECTS,
  EventData,
  type EventDataOf,
  type EventType,
  eventTypes,
  type NewEvent,
  type SessionEvent,
  type StoredEventType,
} from './event.ts'
export { Grant, GrantBody, GrantList, GrantListQuery, GrantSuggestion, MAX_WHEN_CHARS, Remember } from './grant.ts'
export { HoldView, VoidBody } from './hold.ts'
export { Json } from './json.ts'
export {
  KeyResult,
  Objective,
  ObjectiveChange,
  ObjectiveChangeKind,
  ObjectiveChangeList,
  ObjectiveList,
  ObjectiveQuery,
  ObjectiveStanding,
  ObjectiveState,
} from './objective.ts'
export { PageQuery } from './page.ts'
export { ChangePersonBody, PersonDetails } from './person.ts'
export {
  CheckedPolicy,
  CheckPolicyBody,
  PolicyChange,
  PolicyNames,
  PolicyNamesQuery,
  PolicyRuleReach,
  PolicyRuleUse,
  PolicyRuleUses,
  PolicyVersion,
  PolicyVersionList,
  PolicyVersionView,
  PolicyView,
  ReplayedActions,
  RollbackBody,
  SavedPolicy,
  SavePolicyBody,
  ShadowReport,
  TestedCall,
  TestPolicyBody,
  VerdictChange,
} from './policy.ts'
export { ChangePreferencesBody, Density, Preferences, QuietHours, SavedView, UndoTime } from './preferences.ts'
export { CreatedKey, CreateKeyBody, Key, KeyList, KeyScope, Principal, PrincipalKind, personOf } from './principal.ts'
export { PushSubscriptionBody, PushSubscriptionList, PushSubscriptionView } from './push.ts'
export { RegisteredTool, RegisterToolBody } from './registered-tool.ts'
export { SeenAnswer, SeenBody, SeenBy } from './seen.ts'
export {
  AgentView,
  ChatApproveBody,
  ChatBody,
  CreateSessionBody,
  InviteBody,
  LookUp,
  Message,
  MessageList,
  MessageText,
  PostedMessage,
  PostMessageBody,
  RenameSessionBody,
  Session,
  SessionApproveBody,
  SessionList,
  SessionListQuery,
  SessionPerson,
  SessionStatus,
  ShownAction,
  Timeline,
  TimelineEntry,
  ToolCall,
  ToolView,
  UsualVerdict,
} from './session.ts'
export { Snooze, SnoozeBody, SnoozeList } from './snooze.ts'
export { type AnswerStats, Cost, ModelStats, Stats, StatsQuery } from './stats.ts'
export { AcceptToolBody, ToolDetails, ToolSourceView } from './tool.ts'
export {
  ChangeWebhookBody,
  CreatedWebhook,
  CreateWebhookBody,
  type DisabledWhy,
  RotateWebhookBody,
  WEBHOOK_EVENTS,
  Webhook,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookDeliveryQuery,
  type WebhookEventType,
  WebhookList,
} from './webhook.ts'
