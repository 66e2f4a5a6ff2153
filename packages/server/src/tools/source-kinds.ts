import type { AnySourceKind } from './source.ts'

/**
 * The kinds of sources this version opens, by their name in the configuration. Each is loaded when a configuration has one of it: with their
 * libraries they would be a fifth of the time in which a server starts.
 */
export const SOURCE_KINDS = {
  github: async () => (await import('./github/index.ts')).github,
  linear: async () => (await import('./linear/index.ts')).linear,
  mcp: async () => (await import('./mcp/index.ts')).mcp,
  objectives: async () => (await import('./objectives/index.ts')).objectives,
  openapi: async () => (await import('./openapi/index.ts')).openapi,
  workspace: async () => (await import('./workspace/index.ts')).workspace,
} as const satisfies Readonly<Record<string, () => Promise<AnySourceKind>>>
