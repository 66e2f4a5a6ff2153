export { type Agent, type AgentLoop, type AgentParts, createAgentLoop } from './agent.ts'
export { type RequestPlace, viewRequest } from './request-answer.ts'
export { findToolCall } from './requests.ts'
export { findVisibleSession } from './session.ts'
