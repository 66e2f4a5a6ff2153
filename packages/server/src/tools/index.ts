export { type ClientToolDefinition, type CodedTool, defineTool, isCodedTool, type ToolDefinition } from './define.ts'
export { type GithubInput, githubStarter } from './github/index.ts'
export { zodFindings } from './issues.ts'
export { type LinearInput, linearStarter } from './linear/index.ts'
export { type McpInput, mcpStarter } from './mcp/index.ts'
export { networkError } from './network-error.ts'
export {
  type KeyResultValues,
  type ObjectiveStore,
  type ObjectivesInput,
  type ObjectiveWrite,
  objectivesStarter,
  type Written,
} from './objectives/index.ts'
export { fitsTool, groupSecrets, openTools, type ToolGroup, type ToolRegistry, toolDefinitionHash } from './open-tools.ts'
export { type OpenApiInput, openApiStarter } from './openapi/index.ts'
export { RouteTable, type RouteTableInput } from './route-schema.ts'
export { dotted, SetupError, type SetupProblem } from './setup-error.ts'
export type { AnySourceKind, Pin, PinStore, SourceFinding, SourceGround, SourceKind, SourceOpening, ToolSource, Way } from './source.ts'
export { SOURCE_KINDS } from './source-kinds.ts'
export { STARTERS, type StarterRules } from './starters.ts'
export { type WorkspaceInput, workspaceStarter } from './workspace/index.ts'
