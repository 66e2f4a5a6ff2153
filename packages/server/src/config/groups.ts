import type { AnySourceKind, Network, SetupProblem, SourceOpening, ToolSource } from '@countersign/toolkit'
import { type ToolGroup, watchAway } from '@countersign/toolkit/internal'
import type { z } from 'zod'
import { MissingPackage } from '../optional-package.ts'
import { SOURCE_KINDS } from '../tools/index.ts'
import { type Environment, fill, fillAddress, fillTable, refuseVariables, variablesOf } from './environment.ts'
import { parse, type Report } from './parse.ts'
import { type ConfigShape, GROUP_KINDS } from './schema.ts'

const KINDS: Readonly<Record<string, () => Promise<AnySourceKind>>> = SOURCE_KINDS
const KNOWN = [...Object.keys(GROUP_KINDS), ...Object.keys(KINDS)]
const KNOWN_WORDS = `${KNOWN.slice(0, -1).join(', ')} or ${KNOWN.at(-1)}`

/** Dependencies of opening the groups of a configuration. */
export interface GroupsOpening {
  environment: Environment
  folder: string
  network: Network
  report: Report
}

/** Reads the groups of tools and opens their sources. The caller closes them. */
export async function openGroups(
  written: z.output<typeof ConfigShape>['tools'],
  opening: GroupsOpening,
): Promise<Record<string, ToolGroup>> {
  const opened = await Promise.all(
    Object.entries(written).map(async ([name, { prefix, ...rest }]): Promise<[string, ToolGroup][]> => {
      const group = await openGroup(name, rest, opening)
      return group ? [[name, { prefix, ...group }]] : []
    }),
  )
  return Object.fromEntries(opened.flat())
}

type Without<T, Key extends PropertyKey> = T extends unknown ? Omit<T, Key> : never

async function openGroup(
  name: string,
  rest: Readonly<Record<string, unknown>>,
  opening: GroupsOpening,
): Promise<Without<ToolGroup, 'prefix'> | undefined> {
  const { environment, report } = opening
  const kinds = Object.keys(rest)
  const [kind = ''] = kinds
  const place = ['tools', name]
  const path = [...place, kind]
  if (kinds.length !== 1) {
    report({ path: place, message: `must hold exactly one of ${KNOWN_WORDS}${kinds.length === 0 ? '' : `, not ${kinds.join(' and ')}`}` })
  } else if (kind === 'routes') {
    const table = parse(GROUP_KINDS.routes, rest[kind], path, report)
    if (!table) return undefined
    refuseVariables(table.tools, [...path, 'tools'], report)
    return fillTable(table, environment, within(path, report))
  } else if (kind === 'tools') {
    const tools = parse(GROUP_KINDS.tools, rest[kind], path, report)
    return tools && { tools }
  } else if (kind === 'source') {
    const source = parse(GROUP_KINDS.source, rest[kind], path, report)
    if (!source) return undefined
    return openSource(source.kind, source.settings, path, { ...opening, group: name }).catch((error: unknown) => {
      report({ path, message: `cannot be opened: ${reasonOf(error)}` })
      return undefined
    })
  } else {
    const load = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined
    if (!load) report({ path, message: `is not a kind of tools; this version knows ${KNOWN_WORDS}` })
    const known = await load?.().catch((error: unknown) => {
      if (!(error instanceof MissingPackage)) throw error
      report({ path, message: error.message })
    })
    if (known) return openSource(known, rest[kind], path, { ...opening, group: name })
  }
  return undefined
}

/** Returns the message, and that of the cause: `fetch failed` alone says nothing. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}

async function openSource(
  kind: AnySourceKind,
  written: unknown,
  path: readonly PropertyKey[],
  { group, environment, folder, network, report }: GroupsOpening & { group: string },
): Promise<{ source: ToolSource } | undefined> {
  const section = parse(kind.schema, written, path, report)
  if (section === undefined) return undefined
  const inside = within(path, report)
  const opening: SourceOpening = {
    group,
    folder,
    network,
    report: inside,
    fillSecret: (text, at) => ({ value: fill(text, at, environment, inside), secrets: variablesOf(text, environment) }),
    inherit: (names) => Object.fromEntries(names.flatMap((name) => (environment[name] ? [[name, environment[name]]] : []))),
    fillAddress: (text, at) => fillAddress(text, at, environment, inside),
    refuseVariables: (value, at) => refuseVariables(value, at, inside),
  }
  // The kind opens exactly what its schema produced.
  const source = await kind.open(section as never, opening)
  if (!source) return undefined
  return { source: 'away' in source ? source : watchAway(source) }
}

const within =
  (path: readonly PropertyKey[], report: Report): Report =>
  (problem: SetupProblem) =>
    report({ path: [...path, ...problem.path], message: problem.message })
