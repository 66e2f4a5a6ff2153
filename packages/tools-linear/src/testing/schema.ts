import { readFileSync } from 'node:fs'
import { buildSchema, coerceInputValue, type GraphQLSchema, isInputType, parse, typeFromAST } from 'graphql'

// Linear's whole public schema: 1.25 MB.
const FILE = new URL('../../../../../shared/fixtures/specs/linear/schema.graphql', import.meta.url)

let read: GraphQLSchema | undefined

/** Returns the schema that Linear publishes, parsed once. */
export function linearSchema(): GraphQLSchema {
  read ??= buildSchema(readFileSync(FILE, 'utf8'), { assumeValid: true })
  return read
}

/** Returns a sentence for each variable that the document does not declare, or whose type is wrong. */
export function variableProblems(query: string, variables: Record<string, unknown>): string[] {
  const [definition] = parse(query).definitions
  if (definition?.kind !== 'OperationDefinition') return ['no operation']
  const declared = new Map((definition.variableDefinitions ?? []).map((one) => [one.variable.name.value, one.type]))
  const problems: string[] = []
  for (const [name, value] of Object.entries(variables)) {
    const node = declared.get(name)
    const type = node && typeFromAST(linearSchema(), node as never)
    if (!isInputType(type)) problems.push(`$${name} is not declared`)
    else
      coerceInputValue(value, type, (path, _, error) => {
        problems.push(`$${name}.${path.join('.')}: ${error.message}`)
      })
  }
  return problems
}
