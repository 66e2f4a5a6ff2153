import type { JsonObject, JsonValue, PreviewField } from '@countersign/core'
import { entriesOf, type KnownServer, type ReadOther, reads, said } from './known-tool.ts'

/** `@modelcontextprotocol/server-memory`: a deletion shows the stored values. */
export const MEMORY: KnownServer = {
  startedBy: ['@modelcontextprotocol/server-memory', 'mcp-server-memory'],
  tools: {
    ...reads('read_graph', 'search_nodes', 'open_nodes'),
    create_entities: { effect: 'write', describe: ({ entities }) => `Remember ${listed(entities, ({ name }) => said(name))}` },
    create_relations: {
      effect: 'write',
      describe: ({ relations }) =>
        `Remember that ${listed(relations, ({ from, relationType, to }) => `${said(from)} ${said(relationType)} ${said(to)}`)}`,
    },
    add_observations: {
      effect: 'write',
      describe: ({ observations }) => `Add to ${listed(observations, ({ entityName }) => said(entityName))}`,
    },
    delete_entities: {
      effect: 'write',
      risk: 'high',
      describe: ({ entityNames }) => `Forget ${entriesOf(entityNames).map(said).join(', ')}`,
      preview: async ({ entityNames }, read) => forgotten(entityNames, read),
    },
    delete_observations: {
      effect: 'write',
      risk: 'high',
      describe: ({ deletions }) => `Forget a part of ${listed(deletions, ({ entityName }) => said(entityName))}`,
    },
    delete_relations: {
      effect: 'write',
      risk: 'high',
      describe: ({ relations }) =>
        `Forget that ${listed(relations, ({ from, relationType, to }) => `${said(from)} ${said(relationType)} ${said(to)}`)}`,
    },
  },
}

const listed = (value: JsonValue | undefined, words: (entry: JsonObject) => string): string =>
  entriesOf(value)
    .flatMap((entry) => (entry !== null && typeof entry === 'object' && !Array.isArray(entry) ? [words(entry)] : []))
    .join(', ')

async function forgotten(names: JsonValue | undefined, read: ReadOther): Promise<PreviewField[]> {
  const found = await read('open_nodes', { names: names ?? [] })
  const entities = found !== null && typeof found === 'object' && !Array.isArray(found) ? entriesOf(found.entities) : []
  return entities.map((entity) => {
    const { name, observations } = entity as JsonObject
    return { field: said(name), oldValue: observations ?? null }
  })
}
