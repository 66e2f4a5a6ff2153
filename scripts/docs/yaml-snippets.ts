import { PolicyDocument } from '@countersign/core'
import { parseDocument } from 'yaml'
import type { z } from 'zod'
import { openConfig } from '../../packages/server/src/config/load.ts'
import { ConfigShape, GROUP_KINDS } from '../../packages/server/src/config/schema.ts'
import { readCondition } from '../../packages/server/src/policy/condition.ts'
import { SOURCE_KINDS } from '../../packages/server/src/tools/index.ts'
import type { Block } from './blocks.ts'

type Json = Record<string, unknown>

/** Returns the error of a YAML block, or an empty text. Which reader it goes through is seen from its keys. */
export async function yamlProblems(block: Block): Promise<string[]> {
  if (block.note.startsWith('other:')) return []
  const document = parseDocument(block.code)
  const [wrong] = [...document.errors, ...document.warnings]
  if (wrong) return [wrong.message]
  const value: unknown = document.toJS()
  if (!isObject(value)) return ['is no map']
  if (hasOnly(value, Object.keys(ConfigShape.shape))) return configProblems(value)
  if (hasOnly(value, Object.keys(PolicyDocument.shape))) return policyProblems(value)
  if (Object.values(value).every((one) => isObject(one) && 'method' in one && 'path' in one)) {
    return findings(GROUP_KINDS.routes, { baseUrl: 'http://127.0.0.1', tools: value })
  }
  if (hasOnly(value, ['steps'])) return []
  return ['is neither a configuration, a policy, routes nor a script: say what it is with <!-- snippet: other: … -->']
}

async function configProblems(config: Json): Promise<string[]> {
  const problems = findings(ConfigShape, config)
  if (isObject(config.policy)) problems.push(...policyProblems(config.policy))
  for (const [name, group] of Object.entries(isObject(config.tools) ? config.tools : {})) {
    if (!isObject(group)) continue
    for (const [kind, section] of Object.entries(group)) {
      const schema = await schemaOf(kind)
      if (schema) problems.push(...findings(schema, section))
      else if (kind !== 'prefix') problems.push(`tools.${name}.${kind} is no kind of tools`)
    }
  }
  if (problems.length === 0 && needsNoFile(config)) problems.push(...(await openingProblems(config)))
  return problems
}

/** A configuration with its tools, and without sources and named files, is opened as the reader would: rules and agents name its tools. */
const needsNoFile = ({ tools, policy }: Json): boolean =>
  typeof policy !== 'string' && isObject(tools) && Object.values(tools).every((group) => isObject(group) && 'routes' in group)

async function openingProblems(config: Json): Promise<string[]> {
  const names = [...JSON.stringify(config).matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name)
  const environment = Object.fromEntries(names.map((name) => [name, 'placeholder']))
  try {
    await (await openConfig(config, { environment, folder: '.' })).close()
    return []
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

async function schemaOf(kind: string): Promise<z.ZodType | undefined> {
  if (kind === 'routes') return GROUP_KINDS.routes
  const open = Object.entries(SOURCE_KINDS).find(([name]) => name === kind)?.[1]
  return open && (await open()).schema
}

function policyProblems(policy: Json): string[] {
  const problems = findings(PolicyDocument, policy)
  for (const rule of Array.isArray(policy.rules) ? policy.rules : []) {
    const when: unknown = rule?.match?.when
    const read = typeof when === 'string' ? readCondition(when) : undefined
    if (read && 'problem' in read) problems.push(`the condition of "${rule.name}": ${read.problem}`)
  }
  return problems
}

const findings = (schema: z.ZodType, value: unknown): string[] =>
  (schema.safeParse(value).error?.issues ?? []).map(({ path, message }) => `${path.map(String).join('.')}: ${message}`)

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const hasOnly = (value: Json, keys: readonly string[]) => Object.keys(value).every((key) => keys.includes(key))
