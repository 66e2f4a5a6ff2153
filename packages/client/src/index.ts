export type {
  Action,
  ActionList,
  ActionState,
  AgentRequest,
  AgentView,
  Claim,
  ClientRequest,
  ClientResultBody,
  DecisionBody,
  Message,
  MessageList,
  PostedMessage,
  Principal,
  ProposeBody,
  RequestAnswer,
  RequestStatus,
  ResolveBody,
  RiskLevel,
  Session,
  SessionEvent,
  SessionList,
  SessionStatus,
  ToolView,
  Vote,
} from '@countersign/core'
export type { Actions } from './action-merge.ts'
export { ApiError, type ApiErrorCode, isApiError } from './api-error.ts'
export { type CarryOutOptions, carryOut } from './carry-out.ts'
export {
  type ActionQuery,
  type ActionWait,
  type CallOptions,
  type ChangeOptions,
  type Client,
  type ClientOptions,
  createClient,
  type Me,
  type Page,
} from './client.ts'
export { type ConnectionState, type EventsOptions, events } from './events.ts'
export { type InboxSnapshot, type InboxStore, openInbox } from './inbox-store.ts'
export type { Schedule } from './reconnect.ts'
export {
  EMPTY_SESSION,
  foldActions,
  foldSession,
  type RunError,
  type SessionState,
  type StartedCall,
  type StreamingMessage,
  sessionState,
} from './session-state.ts'
export { openSession, type SessionSnapshot, type SessionStore, type StoreOptions } from './session-store.ts'
export type { Store } from './store.ts'
