export { DECISION_ERRORS } from './answers.ts'
export { ChatEvent, InboxEvent, McpEvent, SessionEvent } from './events.ts'
export { docsRoutes } from './routes.ts'
