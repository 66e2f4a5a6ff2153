import type { AnySourceKind } from '@countersign/toolkit'
import type { McpInput } from '@countersign/tools-mcp'
import type { ObjectivesInput } from '@countersign/tools-objectives'
import type { OpenApiInput } from '@countersign/tools-openapi'
import type { WorkspaceInput } from '@countersign/tools-workspace'
import type { CodingAgentInput } from '../coding-agent/index.ts'
import type { ExtAuthzInput } from '../ext-authz/index.ts'
import { importOptional } from '../optional-package.ts'
import type { GithubInput, LinearInput } from './optional-settings.ts'

/** The settings of each kind of source that the configuration can name, as they are written. */
export interface SourceSettings {
  'coding-agent': CodingAgentInput
  'ext-authz': ExtAuthzInput
  github: GithubInput
  linear: LinearInput
  mcp: McpInput
  objectives: ObjectivesInput
  openapi: OpenApiInput
  workspace: WorkspaceInput
}

/** The name of a kind of source in the configuration. */
export type SourceKindName = keyof SourceSettings

/**
 * Loads the kinds of sources by their name in the configuration. A kind is loaded when a configuration names it: all of them, with their
 * libraries, would take a fifth of the time in which a server starts.
 * @throws MissingPackage for github and linear when their package is not installed.
 */
export const SOURCE_KINDS: Readonly<Record<SourceKindName, () => Promise<AnySourceKind>>> = {
  'coding-agent': async () => (await import('../coding-agent/index.ts')).codingAgent,
  'ext-authz': async () => (await import('../ext-authz/index.ts')).extAuthz,
  github: async () => (await importOptional('@countersign/tools-github', () => import('@countersign/tools-github'))).github,
  linear: async () => (await importOptional('@countersign/tools-linear', () => import('@countersign/tools-linear'))).linear,
  mcp: async () => (await import('@countersign/tools-mcp')).mcp,
  objectives: async () => (await import('@countersign/tools-objectives')).objectives,
  openapi: async () => (await import('@countersign/tools-openapi')).openapi,
  workspace: async () => (await import('@countersign/tools-workspace')).workspace,
}
