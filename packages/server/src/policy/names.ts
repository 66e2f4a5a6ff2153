import type { PolicyNames, PolicyRule, Tool } from '@countersign/core'
import { FACTS } from './facts.ts'
import { CONDITION_FUNCTIONS } from './functions.ts'
import { isAbout } from './rules-about.ts'
import { argumentsOf } from './schema-arguments.ts'
import { writtenPath } from './uses-of-arguments.ts'

const MAX_ARGUMENTS = 300
/** Of a rule about very many tools so many are looked at. */
const MAX_TOOLS = 200

type NamedTool = Pick<Tool, 'name' | 'group' | 'effect' | 'registered' | 'inputSchema'>

/** Returns the names that the condition of a rule may use: the arguments of the tools that it is about, the variables and the functions. */
export function namesFor(rule: Pick<PolicyRule, 'match' | 'verdict'>, tools: readonly NamedTool[]): PolicyNames {
  const about = tools.filter((tool) => isAbout({ name: 'rule', ...rule }, tool))
  return {
    tools: about.length,
    variables: Object.entries(FACTS).map(([name, { type, fields = [] }]) => ({ name, type, fields: [...fields] })),
    functions: Object.entries(CONDITION_FUNCTIONS).map(([name, { on, example, gives }]) => ({ name, on, example, gives })),
    arguments: argumentsOfAll(about.slice(0, MAX_TOOLS)),
  }
}

function argumentsOfAll(tools: readonly NamedTool[]): PolicyNames['arguments'] {
  const found = new Map<string, PolicyNames['arguments'][number]>()
  for (const { inputSchema } of tools) {
    let left = MAX_ARGUMENTS
    for (const { path, types, values } of argumentsOf(inputSchema)) {
      if (left-- === 0) break
      const name = writtenPath(path)
      const known = found.get(name)
      if (!known) {
        found.set(name, { path: name, types, values, tools: 1 })
        continue
      }
      known.tools++
      known.types = [...new Set([...known.types, ...types])]
      // A tool that lists no texts takes any.
      known.values = known.values.length > 0 && values.length > 0 ? [...new Set([...known.values, ...values])] : []
    }
  }
  return [...found.values()].sort((one, other) => other.tools - one.tools).slice(0, MAX_ARGUMENTS)
}
