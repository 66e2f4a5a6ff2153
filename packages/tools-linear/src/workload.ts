import type { JsonObject } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import type { LinearDocument } from '@linear/sdk'
import { z } from 'zod'
import type { LinearClient } from './client.ts'
import { findTeam, teamFilter } from './find.ts'
import { Team } from './inputs.ts'
import type { LoadNode, UserNode } from './nodes.ts'
import { LOAD } from './queries.ts'
import { readTool, type Workspace } from './read-tool.ts'
import { membersOf, OPEN } from './reads.ts'
import { userWords } from './views.ts'

/** The maximum number of pages of open issues to count, with one request each. */
const MAX_PAGES = 8

/** One member's open work. */
export type Load = {
  openIssues: number
  points: number
  withoutEstimate: number
  urgent: number
  cycleIssues: number
  cyclePoints: number
}

export const workloadTool = (workspace: Workspace): ToolDraft =>
  readTool(workspace, {
    name: 'workload',
    description:
      'Who has how much to do: open issues and estimate points per member, in the current cycle and overall, the fullest first, ' +
      'with the average. timesAverage says how many times the average somebody has.',
    input: z.object({ team: Team.optional() }),
    describe: ({ team }) => (team === undefined ? 'Read the workload' : `Read the workload of team ${team}`),
    async execute(linear, { team }, signal) {
      const only = team === undefined ? undefined : await findTeam(linear, team, signal)
      const ours = teamFilter(linear, only)
      const [members, { issues, isWhole }] = await Promise.all([
        membersOf(linear, team, signal),
        openIssues(linear, { and: [OPEN, ...(ours ? [{ team: ours }] : [])] }, signal),
      ])
      return {
        team: only?.key ?? null,
        ...countLoad(members, issues),
        ...(!isWhole && { note: `Only ${issues.length} open issues counted.` }),
      }
    },
  })

async function openIssues(linear: LinearClient, filter: LinearDocument.IssueFilter, signal: AbortSignal) {
  const issues: LoadNode[] = []
  let after: string | null = null
  for (let page = 0; page < MAX_PAGES; page++) {
    const variables: JsonObject = { filter: filter as JsonObject, ...(after !== null && { after }) }
    const { nodes, pageInfo } = (await linear.ask(LOAD, variables, signal)).issues
    issues.push(...nodes)
    if (!pageInfo.hasNextPage || pageInfo.endCursor === null) return { issues, isWhole: true }
    after = pageInfo.endCursor
  }
  return { issues, isWhole: false }
}

const NOTHING: Load = { openIssues: 0, points: 0, withoutEstimate: 0, urgent: 0, cycleIssues: 0, cyclePoints: 0 }

/**
 * Counts open work per person. Members without an open issue are included with zeros, because the average includes everybody who could take
 * work.
 * @returns Members by points of the current cycle, then points, then open issues, in descending order, then by name.
 */
function countLoad(members: readonly UserNode[], issues: readonly LoadNode[]) {
  const loads = new Map<string | null, { user: UserNode | null; load: Load }>(
    members.map((user) => [user.id, { user, load: { ...NOTHING } }]),
  )
  for (const { assignee, estimate, priority, cycle } of issues) {
    const entry = loads.get(assignee?.id ?? null) ?? { user: assignee, load: { ...NOTHING } }
    loads.set(assignee?.id ?? null, entry)
    entry.load.openIssues += 1
    entry.load.points += estimate ?? 0
    if (estimate === null) entry.load.withoutEstimate += 1
    if (priority === 1) entry.load.urgent += 1
    if (cycle?.isActive) {
      entry.load.cycleIssues += 1
      entry.load.cyclePoints += estimate ?? 0
    }
  }
  const people = [...loads.values()].flatMap(({ user, load }) => (user ? [{ member: userWords(user), ...load }] : []))
  const mean = (of: keyof Load) => (people.length === 0 ? 0 : round(people.reduce((sum, one) => sum + one[of], 0) / people.length))
  const average = {
    openIssues: mean('openIssues'),
    points: mean('points'),
    cycleIssues: mean('cycleIssues'),
    cyclePoints: mean('cyclePoints'),
  }
  const timesAverage = (one: Load) => {
    const measure = average.cyclePoints > 0 ? 'cyclePoints' : average.points > 0 ? 'points' : 'openIssues'
    return average[measure] === 0 ? 0 : round(one[measure] / average[measure])
  }
  return {
    average,
    members: people
      .map((one) => ({ ...one, timesAverage: timesAverage(one) }))
      .sort(
        (a, b) =>
          b.cyclePoints - a.cyclePoints ||
          b.points - a.points ||
          b.openIssues - a.openIssues ||
          (a.member ?? '').localeCompare(b.member ?? '', 'en'),
      ),
    unassigned: loads.get(null)?.load ?? NOTHING,
  }
}

const round = (value: number): number => Math.round(value * 100) / 100
