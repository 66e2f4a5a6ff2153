import { canonicalJson, type JsonObject, type JsonValue, type ModelTool, type Tool } from '@countersign/core'
import type { Agent } from '../agent.ts'
import { openSearch, type ToolSearch } from './search.ts'

/** With more tools than these a model reads more about tools than about its task, and chooses worse. */
const MAX_OFFERED = 100

const SEARCH = 'countersign_search_tools'
const LOOK = 'countersign_tool'
const CALL = 'countersign_call'

const MAX_FOUND = 20
const DEFAULT_FOUND = 8
const MAX_SUMMARY = 200

/** Agents that get the catalogue in place of tools. */
type Holder = Pick<Agent, 'tools'>

/** True for an agent that is offered a catalogue in place of its tools. */
const hasCatalogue = ({ tools }: Holder): boolean => tools.length > MAX_OFFERED

/**
 * Returns the tools that an agent's model gets. For a large set these are three: to search, to read one, to call one. They stay the same
 * for the whole session and after a restart, so that a provider's cache of the session stays valid.
 */
export function offeredTools(agent: Holder): ModelTool[] {
  return hasCatalogue(agent)
    ? catalogueTools(agent)
    : agent.tools.map(({ modelName, description, inputSchema }) => ({ name: modelName, description, inputSchema }))
}

function catalogueTools({ tools }: Holder): ModelTool[] {
  const groups = [...new Set(tools.map(({ group }) => group))].join(', ')
  const name = { type: 'string', minLength: 1, maxLength: 200, description: `As ${SEARCH} gives it` }
  return [
    {
      name: SEARCH,
      description: `Finds tools by words. You have more tools (of ${groups}) than are listed here: search before you say that something cannot be done.`,
      inputSchema: {
        type: 'object',
        properties: {
          query: { type: 'string', minLength: 1, maxLength: 500, description: 'What you want to do, for example: label an issue' },
          limit: { type: 'integer', minimum: 1, maximum: MAX_FOUND, description: `Default ${DEFAULT_FOUND}` },
        },
        required: ['query'],
        additionalProperties: false,
      },
    },
    {
      name: LOOK,
      description: `Shows one tool whole, with the schema of its arguments. Look before you call it with ${CALL}.`,
      inputSchema: { type: 'object', properties: { name }, required: ['name'], additionalProperties: false },
    },
    {
      name: CALL,
      description: 'Calls one of your tools by its name. What changes something may wait for a person, as with any tool.',
      inputSchema: {
        type: 'object',
        properties: { name, arguments: { type: 'object', description: `As the schema of the tool says (${LOOK})` } },
        required: ['name', 'arguments'],
        additionalProperties: false,
      },
    },
  ]
}

/** A call as a model made it. */
export interface Called {
  name: string
  arguments: JsonObject
}

/**
 * Resolves a call of an agent's model: the tool to call, the answer of the catalogue, or an error. Searching and reading the catalogue
 * change nothing and reach no target, so they are not actions and policy does not apply. A call through the catalogue comes with its tool,
 * so that it is the one that the catalogue shows under this name.
 */
export type Meant = { call: Called; tool?: Tool } | { answer: JsonValue } | { rejection: string }

/** Reads a call; one of another name is what it says. */
export function readCall(agent: Holder, called: Called): Meant {
  if (!hasCatalogue(agent)) return { call: called }
  const { name, query, limit, arguments: args } = called.arguments
  switch (called.name) {
    case SEARCH:
      return typeof query === 'string'
        ? { answer: search(agent, query, limit) }
        : { rejection: 'query is required: words for what you want to do' }
    case LOOK:
      return typeof name === 'string' ? look(agent, name) : { rejection: 'name is required: the name of a tool' }
    case CALL: {
      if (typeof name !== 'string') return { rejection: 'name is required: the name of a tool' }
      const tool = findIn(agent, name)
      if (!tool) return { rejection: unknown(agent, name) }
      if (args === undefined || args === null) return { call: { name, arguments: {} }, tool }
      return typeof args === 'object' && !Array.isArray(args)
        ? { call: { name, arguments: args }, tool }
        : { rejection: 'arguments must be a JSON object' }
    }
    default:
      return { call: called }
  }
}

/**
 * Returns a call of the history as the model made it: through the catalogue, although the history stores the name of the real tool.
 * Made from the agent and the row alone, so it is the same each time.
 */
export function asCalled(agent: Holder, call: Called): Called {
  return hasCatalogue(agent) && findIn(agent, call.name) ? { name: CALL, arguments: { name: call.name, arguments: call.arguments } } : call
}

const searches = new WeakMap<readonly Tool[], ToolSearch>()

/** The search over an agent's tools, read once for as long as they are the same. */
function searchOf({ tools }: Holder): ToolSearch {
  const known = searches.get(tools) ?? openSearch(tools)
  searches.set(tools, known)
  return known
}

function search(agent: Holder, query: string, limit: JsonValue | undefined): JsonValue {
  const wanted = typeof limit === 'number' && Number.isInteger(limit) && limit >= 1 ? Math.min(limit, MAX_FOUND) : DEFAULT_FOUND
  const found = searchOf(agent).find(query, wanted)
  if (found.length === 0) return { tools: [], note: 'Nothing fits. Try other words: what it is about, and what is to be done with it.' }
  const tools = found.map(({ name, description, effect }): JsonValue => {
    return {
      name,
      effect,
      description: description.length > MAX_SUMMARY ? `${description.slice(0, MAX_SUMMARY).toWellFormed()}…` : description,
    }
  })
  return { tools, next: `${LOOK} shows one with its arguments; ${CALL} calls it` }
}

function look(agent: Holder, name: string): Meant {
  const tool = findIn(agent, name)
  if (!tool) return { rejection: unknown(agent, name) }
  const { description, effect, inputSchema } = tool
  return {
    answer: {
      name: tool.name,
      description,
      effect,
      inputSchema,
      next: `call it with ${CALL}: ${canonicalJson({ name: tool.name, arguments: '…' })}`,
    },
  }
}

const findIn = ({ tools }: Holder, name: string): Tool | undefined =>
  tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.modelName === name)

function unknown(agent: Holder, name: string): string {
  const near = searchOf(agent)
    .find(name.slice(0, 200), 3)
    .map((tool) => tool.name)
  return `there is no tool ${JSON.stringify(name.slice(0, 100))}${near.length > 0 ? `; near are ${near.join(', ')}` : ''}`
}
