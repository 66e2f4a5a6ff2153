import { link, rename, unlink } from 'node:fs/promises'
import { ToolError, type Verification } from '@countersign/core'
import { z } from 'zod'
import { Changed, codeOf, Fault, faultOf } from './fault.ts'
import { requireAbsent, sha256 } from './file.ts'
import { openFolder } from './folder.ts'
import { type WorkspaceTool, writeTool } from './tool.ts'
import { type Place, placeOf, readAt, requireAt, type Workspace } from './workspace.ts'
import { requireUnchanged } from './write-file.ts'

interface Move {
  from: Place
  to: Place
  sha256: string
}

/** Renames a file if nothing exists at the new path. */
export const moveTool = (workspace: Workspace, Path: z.ZodString): WorkspaceTool =>
  writeTool(workspace, {
    name: 'moveFile',
    description: 'Moves or renames one file. Nothing may be at the new path.',
    input: z.object({ from: Path, to: Path }),
    describe: ({ from, to }) => `Move ${from} to ${to}`,
    plan: ({ from, to }) => planMove(workspace, from, to),
    show: ({ from, to, sha256 }) => ({
      fields: [{ field: 'path', oldValue: from.text, newValue: to.text }],
      precondition: { from: from.text, to: to.text, sha256 },
      version: sha256,
    }),
    make: async ({ from, to }, { plan }) => {
      await land(workspace, await plan())
      return { from, to, did: 'moved' }
    },
    find: ({ from, to }, { version }) => reconcile(workspace, from, to, version),
    // A file that is in the way or missing is the more precise reason.
    changed: ({ from, to }) =>
      planMove(workspace, from, to).then(
        () => new Changed(from),
        (error: unknown) => error,
      ),
  })

async function planMove(workspace: Workspace, from: string, to: string): Promise<Move> {
  const [source, target] = [placeOf(workspace, from, 'write'), placeOf(workspace, to, 'write')]
  const { bytes } = await requireAt(workspace, source)
  if (await readAt(workspace, target)) throw new Fault(`${target.text} is there already.`)
  return { from: source, to: target, sha256: sha256(bytes) }
}

async function land(workspace: Workspace, move: Move): Promise<void> {
  await using source = await openFolder(workspace.root, move.from.folders)
  await using target = await openFolder(workspace.root, move.to.folders, true)
  await requireAbsent(target, move.to.name, move.to.text)
  await requireUnchanged(source, move.from.name, move.from.text, { sha256: move.sha256, maxBytes: workspace.maxFileBytes })
  await Promise.all([source.stillThere(), target.stillThere()])
  const [old, now] = [source.at(move.from.name), target.at(move.to.name)]
  // A hard link is created first: a rename would replace a file that appeared at the new path meanwhile.
  const isLinked = await link(old, now).then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) === 'EEXIST') throw new Fault(`${move.to.text} is there already.`)
      return false
    },
  )
  if (isLinked) await unlink(old).catch((cause: unknown) => Promise.reject(atBoth(move, cause)))
  else await rename(old, now).catch((error: unknown) => Promise.reject(faultOf(error, move.from.text)))
  await Promise.all([source.sync(), target.sync()])
}

/** Reports a file that got its new path and kept the old one, for example in a folder where only its owner may remove it. */
const atBoth = ({ from, to }: Move, cause: unknown): ToolError =>
  new ToolError('ambiguous', `${from.text} is also at ${to.text} now, but could not be removed from its old path. Remove one of the two.`, {
    cause,
  })

async function whereIs(workspace: Workspace, from: string, to: string, wanted: string): Promise<'moved' | 'here' | 'neither'> {
  const [old, now] = await Promise.all([from, to].map((path) => readAt(workspace, placeOf(workspace, path, 'write'))))
  const isAt = (file: typeof old) => file !== undefined && sha256(file.bytes) === wanted
  if (!old && isAt(now)) return 'moved'
  return isAt(old) && !now ? 'here' : 'neither'
}

async function reconcile(workspace: Workspace, from: string, to: string, shown: string | undefined): Promise<Verification> {
  if (shown === undefined) return { done: 'unknown' }
  const where = await whereIs(workspace, from, to, shown)
  if (where === 'neither') return { done: 'unknown' }
  return where === 'moved' ? { done: true, output: { from, to, did: 'moved' } } : { done: false }
}
