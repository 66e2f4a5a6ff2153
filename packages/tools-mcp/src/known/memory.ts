import { type JsonObject, type JsonValue, type PreviewField, parseJson, ToolError } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { entriesOf, isCut, type KnownServer, type ReadOther, reads, said, whole } from './known-tool.ts'

/** `@modelcontextprotocol/server-memory`: a deletion shows the stored values, and the relations that go with them. */
export const MEMORY: KnownServer = {
  startedBy: ['@modelcontextprotocol/server-memory', 'mcp-server-memory'],
  tools: {
    ...reads('read_graph', 'search_nodes', 'open_nodes'),
    create_entities: { effect: 'write', describe: ({ entities }) => `Remember ${listed(entities, ({ name }) => said(name))}` },
    create_relations: {
      effect: 'write',
      describe: ({ relations }) => `Remember that ${listed(relations, relationWords)}`,
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
      describe: ({ relations }) => `Forget that ${listed(relations, relationWords)}`,
    },
  },
}

const relationWords = ({ from, relationType, to }: JsonObject, words = said): string => `${words(from)} ${words(relationType)} ${words(to)}`

const listed = (value: JsonValue | undefined, words: (entry: JsonObject) => string): string =>
  entriesOf(value)
    .flatMap((entry) => (entry !== null && typeof entry === 'object' && !Array.isArray(entry) ? [words(entry)] : []))
    .join(', ')

/** @throws ToolError when the stored values were not read whole: the card must not look as if nothing were lost. */
async function forgotten(names: JsonValue | undefined, read: ReadOther): Promise<PreviewField[]> {
  const { entities, relations } = graphIn(await read('open_nodes', { names: names ?? [] }))
  if (!Array.isArray(entities)) throw new ToolError('refused', 'What is to be forgotten could not be read whole.')
  const lost = entriesOf(relations).map((relation) => relationWords(relation as JsonObject, whole))
  return [
    ...entities.flatMap((entity): PreviewField[] => {
      const { name, observations } = entity as JsonObject
      return [...(isCut(name) ? [{ field: 'entity', oldValue: name }] : []), { field: said(name), oldValue: observations ?? null }]
    }),
    // The server removes them with either of their two ends.
    ...(lost.length > 0 ? [{ field: 'relations', oldValue: lost.sort() }] : []),
  ]
}

/** Returns the graph in an answer; older servers give it as JSON text. */
function graphIn(found: JsonValue | undefined): JsonObject {
  const parsed = typeof found === 'string' ? parseJson(found) : undefined
  const graph = parsed?.ok ? parsed.value : found
  return isObject(graph) ? graph : {}
}
