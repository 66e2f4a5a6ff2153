export { type ClientToolDefinition, type CodedPreview, type CodedTool, defineTool, isCodedTool, type ToolDefinition } from './define.ts'
export type { GithubInput } from './github/index.ts'
export { githubStarter } from './github/starter.ts'
export { asTitle } from './headline.ts'
export { isHeader } from './is-header.ts'
export { zodFindings } from './issues.ts'
export type { LinearInput } from './linear/index.ts'
export { linearStarter } from './linear/starter.ts'
export type { McpInput } from './mcp/index.ts'
export { mcpStarter } from './mcp/starter.ts'
export { networkError } from './network-error.ts'
export type { KeyResultValues, ObjectiveStore, ObjectivesInput, ObjectiveWrite, Written } from './objectives/index.ts'
export { objectivesStarter } from './objectives/starter.ts'
export { fitsTool, groupSecrets, openTools, type ToolGroup, type ToolRegistry, toolDefinitionHash } from './open-tools.ts'
export type { OpenApiInput } from './openapi/index.ts'
export { openApiStarter } from './openapi/starter.ts'
export { RouteTable, type RouteTableInput } from './route-schema.ts'
export { dotted, SetupError, type SetupProblem } from './setup-error.ts'
export type {
  AnySourceKind,
  OutboundContext,
  OwnFile,
  Pin,
  PinStore,
  SourceFinding,
  SourceGround,
  SourceKind,
  SourceOpening,
  StarterRules,
  ToolSource,
} from './source.ts'
export { SOURCE_KINDS } from './source-kinds.ts'
export { STARTERS } from './starters.ts'
export type { WorkspaceInput } from './workspace/index.ts'
export { workspaceStarter } from './workspace/starter.ts'
