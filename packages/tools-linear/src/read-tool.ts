import type { JsonValue } from '@countersign/core'
import { type CodedTool, defineTool, type ToolDraft } from '@countersign/toolkit'
import type { TextWork } from '@countersign/toolkit/internal'
import type { z } from 'zod'
import type { LinearClient } from './client.ts'

/** The dependencies of all tools of one workspace. */
export interface Workspace {
  linear: LinearClient
  /** Compares texts in worker threads. */
  work: TextWork
  /** The target of the effects, for the card and the digest. */
  destination: string
  /** The identity of the credential that the calls are made with. */
  credential: string
}

interface LinearRead<Input extends z.ZodObject> {
  name: string
  description: string
  input: Input
  describe(args: z.output<Input>): string
  execute(linear: LinearClient, args: z.output<Input>, signal: AbortSignal): Promise<JsonValue>
}

/** Defines a read tool. */
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

/** Returns a coded tool as a draft of this workspace. The source holds its secrets. */
export function draftOf({ secrets: _, ...tool }: CodedTool, { destination, credential }: Workspace): Omit<ToolDraft, 'definition'> {
  return { ...tool, destination, credential }
}
