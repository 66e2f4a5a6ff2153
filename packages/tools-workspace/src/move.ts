import { link, rename, unlink } from 'node:fs/promises'
import type { JsonValue, Preview, Verification } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { z } from 'zod'
import { Changed, codeOf, Fault, orRefuse } from './fault.ts'
import { requireAbsent, sha256 } from './file.ts'
import { openFolder } from './folder.ts'
import { cannot, type WorkspaceTool } from './tool.ts'
import { type Place, placeOf, readAt, requireAt, type Workspace } from './workspace.ts'
import { requireUnchanged } from './write-file.ts'

interface Move {
  from: Place
  to: Place
  sha256: string
}

/** Gives a file another name, where nothing is in its way. */
export function moveTool(workspace: Workspace, Path: z.ZodString): WorkspaceTool {
  const input = z.object({ from: Path, to: Path })
  const { secrets: _, ...tool } = defineTool({
    name: 'moveFile',
    description: 'Moves or renames one file. Nothing may be at the new path.',
    input,
    effect: 'write',
    describe: ({ from, to }) => `Move ${from} to ${to}`,
    execute: ({ from, to }, { version }) => workspace.inTurn(() => orRefuse(() => runAttempt(workspace, from, to, version))),
    verify: ({ from, to }, { version }) => reconcile(workspace, from, to, version),
  })
  return {
    ...tool,
    async preview(args): Promise<Preview> {
      const { from, to } = args as z.output<typeof input>
      try {
        const move = await planMove(workspace, from, to)
        const fields = [{ field: 'path', oldValue: move.from.text, newValue: move.to.text }]
        return { fields, precondition: { from: move.from.text, to: move.to.text, sha256: move.sha256 }, version: move.sha256 }
      } catch (error) {
        return cannot(error)
      }
    },
  }
}

async function planMove(workspace: Workspace, from: string, to: string): Promise<Move> {
  const [source, target] = [placeOf(workspace, from, 'write'), placeOf(workspace, to, 'write')]
  const { bytes } = await requireAt(workspace, source)
  if (await readAt(workspace, target)) throw new Fault(`${target.text} is there already.`)
  return { from: source, to: target, sha256: sha256(bytes) }
}

async function runAttempt(workspace: Workspace, from: string, to: string, shown: string | undefined): Promise<JsonValue> {
  const moved = { from, to, did: 'moved' }
  if (shown !== undefined && (await whereIs(workspace, from, to, shown)) === 'moved') return moved
  const move = await planMove(workspace, from, to)
  if (shown !== undefined && move.sha256 !== shown) throw new Changed(from)
  await using source = await openFolder(workspace.root, move.from.folders)
  await using target = await openFolder(workspace.root, move.to.folders, true)
  await requireAbsent(target, move.to.name, move.to.text)
  await requireUnchanged(source, move.from.name, move.from.text, { sha256: move.sha256, maxBytes: workspace.maxFileBytes })
  await Promise.all([source.stillThere(), target.stillThere()])
  const [old, now] = [source.at(move.from.name), target.at(move.to.name)]
  // A second name first: renaming would replace what appeared there meanwhile.
  const isLinked = await link(old, now).then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) === 'EEXIST') throw new Fault(`${to} is there already.`)
      return false
    },
  )
  if (isLinked) await unlink(old)
  else await rename(old, now)
  await Promise.all([source.sync(), target.sync()])
  return moved
}

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
