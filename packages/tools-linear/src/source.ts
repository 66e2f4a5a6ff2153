import type { OutboundContext, SourceFinding, SourceKind, SourceOpening, ToolDraft, ToolSource } from '@countersign/toolkit'
import { credentialOf, openTextWork } from '@countersign/toolkit/internal'
import { z } from 'zod'
import { attachmentTools } from './attachments.ts'
import { openLinearClient } from './client.ts'
import { documentReads } from './document-reads.ts'
import { documentWrites } from './document-writes.ts'
import { isOurs } from './find.ts'
import { issueMoves } from './issue-moves.ts'
import { issueWrites } from './issue-writes.ts'
import { labelWrites } from './label-writes.ts'
import { milestoneTools } from './milestones.ts'
import { projectUpdateTools } from './project-updates.ts'
import { projectWrites } from './project-writes.ts'
import { TEAMS, VIEWER } from './queries.ts'
import type { Workspace } from './read-tool.ts'
import { readTools } from './reads.ts'
import { relationTools } from './relations.ts'
import { linearStarter } from './starter.ts'
import { userWords } from './views.ts'
import { workloadTool } from './workload.ts'

const API = 'https://api.linear.app/graphql'

const LinearSection = z.strictObject({
  /** A personal API key as `${LINEAR_API_KEY}`, or the token of an OAuth application as `Bearer ${LINEAR_TOKEN}`. */
  apiKey: z.string().min(1),
  /** The address of the GraphQL API. */
  baseUrl: z.string().min(1).default(API),
  /** The keys of the teams whose issues, members and projects agents can access. Default: all that the API key can access. */
  teams: z
    .array(z.string().regex(/^[A-Za-z][A-Za-z0-9]*$/))
    .min(1)
    .max(100)
    .optional(),
})

/** The settings under `linear` in the configuration. */
export type LinearInput = z.input<typeof LinearSection>

/** A Linear workspace as a source of tools. */
export const linear: SourceKind<z.output<typeof LinearSection>> = { starter: linearStarter, schema: LinearSection, open: openLinear }

function openLinear({ apiKey, baseUrl, teams }: z.output<typeof LinearSection>, opening: SourceOpening): ToolSource | undefined {
  const { value: key, secrets } = opening.fillSecret(apiKey, ['apiKey'])
  const address = opening.fillAddress(baseUrl, ['baseUrl'])
  opening.refuseVariables(teams, ['teams'])
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '' || url.hash !== '') {
    opening.report({ path: ['baseUrl'], message: 'must be an http or https address without a name, query or fragment' })
    return undefined
  }
  const options = { url, apiKey: key, teams: teams?.map((team) => team.toUpperCase()) }
  const credential = credentialOf({ apiKey: key })
  const work = openTextWork()
  return {
    kind: 'linear',
    secrets: [...secrets, key],
    drafts(way) {
      const workspace: Workspace = { linear: openLinearClient(options, way), work, destination: url.origin, credential }
      return draftsOf(workspace)
    },
    check: (way, signal) => checkLinear(options, way, signal),
    close: async () => work[Symbol.asyncDispose](),
  }
}

const draftsOf = (workspace: Workspace): ToolDraft[] => [
  ...readTools(workspace),
  workloadTool(workspace),
  ...issueWrites(workspace),
  ...issueMoves(workspace),
  ...projectWrites(workspace),
  ...documentReads(workspace),
  ...documentWrites(workspace),
  ...attachmentTools(workspace),
  ...labelWrites(workspace),
  ...milestoneTools(workspace),
  ...projectUpdateTools(workspace),
  ...relationTools(workspace),
]

async function checkLinear(
  options: Parameters<typeof openLinearClient>[0],
  way: OutboundContext,
  signal: AbortSignal,
): Promise<SourceFinding[]> {
  const client = openLinearClient(options, way)
  try {
    const { viewer } = await client.ask(VIEWER, {}, signal)
    const { teams } = await client.ask(TEAMS, { first: 100 }, signal)
    const found = teams.nodes.filter((team) => isOurs(client, team)).map(({ key }) => key)
    const missing = (options.teams ?? []).filter((key) => !found.some((one) => one.toUpperCase() === key))
    return [
      { level: 'ok', message: `${options.url.origin} answers, signed in as ${userWords(viewer)}; teams: ${found.join(', ') || 'none'}` },
      ...missing.map((key): SourceFinding => ({ level: 'problem', message: `there is no team ${key} for this key` })),
    ]
  } catch (error) {
    return [{ level: 'problem', message: error instanceof Error ? error.message : String(error) }]
  }
}
