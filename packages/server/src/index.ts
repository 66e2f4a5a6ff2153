export { ToolError } from '@countersign/core'
export {
  type ClientToolDefinition,
  type CodedPreview,
  type ConfiguredSource,
  definePlannedWrite,
  defineSource,
  defineTool,
  draftOf,
  type Network,
  outgoingFetch,
  type PlannedWrite,
  type SourceFinding,
  type SourceKind,
  type SourceOpening,
  type SourceServices,
  type ToolDefinition,
  type ToolDraft,
  type ToolSource,
} from '@countersign/toolkit'
export { asTitle } from '@countersign/toolkit/internal'
export { mcpStarter } from '@countersign/tools-mcp/starter'
export { objectivesStarter } from '@countersign/tools-objectives/starter'
export { openApiStarter } from '@countersign/tools-openapi/starter'
export { workspaceStarter } from '@countersign/tools-workspace/starter'
export {
  ConfigError,
  type ConfigInput,
  defineConfig,
  findConfig,
  loadConfig,
  openConfig,
  readSettings,
  type Settings,
} from './config/index.ts'
export { type Engine, type EngineOptions, openEngine } from './engine.ts'
export { defineScript, type Script, type ScriptReply, type ScriptStep, scriptedModel } from './models/index.ts'
export { type RunningServer, type ServerOptions, startServer } from './server.ts'
