export { type ClientToolDefinition, type CodedPreview, type CodedTool, defineTool, type ToolDefinition } from './define.ts'
export { type ConfiguredSource, defineSource, draftOf } from './define-source.ts'
export { type CallContent, callHttp, type HttpAnswer, type HttpCall } from './http/http-call.ts'
export {
  createRedactor,
  type Network,
  openNetwork,
  outgoingFetch,
  REDACTED,
  type Redactor,
  RefusedAddress,
  secretHeaders,
  send,
} from './net/index.ts'
export { definePlannedWrite, type Planned, type PlannedWrite } from './planned-write.ts'
export { openJsonSchema } from './schema/json-schema.ts'
export { SetupError, type SetupProblem } from './setup-error.ts'
export type {
  AnySourceKind,
  OutboundContext,
  OwnFile,
  Pin,
  PinStore,
  SourceFinding,
  SourceKind,
  SourceLog,
  SourceOpening,
  SourceServices,
  StarterRules,
  ToolSource,
} from './source.ts'
export type { ToolDraft } from './tool-draft.ts'
