import type { JsonObject, JsonValue } from '@countersign/core'
import type { OpenWorkspace } from './open-workspace.ts'

/** Calls that use every tool and every argument once, in an order in which each finds what it needs. */
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
]

export interface Done {
  name: string
  fields: JsonValue | undefined
  headline: string | undefined
  output: JsonValue
  url: string | undefined
}

/** Runs every call as the gate would: a write is looked at first, and sent as it was shown. */
export async function runEveryTool(workspace: OpenWorkspace): Promise<Done[]> {
  const done: Done[] = []
  for (const [nth, [name, args]] of EVERY_CALL.entries()) {
    const tool = workspace.tool(name)
    const seen = tool.effect === 'write' ? await workspace.look(name, args) : undefined
    const output = await workspace.run(name, args, { key: `act_${nth}.1`, version: seen?.version })
    done.push({ name, fields: seen?.fields, headline: seen?.headline, output, url: tool.resultUrl?.(args, output) })
  }
  return done
}
