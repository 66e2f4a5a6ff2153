import { readFileSync } from 'node:fs'
import { buildSchema, type GraphQLSchema, graphqlSync, parse, validate } from 'graphql'
import { counterpart } from './counterparts.ts'
import type { DescribedExchange } from './github-description.ts'

let opened: GraphQLSchema | undefined

/** The schema that GitHub publishes, read once. */
function githubSchema(): GraphQLSchema {
  opened ??= buildSchema(readFileSync(counterpart('@octokit/graphql-schema/schema.graphql'), 'utf8'), { assumeValid: true })
  return opened
}

/** A sentence for each way in which a request of GraphQL, or the data of its answer, is not as GitHub's schema has it. */
export function graphqlProblems({ body, answer }: Pick<DescribedExchange, 'body' | 'answer'>): string[] {
  const { query = '', variables = {} } = (body ?? {}) as { query?: string; variables?: Record<string, unknown> }
  const schema = githubSchema()
  const wrong = validate(schema, parse(query)).map(String)
  if (wrong.length > 0) return wrong
  const { data, errors } = (answer ?? {}) as { data?: Record<string, unknown>; errors?: unknown[] }
  if (errors !== undefined) return []
  // Carried out over what was answered: each member that is asked for has to be there, in its type.
  const again = graphqlSync({ schema, source: query, variableValues: variables, rootValue: data })
  return (again.errors ?? []).map(String)
}
