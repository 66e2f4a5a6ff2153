import { type JsonObject, ToolError, type Verification } from '@countersign/core'
import type { SentDocument } from '../../../../examples/linear/stand-in/server.ts'
import type { OpenWorkspace } from './open-workspace.ts'

export const mutationsOf = ({ standIn }: OpenWorkspace): SentDocument[] => standIn.sent.filter(({ query }) => query.startsWith('mutation'))

/** Asks a tool for the outcome of an attempt. */
export const verify = async (
  workspace: OpenWorkspace,
  name: string,
  args: JsonObject,
  key: string,
  version?: string,
): Promise<Verification | undefined> =>
  workspace.tool(name).verify?.(args, { actionId: 'act_1', idempotencyKey: key, signal: new AbortController().signal, version })

/** Returns the error that the work ends with. @throws Error when it ends with another error or none. */
export async function failure(work: Promise<unknown>): Promise<ToolError> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof ToolError) return error
  throw new Error(`no ToolError: ${error}`)
}

export const issueOf = ({ standIn }: OpenWorkspace, identifier: string) => {
  const issue = standIn.world.issues.find((one) => one.identifier === identifier)
  if (!issue) throw new Error(`no ${identifier}`)
  return issue
}

/** Previews a write and executes it as shown. */
export async function runAttempt(workspace: OpenWorkspace, name: string, args: JsonObject, key: string) {
  const { version } = await workspace.look(name, args)
  return workspace.run(name, args, { key, version })
}

/** Calls that create one object of each kind: a document, a link, labels, milestones, an update and relations. */
const SEED: readonly [string, JsonObject][] = [
  ['updateIssue', { issue: 'ENG-1', project: 'Sign-in' }],
  ['updateIssue', { issue: 'ENG-2', project: 'Sign-in' }],
  ['createDocument', { title: 'Seed document', content: 'One\nTwo', project: 'Sign-in' }],
  ['createDocument', { title: 'Deleted document', issue: 'ENG-1' }],
  ['deleteDocument', { document: 'Deleted document' }],
  ['attachLink', { issue: 'ENG-1', url: 'https://example.com/seed', title: 'Seed link' }],
  ['createLabel', { name: 'Seed', team: 'ENG' }],
  ['createLabel', { name: 'Their seed', team: 'OPS' }],
  ['addLabel', { issue: 'ENG-1', label: 'Seed' }],
  ['createMilestone', { project: 'Sign-in', name: 'Seed milestone' }],
  ['createMilestone', { project: 'Sign-in', name: 'Second', targetDate: '2026-12-24' }],
  ['moveToMilestone', { issue: 'ENG-1', milestone: 'Second' }],
  ['createProjectUpdate', { project: 'Sign-in', health: 'onTrack', body: 'So far.' }],
  ['addRelation', { issue: 'ENG-1', relation: 'blocks', other: 'ENG-2' }],
  ['addRelation', { issue: 'ENG-1', relation: 'relatedTo', other: 'ENG-3' }],
]

export async function seed(workspace: OpenWorkspace): Promise<void> {
  for (const [nth, [name, args]] of SEED.entries()) await runAttempt(workspace, name, args, `seed_${nth}.1`)
}

/** Changes of the seeded objects. */
export const CHANGES: [string, JsonObject][] = [
  ['createDocument', { title: 'A', content: 'B', project: 'Sign-in' }],
  ['updateDocument', { document: 'Seed document', title: 'B', content: 'One' }],
  ['attachLink', { issue: 'ENG-2', url: 'https://example.com/x', title: 'X', subtitle: 'Y' }],
  ['updateAttachment', { issue: 'ENG-1', attachment: 'Seed link', title: 'X', subtitle: 'Y' }],
  ['createLabel', { name: 'New', team: 'ENG', color: '#000000', description: 'Z' }],
  ['updateLabel', { label: 'Seed', team: 'ENG', name: 'Renamed', color: '#000000', description: 'Z' }],
  ['createMilestone', { project: 'Sign-in', name: 'Third', targetDate: '2027-01-01', description: 'Z' }],
  ['updateMilestone', { project: 'Sign-in', milestone: 'Second', name: 'Renamed', targetDate: null, description: 'Z' }],
  ['deleteMilestone', { project: 'Sign-in', milestone: 'Second' }],
  ['createProjectUpdate', { project: 'Sign-in', health: 'atRisk', body: 'Hm.' }],
  ['addRelation', { issue: 'ENG-1', relation: 'blockedBy', other: 'ENG-4' }],
  ['removeRelation', { issue: 'ENG-1', relation: 'blocks', other: 'ENG-2' }],
]
