import type { ExecuteContext, JsonValue, Preview, Verification, VerifyContext } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { z } from 'zod'
import { Changed, orRefuse } from './fault.ts'
import { Edits, Path, Text } from './inputs.ts'
import { land } from './land.ts'
import { moveTool } from './move.ts'
import { patchTool } from './patch.ts'
import { endNow, endsOf, type Plan, planDelete, planEdit, planWrite, readVersion, versionOf } from './plan.ts'
import { fieldsOf, resultOf } from './shown.ts'
import { cannot, type WorkspaceTool } from './tool.ts'
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
    plan: ({ path, edits }) => planEdit(workspace, path, edits),
  }),
  fileTool(workspace, {
    name: 'writeFile',
    description: 'Creates a text file, or replaces all of one. To change parts of a file use editFile.',
    input: z.object({ path: Path, content: Text }),
    describe: ({ path }) => `Write ${path}`,
    plan: ({ path, content }) => planWrite(workspace, path, content),
  }),
  fileTool(workspace, {
    name: 'deleteFile',
    description: 'Deletes one file. Folders are not deleted.',
    input: z.object({ path: Path }),
    describe: ({ path }) => `Delete ${path}`,
    plan: ({ path }) => planDelete(workspace, path),
  }),
  patchTool(workspace),
  moveTool(workspace, Path),
]

interface FileWrite<Input extends z.ZodObject> {
  name: string
  description: string
  input: Input
  describe(args: z.output<Input>): string
  plan(args: z.output<Input>): Promise<Plan>
}

function fileTool<Input extends z.ZodObject<{ path: z.ZodString }>>(workspace: Workspace, write: FileWrite<Input>): WorkspaceTool {
  const { plan, ...words } = write
  const { secrets: _, ...tool } = defineTool<Input>({
    ...words,
    effect: 'write',
    execute: (args, context) => workspace.inTurn(() => runAttempt(workspace, args.path, () => plan(args), context)),
    verify: (args, context) => reconcile(workspace, args.path, context),
  })
  // Sound because every argument object that reaches this went through `check`, which yields exactly the input's type.
  return { ...tool, preview: (args) => show(() => plan(args as z.output<Input>)) }
}

async function show(makePlan: () => Promise<Plan>): Promise<Preview> {
  try {
    const plan = await makePlan()
    const ends = endsOf(plan)
    return { fields: fieldsOf(plan), precondition: { path: plan.place.text, ...ends }, version: versionOf(ends) }
  } catch (error) {
    return cannot(error)
  }
}

async function runAttempt(
  workspace: Workspace,
  path: string,
  makePlan: () => Promise<Plan>,
  { version }: ExecuteContext,
): Promise<JsonValue> {
  const shown = readVersion(version)
  return orRefuse(async () => {
    if (shown) {
      const now = await endNow(workspace, path)
      if (now === shown.after) return resultOf(path, shown)
      if (now !== shown.before) throw new Changed(path)
    }
    const plan = await makePlan()
    const ends = endsOf(plan)
    if (shown && (ends.before !== shown.before || ends.after !== shown.after)) throw new Changed(path)
    await land(workspace, [plan])
    return resultOf(plan.place.text, ends)
  })
}

/** Which of the two states that were shown the file is in. What nobody was shown, because policy let it run, cannot be told. */
async function reconcile(workspace: Workspace, path: string, { version }: VerifyContext): Promise<Verification> {
  const shown = readVersion(version)
  if (!shown) return { done: 'unknown' }
  const now = await endNow(workspace, path)
  if (now === shown.after) return { done: true, output: resultOf(path, shown) }
  return now === shown.before ? { done: false } : { done: 'unknown' }
}
