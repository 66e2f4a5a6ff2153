import type { JsonValue } from '@countersign/core'
import { type CodedTool, defineTool, type ToolDraft } from '@countersign/toolkit'
import type { TextWork } from '@countersign/toolkit/internal'
import type { z } from 'zod'
import type { LinearClient } from './client.ts'

/** What every tool of one workspace stands on. */
export interface Workspace {
  linear: LinearClient
  /** Compares texts in threads of its own. */
  work: TextWork
  /** Where its effects land, for the card and the digest. */
  destination: string
  /** Whose rights they happen with. */
  credential: string
}

interface LinearRead<Input extends z.ZodObject> {
  name: string
  description: string
  input: Input
  describe(args: z.output<Input>): string
  execute(linear: LinearClient, args: z.output<Input>, signal: AbortSignal): Promise<JsonValue>
}

/** A tool that only looks. */
export function readTool<Input extends z.ZodObject>(
  workspace: Workspace,
  { name, description, input, describe, execute }: LinearRead<Input>,
): ToolDraft {
  const tool = defineTool({
    name,
    description,
    input,
    effect: 'read',
    describe,
    execute: (args: z.output<Input>, { signal }) => execute(workspace.linear, args, signal),
  })
  return { ...draftOf(tool, workspace), definition: null }
}

/** A coded tool as one of this workspace: its secrets are the source's. */
export function draftOf({ secrets: _, ...tool }: CodedTool, { destination, credential }: Workspace): Omit<ToolDraft, 'definition'> {
  return { ...tool, destination, credential }
}
