export { openRegisteredTools, type RegisteredTools } from './registered-tools.ts'
