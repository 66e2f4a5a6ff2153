import type { Part } from '../part.ts'
import { runScenario, SCENARIOS } from './conformance.ts'
import { tryServers } from './servers.ts'

/** Published MCP servers behind a running Countersign, and the client scenarios of the public conformance suite that apply. */
export const mcpPart: Part = async ({ say }) => {
  const violations: string[] = []
  const scenarios: Record<string, string> = {}
  for (const scenario of SCENARIOS) {
    const fault = await runScenario(scenario)
    scenarios[scenario] = fault === undefined ? 'passed' : 'failed'
    if (fault !== undefined) violations.push(`${scenario}: ${fault.slice(0, 1_000)}`)
    say(`mcp: conformance ${scenario}: ${scenarios[scenario]}`)
  }
  const servers = await tryServers(say)
  violations.push(...servers.flatMap(({ problems }) => problems))
  const missing = servers.filter(({ tools }) => tools === 0).map(({ server }) => `${server} had no tools`)
  return { violations, missing, figures: { scenarios, tools: Object.fromEntries(servers.map(({ server, tools }) => [server, tools])) } }
}
