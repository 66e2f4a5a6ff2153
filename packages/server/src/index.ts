export { ToolError } from '@countersign/core'
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
export {
  asTitle,
  type ClientToolDefinition,
  type CodedPreview,
  defineTool,
  githubStarter,
  linearStarter,
  mcpStarter,
  objectivesStarter,
  openApiStarter,
  type ToolDefinition,
  workspaceStarter,
} from './tools/index.ts'
