import type { Verification } from '@countersign/core'
import { z } from 'zod'
import { openPlanTime } from './bounded.ts'
import { Changed } from './fault.ts'
import { Edits, Path, Text } from './inputs.ts'
import { land } from './land.ts'
import { moveTool } from './move.ts'
import { patchTool } from './patch.ts'
import { endsOf, type Plan, planDelete, planEdit, planWrite, readVersion, stateNow, versionOf } from './plan.ts'
import { fieldsOf, resultOf } from './shown.ts'
import { type WorkspaceTool, writeTool } from './tool.ts'
import type { Workspace } from './workspace.ts'

/** The tools that change files. */
export const fileWrites = (workspace: Workspace): WorkspaceTool[] => [
  fileTool(workspace, {
    name: 'editFile',
    description:
      'Replaces exact pieces of a text file. Each oldText must be in the file exactly once, with its spaces and line ends; read the file first.',
    input: z.object({
      path: Path,
      edits: Edits,
    }),
    describe: ({ path }) => `Edit ${path}`,
    plan: ({ path, edits }, signal) => planEdit(workspace, path, edits, openPlanTime(signal)),
  }),
  fileTool(workspace, {
    name: 'writeFile',
    description: 'Creates a text file, or replaces all of one. To change parts of a file use editFile.',
    input: z.object({ path: Path, content: Text }),
    describe: ({ path }) => `Write ${path}`,
    plan: ({ path, content }, signal) => planWrite(workspace, path, content, openPlanTime(signal)),
  }),
  fileTool(workspace, {
    name: 'deleteFile',
    description: 'Deletes one file. Folders are not deleted.',
    input: z.object({ path: Path }),
    describe: ({ path }) => `Delete ${path}`,
    plan: ({ path }, signal) => planDelete(workspace, path, openPlanTime(signal)),
  }),
  patchTool(workspace),
  moveTool(workspace, Path),
]

interface FileWrite<Input extends z.ZodObject> {
  name: string
  description: string
  input: Input
  describe(args: z.output<Input>): string
  plan(args: z.output<Input>, signal: AbortSignal): Promise<Plan>
}

const fileTool = <Input extends z.ZodObject<{ path: z.ZodString }>>(workspace: Workspace, write: FileWrite<Input>): WorkspaceTool =>
  writeTool(workspace, {
    ...write,
    show(plan) {
      const ends = endsOf(plan)
      return { fields: fieldsOf(plan), precondition: { path: plan.place.text, ...ends }, version: versionOf(ends) }
    },
    async make(_, { plan }) {
      const planned = await plan()
      await land(workspace, [planned])
      return resultOf(planned.place.text, endsOf(planned))
    },
    find: ({ path }, { version }) => reconcile(workspace, path, version),
    changed: ({ path }) => new Changed(path),
  })

/** Returns which of the two shown states the file is in. If the policy allowed the write without a preview, the outcome is unknown. */
async function reconcile(workspace: Workspace, path: string, version: string | undefined): Promise<Verification> {
  const shown = readVersion(version)
  if (!shown) return { done: 'unknown' }
  const state = await stateNow(workspace, path, shown)
  if (state === 'after') return { done: true, output: resultOf(path, shown) }
  return state === 'before' ? { done: false } : { done: 'unknown' }
}
