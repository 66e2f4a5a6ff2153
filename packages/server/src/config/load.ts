import { basename, dirname, resolve } from 'node:path'
import { DEFAULT_POLICY, PolicyDocument, type Tool } from '@countersign/core'
import type { z } from 'zod'
import { type Network, openNetwork } from '../net/index.ts'
import { findPolicyProblems } from '../policy/index.ts'
import { groupSecrets, openTools, SetupError, type SetupProblem, type ToolGroup, type ToolRegistry, zodFindings } from '../tools/index.ts'
import { ConfigError } from './config-error.ts'
import { readConfigFile, readData } from './document.ts'
import { type Environment, fillModel, fillTable, refuseVariables } from './environment.ts'
import { type AgentSection, ConfigShape, GROUP_KINDS, LATER_KINDS } from './schema.ts'
import { fillSignIn, type SignIn } from './sign-in.ts'

/** An agent with its tools found; its model is still a name. */
export interface ConfiguredAgent extends Omit<z.output<typeof AgentSection>, 'tools'> {
  name: string
  tools: readonly Tool[]
}

/** A configuration that was read, checked and opened. */
export interface Config {
  /** The folder that its relative paths are meant from. */
  folder: string
  /** In the order of the file; the first is the default. */
  agents: readonly ConfiguredAgent[]
  tools: ToolRegistry
  policy: PolicyDocument
  /** How people sign in at the console, as far as the file says. */
  signIn: SignIn | undefined
  /** Where requests of its tools and models go through. */
  network: Network
  /** Texts in it that are never stored, shown or logged. */
  secrets: readonly string[]
}

export interface OpenConfigOptions {
  environment: Environment
  folder: string
  /** The file's name, for errors. */
  source?: string
}

type Report = (problem: SetupProblem) => void

/**
 * Reads and opens a configuration file (`countersign.config.ts`, `.yaml`, `.yml`, `.json`).
 * @param environment What `${NAME}` in headers and base addresses stands for.
 * @throws ConfigError naming the file and the place of every problem found.
 * @example
 * const config = await loadConfig('./countersign.yaml', { SHOP_TOKEN: 'secret' })
 * config.agents[0].tools.map((tool) => tool.name)
 */
export async function loadConfig(file: string, environment: Environment): Promise<Config> {
  const path = resolve(file)
  return openConfig(await readConfigFile(path), { environment, folder: dirname(path), source: basename(path) })
}

/**
 * Opens a configuration that is at hand as a value; see {@link loadConfig}.
 * @throws ConfigError
 */
export async function openConfig(document: unknown, { environment, folder, source = 'configuration' }: OpenConfigOptions): Promise<Config> {
  const problems: SetupProblem[] = []
  const report: Report = (problem) => problems.push(problem)
  const shape = parse(ConfigShape, document, [], report)
  if (!shape) throw new ConfigError(source, problems)

  const models = new Map<string, string>()
  for (const [name, { model, ...shown }] of Object.entries(shape.agents)) {
    refuseVariables(shown, ['agents', name], report)
    models.set(name, fillModel(model, ['agents', name, 'model'], environment, report))
  }
  const signIn = shape.signIn && fillSignIn(shape.signIn, environment, report)
  const groups = readGroups(shape.tools, environment, report)
  const network = readNetwork(shape.network.allow, report)
  const tools = attempt(['tools'], () => openTools(groups, network), report)
  const policy = await readPolicy(shape.policy, folder, report)
  // A tool that could not be opened would be missed by every glob that means it: one mistake, one message.
  if (problems.length > 0 || !tools || !policy) throw new ConfigError(source, problems)

  const world = { tools: tools.all(), agents: Object.keys(shape.agents) }
  for (const problem of findPolicyProblems(policy, world)) report({ path: ['policy', ...problem.path], message: problem.message })
  const agents = Object.entries(shape.agents).map(([name, { tools: globs, ...agent }]): ConfiguredAgent => {
    return {
      ...agent,
      name,
      model: models.get(name) ?? agent.model,
      tools: attempt(['agents', name, 'tools'], () => tools.forAgent(globs), report) ?? [],
    }
  })
  if (problems.length > 0) throw new ConfigError(source, problems)
  const secrets = [...Object.values(groups).flatMap(groupSecrets), ...(signIn?.clientSecret ? [signIn.clientSecret] : [])]
  return { folder, agents, tools, policy, network, secrets, signIn }
}

function readNetwork(allow: readonly string[], report: Report): Network {
  const usable = allow.filter((entry, index) => {
    try {
      return openNetwork({ allow: [entry] })
    } catch (error) {
      report({ path: ['network', 'allow', index], message: error instanceof Error ? error.message : String(error) })
      return false
    }
  })
  return openNetwork({ allow: usable })
}

function readGroups(groups: z.output<typeof ConfigShape>['tools'], environment: Environment, report: Report): Record<string, ToolGroup> {
  return Object.fromEntries(
    Object.entries(groups).flatMap(([name, { prefix, ...rest }]): [string, ToolGroup][] => {
      const kinds = Object.keys(rest)
      const [kind = ''] = kinds
      const known = Object.keys(GROUP_KINDS).join(' or ')
      const place = ['tools', name]
      if (kinds.length !== 1) {
        report({ path: place, message: `must hold exactly one of ${known}${kinds.length === 0 ? '' : `, not ${kinds.join(' and ')}`}` })
      } else if (LATER_KINDS.includes(kind)) {
        report({ path: [...place, kind], message: `is not supported yet; this version knows ${known}` })
      } else if (kind === 'routes') {
        const path = [...place, kind]
        const table = parse(GROUP_KINDS.routes, rest[kind], path, report)
        if (!table) return []
        refuseVariables(table.tools, [...path, 'tools'], report)
        const filled = fillTable(table, environment, (problem) => report({ path: [...path, ...problem.path], message: problem.message }))
        return [[name, { prefix, ...filled }]]
      } else if (kind === 'tools') {
        const tools = parse(GROUP_KINDS.tools, rest[kind], [...place, kind], report)
        return tools ? [[name, { prefix, tools }]] : []
      } else {
        report({ path: [...place, kind], message: `is not a kind of tools; this version knows ${known}` })
      }
      return []
    }),
  )
}

async function readPolicy(policy: string | object | undefined, folder: string, report: Report): Promise<PolicyDocument | undefined> {
  if (policy === undefined) return DEFAULT_POLICY
  if (typeof policy !== 'string') return parse(PolicyDocument, policy, ['policy'], report)
  // Its own file: the problems in it are told with its own name.
  const file = resolve(folder, policy)
  const problems: SetupProblem[] = []
  const document = parse(PolicyDocument, await readData(file), [], (problem) => problems.push(problem))
  if (problems.length > 0) throw new ConfigError(basename(file), problems)
  return document
}

function parse<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  place: readonly PropertyKey[],
  report: Report,
): z.output<Schema> | undefined {
  const result = schema.safeParse(value, { reportInput: true })
  if (result.success) return result.data
  for (const { path, words } of zodFindings(result.error)) report({ path: [...place, ...path], message: words })
  return undefined
}

function attempt<T>(place: readonly PropertyKey[], open: () => T, report: Report): T | undefined {
  try {
    return open()
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    for (const { path, message } of error.problems) report({ path: [...place, ...path], message })
    return undefined
  }
}
