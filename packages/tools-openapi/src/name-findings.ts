import type { JsonObject, JsonSchema, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { createParameterNames, type Finding, isMethodOverride, member } from '@countersign/toolkit/internal'
import { asSchema, propertiesOf } from './compare.ts'
import type { Parameter } from './parameters.ts'
import type { RequestBody } from './request-body.ts'
import { asSchemas, type DescribedMembers, membersOf } from './schema-members.ts'
import { memberStyle } from './write-body.ts'
import type { PairStyle } from './write-parameters.ts'

const OTHER_METHOD = 'could make it another request'

/** True for a name that makes a POST another method, unless the document fixes its value. */
export const choosesMethod = (method: string, name: string, schemas: readonly JsonSchema[] = []): boolean =>
  method === 'POST' && isMethodOverride(name) && !schemas.some(isFixed)

const isFixed = (schema: JsonSchema): boolean => schema.const !== undefined || (Array.isArray(schema.enum) && schema.enum.length === 1)

/** An operation whose arguments are checked. */
interface Named {
  method: string
  parameters: readonly Parameter[]
  body: RequestBody | undefined
  inputSchema: JsonSchema
  isSet(parameter: Pick<Parameter, 'in' | 'name'>): boolean
}

/** Returns the faults of names that agents choose: where they are sent, a service may take them for something else. */
export const nameFindings = (operation: Named, args: JsonObject): Finding[] => [
  ...queryFindings(operation, args),
  ...bodyNameFindings(operation, args.body),
]

/** True where the keys of an object become names of their own. */
const isSpread = ({ explode, isJson, style }: Omit<PairStyle, 'name'>, value: JsonValue | undefined): value is JsonObject =>
  explode && !isJson && style !== 'deepObject' && isObject(value)

function queryFindings({ method, parameters, inputSchema, isSet }: Named, args: JsonObject): Finding[] {
  const described = propertiesOf(inputSchema)
  const inQuery = parameters.filter(({ in: place }) => place === 'query')
  const spread = inQuery.filter((parameter) => isSpread(parameter, member(args, parameter.argument)))
  const [known, given] = [createParameterNames(), createParameterNames()]
  for (const parameter of inQuery) {
    if (spread.includes(parameter)) continue
    known.add(parameter.name)
    if (member(args, parameter.argument) !== undefined) given.add(parameter.name)
  }
  return spread.flatMap((parameter) => {
    const keys = Object.keys(member(args, parameter.argument) as JsonObject)
    const own = membersOf(asSchemas([described[parameter.argument]]))
    const findings = keys.flatMap((key): Finding[] => {
      const words = choosesMethod(method, key, own.get(key))
        ? OTHER_METHOD
        : isSet({ in: 'query', name: key })
          ? 'is set by the configuration'
          : // A document may describe the same name twice, and then it may be given once.
            isOther((own.has(key) ? given : known).like(key))
      return words === undefined ? [] : [{ path: [parameter.argument, key], words }]
    })
    for (const key of keys) for (const names of [known, given]) names.add(key)
    return findings
  })
}

const isOther = (name: string | undefined): string | undefined => (name === undefined ? undefined : `is another argument: ${name}`)

function bodyNameFindings({ method, body, inputSchema }: Named, value: JsonValue | undefined): Finding[] {
  if (!body || !isObject(value)) return []
  const described = membersOf(asSchemas([asSchema(propertiesOf(inputSchema).body)]))
  const unsafe = Object.keys(value).filter((name) => choosesMethod(method, name, described.get(name)))
  const findings = unsafe.map((name): Finding => ({ path: ['body', name], words: OTHER_METHOD }))
  if (body.kind === 'form' || body.kind === 'multipart') findings.push(...spellingFindings(described, value))
  if (body.kind === 'form') findings.push(...spreadFindings(method, described, value, body.encoding))
  return findings
}

/** Returns the members of a form that a service may take for a described one. */
function spellingFindings(described: DescribedMembers, value: JsonObject): Finding[] {
  const names = createParameterNames()
  for (const name of described.keys()) names.add(name)
  return Object.keys(value).flatMap((name): Finding[] => {
    const other = described.has(name) ? undefined : names.like(name)
    return other === undefined ? [] : [{ path: ['body', name], words: `must be written ${other}: some services take the two for one` }]
  })
}

/** Returns the keys of objects in a form that are sent as names of other members. */
function spreadFindings(method: string, described: DescribedMembers, value: JsonObject, encoding: JsonObject): Finding[] {
  const members = Object.entries(value)
  const spread = members.filter(([name, inner]) => isSpread(memberStyle(name, inner, encoding), inner))
  const names = createParameterNames()
  for (const name of [...described.keys(), ...Object.keys(value)]) if (!spread.some(([given]) => given === name)) names.add(name)
  return spread.flatMap(([name, inner]) => {
    const keys = Object.keys(inner as JsonObject)
    const findings = keys.flatMap((key): Finding[] => {
      const words = choosesMethod(method, key) ? OTHER_METHOD : isOther(names.like(key))
      return words === undefined ? [] : [{ path: ['body', name, key], words }]
    })
    for (const key of keys) names.add(key)
    return findings
  })
}
