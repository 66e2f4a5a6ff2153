import type { AnySourceKind } from '@countersign/toolkit'
import type { McpInput } from '@countersign/tools-mcp'
import type { ObjectivesInput } from '@countersign/tools-objectives'
import type { OpenApiInput } from '@countersign/tools-openapi'
import type { WorkspaceInput } from '@countersign/tools-workspace'
import type { GithubInput, LinearInput } from './optional-settings.ts'

/** The settings of each kind of source that the configuration can name, as they are written. */
export interface SourceSettings {
  github: GithubInput
  linear: LinearInput
  mcp: McpInput
  objectives: ObjectivesInput
  openapi: OpenApiInput
  workspace: WorkspaceInput
}

/** The name of a kind of source in the configuration. */
export type SourceKindName = keyof SourceSettings

/** A source needs a package that is not installed. */
export class MissingPackage extends Error {
  override readonly name = 'MissingPackage'
  constructor(packageName: string, options: ErrorOptions) {
    super(`needs the package ${packageName}: npm install ${packageName}`, options)
  }
}

/**
 * Loads the kinds of sources by their name in the configuration. A kind is loaded when a configuration names it: all of them, with their
 * libraries, would take a fifth of the time in which a server starts.
 * @throws MissingPackage for github and linear when their package is not installed.
 */
export const SOURCE_KINDS: Readonly<Record<SourceKindName, () => Promise<AnySourceKind>>> = {
  github: optional('@countersign/tools-github', async () => (await import('@countersign/tools-github')).github),
  linear: optional('@countersign/tools-linear', async () => (await import('@countersign/tools-linear')).linear),
  mcp: async () => (await import('@countersign/tools-mcp')).mcp,
  objectives: async () => (await import('@countersign/tools-objectives')).objectives,
  openapi: async () => (await import('@countersign/tools-openapi')).openapi,
  workspace: async () => (await import('@countersign/tools-workspace')).workspace,
}

function optional(packageName: string, load: () => Promise<AnySourceKind>): () => Promise<AnySourceKind> {
  return () =>
    load().catch((error: unknown) => {
      const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
      // Another module that is missing is a broken installation, and its own message says which.
      throw isMissing && error.message.includes(`'${packageName}'`) ? new MissingPackage(packageName, { cause: error }) : error
    })
}
