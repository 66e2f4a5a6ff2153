import type { JsonObject, JsonValue } from '@countersign/core'
import type { OpenWorkspace } from './open-workspace.ts'

const LATEST_UPDATE = 'the id of the latest update'

/** Calls that use every tool and every argument once, in an order in which each has what it needs. */
export const EVERY_CALL: readonly [string, JsonObject][] = [
  ['listTeams', {}],
  ['listMembers', {}],
  ['listMembers', { team: 'ENG' }],
  ['listStatuses', { team: 'Engineering' }],
  ['listLabels', {}],
  ['listLabels', { team: 'ENG' }],
  ['listProjects', {}],
  ['listProjects', { team: 'ENG' }],
  ['listCycles', { team: 'ENG' }],
  ['myIssues', {}],
  ['searchIssues', {}],
  [
    'searchIssues',
    {
      text: 'sign-in',
      team: 'ENG',
      status: 'todo',
      assignee: 'bo@example.com',
      label: 'Bug',
      inCurrentCycle: true,
      openOnly: false,
      limit: 5,
    },
  ],
  ['searchIssues', { project: 'Sign-in' }],
  ['getIssue', { issue: 'ENG-1' }],
  ['workload', {}],
  ['workload', { team: 'ENG' }],
  [
    'createIssue',
    {
      team: 'ENG',
      title: 'New',
      description: '**Bold**',
      assignee: 'me',
      status: 'In Progress',
      priority: 'high',
      estimate: 3,
      dueDate: '2026-12-01',
      labels: ['bug', 'Area/API'],
      project: 'Sign-in',
      cycle: 'current',
    },
  ],
  [
    'updateIssue',
    { issue: 'ENG-1', title: 'Renamed', description: 'Why', priority: 'low', estimate: 1, dueDate: '2026-12-24', project: 'sign-in' },
  ],
  ['updateIssue', { issue: 'ENG-1', estimate: null, dueDate: null, project: null }],
  ['assignIssue', { issue: 'ENG-1', assignee: 'Cleo Marsh' }],
  ['unassignIssue', { issue: 'ENG-1' }],
  ['changeStatus', { issue: 'ENG-1', status: 'Done' }],
  ['comment', { issue: 'ENG-1', body: 'Seen.' }],
  ['addLabel', { issue: 'ENG-2', label: 'Feature' }],
  ['removeLabel', { issue: 'ENG-2', label: 'Feature' }],
  ['moveToCycle', { issue: 'ENG-2', cycle: 'next' }],
  ['removeFromCycle', { issue: 'ENG-2' }],
  ['deleteIssue', { issue: 'ENG-3' }],
  [
    'createProject',
    { name: 'Exports', teams: ['ENG', 'OPS'], description: 'Fast ones.', lead: 'bo', startDate: '2026-12-01', targetDate: '2027-01-31' },
  ],
  [
    'updateProject',
    { project: 'Exports', name: 'Fast exports', description: 'All.', lead: null, startDate: null, targetDate: '2027-02-28' },
  ],
  ['createCycle', { team: 'ENG', startsAt: '2027-01-01T00:00:00Z', endsAt: '2027-01-15T00:00:00Z', name: 'New year' }],
  ['createDocument', { title: 'Plan', content: 'One.\nTwo.\n', project: 'Sign-in' }],
  ['createDocument', { title: 'Notes', issue: 'ENG-5' }],
  ['listDocuments', {}],
  ['listDocuments', { project: 'Sign-in', limit: 5 }],
  ['listDocuments', { issue: 'ENG-5' }],
  ['searchDocuments', { text: 'two', limit: 5 }],
  ['updateDocument', { document: 'plan', title: 'The plan', content: 'One.\nTwo and a half.\n' }],
  ['getDocument', { document: 'The plan' }],
  ['deleteDocument', { document: 'The plan' }],
  ['restoreDocument', { document: 'The plan' }],
  ['attachLink', { issue: 'ENG-5', url: 'https://example.com/design', title: 'Design', subtitle: 'First draft' }],
  ['listAttachments', { issue: 'ENG-5' }],
  ['updateAttachment', { issue: 'ENG-5', attachment: 'https://example.com/design', title: 'The design', subtitle: null }],
  ['removeAttachment', { issue: 'ENG-5', attachment: 'The design' }],
  ['createLabel', { name: 'Flaky', team: 'ENG', color: '#eb5757', description: 'Fails now and then' }],
  ['createLabel', { name: 'Docs', group: 'Area' }],
  ['updateLabel', { label: 'Flaky', team: 'ENG', name: 'Unsteady', color: '#000000', description: null }],
  ['updateLabel', { label: 'Area/Docs', description: 'Words' }],
  ['addLabel', { issue: 'ENG-5', label: 'Unsteady' }],
  ['deleteLabel', { label: 'Unsteady', team: 'ENG' }],
  ['createMilestone', { project: 'Sign-in', name: 'Beta', targetDate: '2026-12-15', description: 'Some use it.' }],
  ['listMilestones', { project: 'Sign-in' }],
  ['updateMilestone', { project: 'Sign-in', milestone: 'beta', name: 'Public beta', targetDate: null, description: 'All use it.' }],
  ['updateIssue', { issue: 'ENG-5', project: 'Sign-in' }],
  ['moveToMilestone', { issue: 'ENG-5', milestone: 'Public beta' }],
  ['removeFromMilestone', { issue: 'ENG-5' }],
  ['deleteMilestone', { project: 'Sign-in', milestone: 'Public beta' }],
  ['createProjectUpdate', { project: 'Sign-in', health: 'atRisk', body: 'Two weeks late.' }],
  ['listProjectUpdates', { project: 'Sign-in', limit: 5 }],
  ['editProjectUpdate', { update: LATEST_UPDATE, health: 'offTrack', body: 'Three weeks late.' }],
  ['addRelation', { issue: 'ENG-5', relation: 'blockedBy', other: 'ENG-6' }],
  ['addRelation', { issue: 'ENG-5', relation: 'duplicateOf', other: 'ENG-6' }],
  ['listRelations', { issue: 'ENG-5' }],
  ['removeRelation', { issue: 'ENG-6', relation: 'blocks', other: 'ENG-5' }],
  ['removeRelation', { issue: 'ENG-6', other: 'ENG-5' }],
]

/** Fills in the id of a project update, which has no name. */
export const idsFilled = ({ standIn }: Pick<OpenWorkspace, 'standIn'>, args: JsonObject): JsonObject =>
  args.update === LATEST_UPDATE ? { ...args, update: standIn.world.updates.at(-1)?.id ?? '' } : args

export interface Done {
  name: string
  fields: JsonValue | undefined
  headline: string | undefined
  output: JsonValue
  url: string | undefined
}

/** Runs every call as the gate does: a write is previewed first and sent as shown. */
export async function runEveryTool(workspace: OpenWorkspace): Promise<Done[]> {
  const done: Done[] = []
  for (const [nth, [name, given]] of EVERY_CALL.entries()) {
    const args = idsFilled(workspace, given)
    const tool = workspace.tool(name)
    const seen = tool.effect === 'write' ? await workspace.look(name, args) : undefined
    const output = await workspace.run(name, args, { key: `act_${nth}.1`, version: seen?.version })
    done.push({ name, fields: seen?.fields, headline: seen?.headline, output, url: tool.resultUrl?.(args, output) })
  }
  return done
}
