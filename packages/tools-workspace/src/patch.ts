import { type JsonObject, ToolError, type Verification } from '@countersign/core'
import { z } from 'zod'
import { MAX_DIFF_CHARS, openPlanTime, tooLong } from './bounded.ts'
import { Changed, Fault } from './fault.ts'
import { Edits, Path, Text } from './inputs.ts'
import { land } from './land.ts'
import { foldName } from './path.ts'
import { type Ends, endsOf, type Plan, planDelete, planEdit, planWrite, readVersion, stateNow, versionOf } from './plan.ts'
import { fieldsOf, resultOf } from './shown.ts'
import { type WorkspaceTool, writeTool } from './tool.ts'
import type { Workspace } from './workspace.ts'

const MAX_FILES = 20

const FileChange = z
  .object({ path: Path, edits: Edits.optional(), content: Text.optional(), delete: z.literal(true).optional() })
  .refine(({ edits, content, delete: gone }) => [edits, content, gone].filter((part) => part !== undefined).length === 1, {
    message: 'needs one of edits, content and delete',
  })
type FileChange = z.output<typeof FileChange>

/** Changes several files as one action: all of them, or none. */
export const patchTool = (workspace: Workspace): WorkspaceTool =>
  writeTool(workspace, {
    name: 'applyPatch',
    description:
      'Changes several files together, which is decided about once: for each path either edits as of editFile, or content (creates or replaces the file), or delete: true.',
    input: z.object({ files: z.array(FileChange).min(1).max(MAX_FILES) }),
    describe: ({ files }) => `Change ${files.length === 1 ? files[0]?.path : `${files.length} files`}`,
    plan: ({ files }, signal) => planAll(workspace, files, signal),
    show: (plans) => ({
      fields: plans.flatMap(fieldsOf),
      precondition: { files: plans.map((plan) => ({ path: plan.place.text, ...endsOf(plan) })) },
      version: plans.map((plan) => versionOf(endsOf(plan))).join(','),
    }),
    async make({ files }, { plan }) {
      const plans = await plan()
      await land(workspace, plans)
      return outputOf(files, plans.map(endsOf))
    },
    find: ({ files }, { version }) => reconcile(workspace, files, version),
    async changed({ files }, { version }) {
      const shown = readVersions(version, files)
      // The message describes the files, not this attempt: an earlier request of it may have written some of them. It must therefore not
      // say that nothing was done.
      if (shown && (await stateOf(workspace, files, shown)) === 'part')
        return new ToolError(
          'ambiguous',
          'Some files of the patch are as they would be after it and others are not. Nothing more was written.',
        )
      return new Changed('A file of the patch')
    },
  })

/** @throws Fault */
async function planAll(workspace: Workspace, files: readonly FileChange[], signal: AbortSignal): Promise<Plan[]> {
  const time = openPlanTime(signal)
  const plans: Plan[] = []
  for (const { path, edits, content } of files) {
    if (edits) plans.push(await planEdit(workspace, path, edits, time))
    else plans.push(content === undefined ? await planDelete(workspace, path, time) : await planWrite(workspace, path, content, time))
  }
  requireApart(plans)
  if (plans.reduce((chars, { diff = '' }) => chars + diff.length, 0) > MAX_DIFF_CHARS) throw tooLong('all these files', time)
  return plans
}

/** @throws Fault when a file is named twice or is a folder of another, because the result would depend on the order. */
function requireApart(plans: readonly Plan[]): void {
  const known = plans.map(({ place }) => [...place.folders, place.name].map(foldName).join('/'))
  for (const [index, { place }] of plans.entries()) {
    const own = known[index] ?? ''
    if (known.some((other, at) => at !== index && `${other}/`.startsWith(`${own}/`)))
      throw new Fault(`${place.text} is named more than once in this patch, or is a folder of another file in it.`)
  }
}

/** Returns the shown states of the files, before and after; undefined when no preview was shown. */
function readVersions(version: string | undefined, files: readonly FileChange[]): Ends[] | undefined {
  const ends = (version?.split(',') ?? []).map(readVersion)
  return ends.length === files.length && ends.every((end) => end !== undefined) ? ends : undefined
}

const outputOf = (files: readonly { path: string }[], ends: readonly Ends[]): JsonObject => ({
  files: files.flatMap(({ path }, index) => (ends[index] ? [resultOf(path, ends[index])] : [])),
})

type State = 'before' | 'after' | 'part' | 'other'

/** Returns which of the shown states all files are in. */
async function stateOf(workspace: Workspace, files: readonly FileChange[], shown: readonly Ends[]): Promise<State> {
  const states: State[] = []
  for (const [index, { path }] of files.entries()) {
    const ends = shown[index]
    states.push(ends ? await stateNow(workspace, path, ends) : 'other')
  }
  const [first = 'other'] = states
  if (states.every((state) => state === first)) return first
  return states.includes('after') ? 'part' : 'other'
}

async function reconcile(workspace: Workspace, files: readonly FileChange[], version: string | undefined): Promise<Verification> {
  const shown = readVersions(version, files)
  if (!shown) return { done: 'unknown' }
  const state = await stateOf(workspace, files, shown)
  if (state === 'after') return { done: true, output: outputOf(files, shown) }
  return state === 'before' ? { done: false } : { done: 'unknown' }
}
