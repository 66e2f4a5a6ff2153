import type { TextEdit } from '@countersign/toolkit/internal'
import { decodeText } from '@countersign/toolkit/internal'
import { diffInTime, editOptions, inBounds, type PlanTime } from './bounded.ts'
import { Fault } from './fault.ts'
import { type ReadFile, sha256 } from './file.ts'
import { isFolderThere, type Place, placeOf, readAt, requireAt, type Workspace } from './workspace.ts'

/**
 * The planned change of one file, computed from its current content. It is shown in the preview and executed only while the file is
 * unchanged.
 */
export interface Plan {
  place: Place
  before: ReadFile | undefined
  /** Undefined when the file is deleted. */
  after: Buffer | undefined
  /** Undefined when the file is not text. */
  diff: string | undefined
}

/** @throws Fault */
export async function planEdit(workspace: Workspace, path: string, edits: readonly TextEdit[], time: PlanTime): Promise<Plan> {
  const place = placeOf(workspace, path, 'write')
  const before = await requireAt(workspace, place)
  const text = decodeText(before.bytes)
  if (text === undefined) throw new Fault(`${place.text} is not text in UTF-8, so it cannot be edited.`)
  const input = { text, edits, path: place.text }
  const edited = await inBounds(`The edit of ${place.text}`, (run) => run('edit', input, editOptions(time)), workspace)
  if ('problem' in edited) throw new Fault(edited.problem)
  const after = edited.text
  if (after === text) throw new Fault(`The edits leave ${place.text} as it is.`)
  return withDiff(workspace, { place, before, after: Buffer.from(after) }, time)
}

/** @throws Fault */
export async function planWrite(workspace: Workspace, path: string, content: string, time: PlanTime): Promise<Plan> {
  const place = placeOf(workspace, path, 'write')
  const before = await readAt(workspace, place)
  const after = Buffer.from(content)
  if (before?.bytes.equals(after)) throw new Fault(`${place.text} has exactly this content already.`)
  return withDiff(workspace, { place, before, after }, time)
}

/** @throws Fault */
export async function planDelete(workspace: Workspace, path: string, time: PlanTime): Promise<Plan> {
  const place = placeOf(workspace, path, 'write')
  return withDiff(workspace, { place, before: await requireAt(workspace, place), after: undefined }, time)
}

async function withDiff(workspace: Workspace, plan: Omit<Plan, 'diff'>, time: PlanTime): Promise<Plan> {
  const { maxFileBytes } = workspace
  const { place, before, after } = plan
  if (after && after.length > maxFileBytes) throw new Fault(`${place.text} would have more than ${maxFileBytes} bytes.`)
  const old = before && decodeText(before.bytes)
  const now = after && decodeText(after)
  if ((before && old === undefined) || (after && now === undefined)) {
    if (after) throw new Fault(`${place.text} is not text in UTF-8, so no diff of it can be shown.`)
    return { ...plan, diff: undefined }
  }
  const sides = {
    path: place.text,
    before: old === undefined ? undefined : { text: old, mode: before?.mode ?? 0 },
    after: now === undefined ? undefined : { text: now, mode: before?.mode ?? 0 },
  }
  return { ...plan, diff: await diffInTime(workspace, sides, time) }
}

/** The states of a file before and after, which identify it: `absent`, or the hash of its bytes. */
export interface Ends {
  before: string
  after: string
}

const ABSENT = 'absent'
const endOf = (bytes: Buffer | undefined): string => (bytes === undefined ? ABSENT : sha256(bytes))

export const endsOf = ({ before, after }: Plan): Ends => ({ before: endOf(before?.bytes), after: endOf(after) })

/** Returns both states as one text, which the attempt carries as the version of its target. */
export const versionOf = ({ before, after }: Ends): string => `${before}>${after}`

export function readVersion(version: string | undefined): Ends | undefined {
  const [before, after, ...rest] = version?.split('>') ?? []
  return before === undefined || after === undefined || rest.length > 0 ? undefined : { before, after }
}

/**
 * Returns which of its two states a file is in now. A file whose folder is gone too is not known to be deleted: its disk may not be mounted.
 * @throws Fault
 */
export async function stateNow(workspace: Workspace, path: string, shown: Ends): Promise<keyof Ends | 'other'> {
  const place = placeOf(workspace, path, 'write')
  const now = endOf((await readAt(workspace, place))?.bytes)
  if (now === shown.before) return 'before'
  if (now !== shown.after) return 'other'
  return now !== ABSENT || (await isFolderThere(workspace, place)) ? 'after' : 'other'
}

export const expectedOf = (end: string): string | undefined => (end === ABSENT ? undefined : end)
