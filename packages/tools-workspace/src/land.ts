import { ToolError } from '@countersign/core'
import { openFolder } from './folder.ts'
import { endsOf, expectedOf, type Plan } from './plan.ts'
import type { Workspace } from './workspace.ts'
import { type StagedWrite, stageDelete, stageWrite } from './write-file.ts'

/**
 * Executes plans together. All new content is staged and every file is checked again before the first one is replaced. An error of the file
 * system or a concurrent change before that leaves all files unchanged.
 * @throws Fault when nothing was changed.
 * @throws ToolError `ambiguous` when some files were changed and one was not: no file system replaces several files atomically.
 */
export async function land({ root, maxFileBytes }: Workspace, plans: readonly Plan[]): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const staged: StagedWrite[] = []
  for (const plan of plans) {
    const { place, after } = plan
    const expected = { sha256: expectedOf(endsOf(plan).before), maxBytes: maxFileBytes }
    const folder = stack.use(await openFolder(root, place.folders, after !== undefined))
    const write = after
      ? await stageWrite(folder, { name: place.name, path: place.text }, after, expected)
      : stageDelete(folder, place.name, place.text, expected)
    stack.defer(() => write.discard())
    staged.push(write)
  }
  for (const write of staged) await write.requireUnchanged()
  for (const [index, write] of staged.entries()) {
    try {
      await write.commit()
    } catch (error) {
      if (index === 0) throw error
      throw halfDone(staged, index, error)
    }
  }
}

function halfDone(staged: readonly StagedWrite[], failed: number, cause: unknown): ToolError {
  const names = (writes: readonly StagedWrite[]) => writes.map(({ path }) => path).join(', ')
  const why = cause instanceof Error ? cause.message : String(cause)
  return new ToolError(
    'ambiguous',
    `Only a part of the patch was written. Changed: ${names(staged.slice(0, failed))}. Not known or not changed: ${names(staged.slice(failed))}. The reason: ${why}`,
    { cause },
  )
}
