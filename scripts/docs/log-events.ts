import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'vite'

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace']
const NAME = /^[a-z_]+(\.[a-z_]+)+$/

/** An event of the log, as the source writes it. */
export interface LogEvent {
  name: string
  level: string
  /** The names of its fields. */
  fields: string[]
}

type Node = { type: string; [member: string]: unknown }

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value

function* nodesOf(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const one of value) yield* nodesOf(one)
  if (!isNode(value)) return
  yield value
  for (const member of Object.values(value)) yield* nodesOf(member)
}

/** Every event that the packages log, by name: calls such as `log.warn({ why }, 'record.problem')`. */
export function logEvents(root: string): LogEvent[] {
  const files = globSync('packages/{server,toolkit,tools-*}/src/**/*.ts', {
    cwd: root,
    exclude: (path) => /\.test\.ts$|testing/.test(path),
  })
  const found = new Map<string, LogEvent>()
  for (const path of files.sort()) {
    const text = readFileSync(join(root, path), 'utf8')
    if (!LEVELS.some((level) => text.includes(`.${level}(`))) continue
    for (const { type, callee, arguments: given = [] } of nodesOf(parseSync(path, text).program)) {
      if (type !== 'CallExpression' || !isNode(callee) || !isNode(callee.property)) continue
      const level = String(callee.property.name)
      const names = [...nodesOf((given as Node[]).slice(-1))].map(({ value }) => value).filter((value) => typeof value === 'string')
      if (!LEVELS.includes(level)) continue
      for (const name of names.filter((one) => NAME.test(one))) {
        const key = `${name} ${level}`
        const event = found.get(key) ?? { name, level, fields: [] }
        found.set(key, { ...event, fields: [...new Set([...event.fields, ...fieldsOf((given as Node[])[0])])] })
      }
    }
  }
  return [...found.values()].sort((a, b) => (`${a.name} ${a.level}` < `${b.name} ${b.level}` ? -1 : 1))
}

const fieldsOf = (facts: Node | undefined): string[] =>
  facts?.type === 'ObjectExpression'
    ? (facts.properties as Node[]).flatMap(({ key }) => (isNode(key) && typeof key.name === 'string' ? [key.name] : []))
    : []

/** Every event with its level and its fields. */
export function logReference(root: string): string {
  const rows = logEvents(root).map(
    ({ name, level, fields }) => `| \`${name}\` | ${level} | ${fields.map((field) => `\`${field}\``).join(', ')} |`,
  )
  return ['| event | level | fields |', '|---|---|---|', ...rows].join('\n')
}
