import { basename, dirname, resolve } from 'node:path'
import { DEFAULT_POLICY, PolicyDocument, type Tool } from '@countersign/core'
import { type Network, openNetwork, SetupError, type SetupProblem, type ToolSource } from '@countersign/toolkit'
import { groupSecrets, openTools, type ToolRegistry } from '@countersign/toolkit/internal'
import type { z } from 'zod'
import type { AnchorSettings } from '../audit/index.ts'
import { findPolicyProblems, type LineOf } from '../policy/index.ts'
import { type ArchiveSettings, readArchive } from './archive.ts'
import { ConfigError, type ConfigProblem, type Origin } from './config-error.ts'
import { fillOrigins } from './cors.ts'
import { readConfigFile, readData } from './document.ts'
import { type Environment, fillModel, refuseVariables } from './environment.ts'
import { openGroups } from './groups.ts'
import { type ConfigFile, filesNamedIn } from './named-files.ts'
import { parse, type Report } from './parse.ts'
import type { Prices } from './prices.ts'
import { fillAnchor } from './record.ts'
import { type FilledRemote, fillRemote } from './remote.ts'
import type { RetentionSettings } from './retention.ts'
import { type AgentSection, ConfigShape, type GatewaySettings } from './schema.ts'
import { fillSignIn, type SignIn } from './sign-in.ts'

/** An agent with its tools resolved; its model is still a name. */
export interface ConfiguredAgent extends Omit<z.output<typeof AgentSection>, 'tools' | 'model' | 'remote'> {
  name: string
  model: string
  /** Headers of each request to its remote brain. Secrets. */
  remoteHeaders: Readonly<Record<string, string>>
  /** The current tools. */
  readonly tools: readonly Tool[]
}

/** A configuration that was read, checked and opened. */
export interface Config {
  /** The base of its relative paths. */
  folder: string
  /** In the order of the file; the first is the default. */
  agents: readonly ConfiguredAgent[]
  tools: ToolRegistry
  policy: PolicyDocument
  /** The sign-in settings of the file. */
  signIn: SignIn | undefined
  /** The settings for MCP clients. */
  gateway: GatewaySettings
  /** Origins whose pages may call the API with a key. */
  corsOrigins: readonly string[]
  /** The prices of model calls; undefined if none are configured. */
  prices?: Prices | undefined
  /** How long rows are kept that only serve a request, a sign-in or a wake-up. */
  retention: RetentionSettings
  /** When the server archives by itself; undefined for never. */
  archive?: ArchiveSettings | undefined
  /** Where heads of the record are sent; undefined for nowhere. */
  anchor?: AnchorSettings | undefined
  /** The network guard for requests of its tools and models. */
  network: Network
  /** Texts in it that are never stored, shown or logged. */
  secrets: readonly string[]
  /** The tool sources that were read or connected to, by the name of their group. */
  sources: ReadonlyMap<string, ToolSource>
  /** The files that it was read from, and those that it names: whoever can change them controls the next start. */
  files: readonly ConfigFile[]
  /** Closes its sources. A running server does that when it is closed. */
  close(): Promise<void>
}

export interface OpenConfigOptions {
  environment: Environment
  folder: string
  /** The file's name, for errors. */
  source?: string
  /** Takes the default policy in place of the one in the document. */
  ignoresPolicy?: boolean
  /** Finds the line of a place in the file, for errors. */
  lineOf?: LineOf | undefined
  /** The files that the document was read from. Absolute; default: none. */
  readFrom?: readonly string[]
}

/**
 * Reads and opens a configuration file (`countersign.config.ts`, `.yaml`, `.yml`, `.json`).
 * @param environment The values for `${NAME}` in headers and base addresses.
 * @param options With `ignoresPolicy`, for commands that are about another policy: that of the file need not be there or be usable.
 * @throws ConfigError naming the file and the place of every problem found.
 * @example
 * const config = await loadConfig('./countersign.yaml', { SHOP_TOKEN: 'secret' })
 * config.agents[0]?.tools.map((tool) => tool.name)
 */
export async function loadConfig(file: string, environment: Environment, { ignoresPolicy = false } = {}): Promise<Config> {
  const path = resolve(file)
  const { document, files, lineOf } = await readConfigFile(path)
  return openConfig(document, { environment, folder: dirname(path), source: basename(path), lineOf, readFrom: files, ignoresPolicy })
}

/**
 * Opens a configuration that is already a value; see {@link loadConfig}.
 * @throws ConfigError
 */
export async function openConfig(
  document: unknown,
  { environment, folder, source = 'configuration', lineOf, readFrom = [], ignoresPolicy = false }: OpenConfigOptions,
): Promise<Config> {
  const problems: ConfigProblem[] = []
  const origin: Origin = { name: source, lineOf }
  const report: Report = (problem) => problems.push(problem)
  const shape = parse(ConfigShape, document, [], report)
  if (!shape) throw new ConfigError(origin, problems)

  const models = new Map<string, FilledRemote>()
  const fallbacks = new Map<string, ConfiguredAgent['fallbacks']>()
  for (const [name, { model, remote, fallbacks: others, ...shown }] of Object.entries(shape.agents)) {
    refuseVariables(shown, ['agents', name], report)
    const first = fillFirst({ model, remote }, ['agents', name], environment, report)
    models.set(name, first)
    const filled = others.map((other, index) => ({
      ...other,
      model: fillModel(other.model, ['agents', name, 'fallbacks', String(index)], environment, report),
    }))
    fallbacks.set(name, filled)
    const chain = [first.model, ...filled.map((other) => other.model)]
    for (const [index, spec] of chain.entries()) {
      // The part after the path of a remote brain's URL may be a token.
      const [shown] = spec.split(/[?#]/, 1)
      if (chain.indexOf(spec) < index) report({ path: ['agents', name, 'fallbacks', index - 1], message: `names ${shown} a second time` })
    }
  }
  const signIn = shape.signIn && fillSignIn(shape.signIn, environment, report)
  const record = shape.record.anchor && fillAnchor(shape.record.anchor, folder, environment, report)
  const corsOrigins = fillOrigins(shape.cors, environment, report)
  const network = readNetwork(shape.network.allow, report)
  const { policy, from: policyFile } = await readPolicy(ignoresPolicy ? undefined : shape.policy, folder, report)
  const groups = await openGroups(shape.tools, { environment, folder, network, report })
  const sources = new Map(Object.entries(groups).flatMap(([name, group]) => ('source' in group ? [[name, group.source] as const] : [])))
  const close = async () => {
    await Promise.allSettled([...sources.values()].map((source) => source.close?.()))
  }
  const refuse = async (): Promise<never> => {
    await close()
    throw new ConfigError(origin, problems)
  }
  const tools = attempt(['tools'], () => openTools(groups, network), report)
  // After an opening error, globs are not checked: every glob for the missing tool would repeat the same mistake.
  if (problems.length > 0 || !tools || !policy) return refuse()

  const world = { tools, agents: Object.keys(shape.agents) }
  for (const { path, message } of findPolicyProblems(policy, world))
    problems.push(policyFile ? { path, message, origin: policyFile } : { path: ['policy', ...path], message })
  const agents = Object.entries(shape.agents).map(([name, { tools: globs, model: _, remote: __, ...agent }]): ConfiguredAgent => {
    const own = attempt(['agents', name, 'tools'], () => tools.forAgent(globs), report)
    return {
      ...agent,
      name,
      model: models.get(name)?.model ?? '',
      remoteHeaders: models.get(name)?.headers ?? {},
      fallbacks: fallbacks.get(name) ?? [],
      get tools() {
        return own?.() ?? []
      },
    }
  })
  if (problems.length > 0) return refuse()
  const secrets = [
    ...Object.values(groups).flatMap(groupSecrets),
    ...[...models.values()].flatMap((model) => model.secrets),
    ...(signIn?.clientSecret ? [signIn.clientSecret] : []),
    ...(record?.secrets ?? []),
  ]
  const files = [
    ...(typeof shape.policy === 'string' ? [{ path: resolve(folder, shape.policy), what: 'the policy' }] : []),
    ...[...readFrom, ...filesNamedIn(document, folder)].map((path) => ({ path, what: 'the configuration' })),
  ]
  const { gateway, retention } = shape
  const archive = shape.archive && readArchive(shape.archive, folder)
  return {
    folder,
    files,
    agents,
    tools,
    policy,
    gateway,
    corsOrigins,
    prices: shape.prices,
    retention,
    archive,
    anchor: record?.anchor,
    network,
    secrets,
    signIn,
    sources,
    close,
  }
}

/** Returns the preferred model of an agent. */
function fillFirst(
  { model, remote }: Pick<z.output<typeof AgentSection>, 'model' | 'remote'>,
  path: readonly string[],
  environment: Environment,
  report: Report,
): FilledRemote {
  if (remote && model === undefined) return fillRemote(remote, [...path, 'remote'], environment, report)
  if ((model === undefined) === (remote === undefined)) report({ path, message: 'must have either a model or remote' })
  return { model: fillModel(model ?? '', [...path, 'model'], environment, report), headers: {}, secrets: [] }
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

async function readPolicy(
  policy: string | object | undefined,
  folder: string,
  report: Report,
): Promise<{ policy: PolicyDocument | undefined; from?: Origin }> {
  if (policy === undefined) return { policy: DEFAULT_POLICY }
  if (typeof policy !== 'string') return { policy: parse(PolicyDocument, policy, ['policy'], report) }
  // The policy has its own file: its problems are reported with that file's name.
  const file = resolve(folder, policy)
  const problems: SetupProblem[] = []
  const { document, lineOf } = await readData(file)
  const from: Origin = { name: basename(file), lineOf }
  const read = parse(PolicyDocument, document, [], (problem) => problems.push(problem))
  if (problems.length > 0) throw new ConfigError(from, problems)
  return { policy: read, from }
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
