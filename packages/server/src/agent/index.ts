export { type Agent, type AgentLoop, type AgentParts, createAgentLoop } from './agent.ts'
export { findVisibleSession } from './session.ts'
