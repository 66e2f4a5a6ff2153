import type { Database } from './adapter.ts'

/** One row of the table: a system on a database. */
export interface SystemKey {
  readonly key: string
  readonly name: string
  /** The folder of its `adapter.ts` and, for a peer, of its `package.json`. */
  readonly folder: string
  readonly database: Database
  readonly kind: 'floor' | 'countersign' | 'peer'
}

const peer = (folder: string, name: string, databases: readonly Database[]): SystemKey[] =>
  databases.map((database) => ({ key: database === 'own' ? folder : `${folder}-${database}`, name, folder, database, kind: 'peer' }))

const BOTH = ['sqlite', 'postgres'] as const

/** Every row, in the order of the table and of the rounds. */
export const SYSTEMS: readonly SystemKey[] = [
  ...BOTH.map((database): SystemKey => ({ key: `floor-${database}`, name: 'Floor', folder: 'floor', database, kind: 'floor' })),
  ...BOTH.map(
    (database): SystemKey => ({
      key: `countersign-${database}`,
      name: 'Countersign',
      folder: 'countersign',
      database,
      kind: 'countersign',
    }),
  ),
  ...peer('langgraph', 'LangGraph', BOTH),
  ...peer('openai-agents', 'OpenAI Agents, state stored by hand', BOTH),
  ...peer('ai-sdk', 'AI SDK, messages stored by hand', BOTH),
  ...peer('mastra', 'Mastra', BOTH),
  ...peer('dbos', 'DBOS', ['postgres']),
  ...peer('restate', 'Restate', ['own']),
  ...peer('workflow', 'WorkflowAgent', ['own']),
  ...peer('eve', 'eve', ['own']),
]

/**
 * The systems that a list of keys or folders names, and Countersign on each of their databases: the ratios need it.
 * @throws Error when a name is unknown.
 */
export function chooseSystems(names: readonly string[] | undefined): SystemKey[] {
  if (names === undefined) return [...SYSTEMS]
  const known = SYSTEMS.flatMap(({ key, folder }) => [key, folder])
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length > 0) {
    throw new Error(`Unknown: ${unknown.join(', ')}. Known: ${[...new Set(known)].join(', ')}.`)
  }
  const chosen = SYSTEMS.filter(({ key, folder }) => names.includes(key) || names.includes(folder))
  const measures = chosen.map(baselineOf)
  return SYSTEMS.filter((system) => chosen.includes(system) || measures.includes(system.key))
}

/** The row that a system's ratios are against: Countersign on the same database; on SQLite for a store of a system's own. */
export const baselineOf = ({ database }: SystemKey): string => `countersign-${database === 'postgres' ? 'postgres' : 'sqlite'}`
