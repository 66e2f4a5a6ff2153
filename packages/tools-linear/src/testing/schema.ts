import { readFileSync } from 'node:fs'
import { buildSchema, coerceInputValue, type GraphQLSchema, isInputType, parse, typeFromAST } from 'graphql'

// Linear's public schema, whole: 1.25 MB.
const FILE = new URL('../../../../../shared/fixtures/specs/linear/schema.graphql', import.meta.url)

let read: GraphQLSchema | undefined

/** The schema that Linear publishes, read once. */
export function linearSchema(): GraphQLSchema {
  read ??= buildSchema(readFileSync(FILE, 'utf8'), { assumeValid: true })
  return read
}

/** A sentence for each variable that the document does not declare, or that is not of its type. */
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
