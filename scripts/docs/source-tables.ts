import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hostTools } from '../../packages/server/src/coding-agent/host-tools.ts'
import { cell } from './schema-table.ts'

/** A name, and what its docstring says about it. */
export type Described = readonly [name: string, text: string]

/** The parameters of Python's `gated`. */
export function gatedParameters(root: string): Described[] {
  const docstring = partOf(root, 'clients/python/src/countersign/gate.py', ') -> Any:\n    """', ':raises')
  return [...docstring.matchAll(/:param (\w+): (.*?)(?=\s+:param|\s*$)/gs)].map(([, name = '', text = '']) => [
    name,
    oneLine(text)
      .replace(/:class:/g, '')
      .replace(/`+/g, '`'),
  ])
}

/** The facts about a shell command that policy can match. */
export function shellFacts(root: string): Described[] {
  const fields = partOf(root, 'packages/server/src/coding-agent/shell/read-command.ts', 'export interface ShellReading {', '\n}')
  return [...fields.matchAll(/(?:\/\*\* (.*) \*\/\s+)?(\w+): .*/g)].map(([, text = '', name = '']) => [name, text])
}

/** The events of webhooks. */
export function webhookEvents(root: string): Described[] {
  const docstring = partOf(root, 'packages/core/src/wire/webhook.ts', ' * The events of webhooks.', '*/')
  return [...docstring.matchAll(/- `([\w.]+)`: (.*?)(?=\n \* -|\s*$)/gs)].map(([, name = '', text = '']) => [name, oneLine(text)])
}

/** The events of a remote brain, with their fields. */
export function brainEvents(root: string): Described[] {
  const docstring = partOf(root, 'packages/server/src/models/remote-brain.ts', " or as the event's name:", ' *\n')
  return [...docstring.matchAll(/- `(.*?)`: (.*?)(?=\n \* -|\s*$)/gs)].map(([, name = '', text = '']) => [name, oneLine(text)])
}

/** The terms of a search in the console. */
export function searchTerms(root: string): Described[] {
  const docstring = partOf(root, 'apps/web/src/waiting/search.ts', ' * Reads a search.', ' * @example')
  return [...docstring.matchAll(/- `(.*?)`: (.*?)(?=\n \* -|\n \*\n|\s*$)/gs)].map(([, name = '', text = '']) => [name, oneLine(text)])
}

const LINE = 'packages/server/src/audit/line.ts'

/** The fields of a head in an export of the record. Some stand together. */
export function headFields(root: string): Described[] {
  const docstring = partOf(root, LINE, ' * Returns a head in the format of a file:', '*/')
  return [...docstring.matchAll(/- `(.*?)`: (.*?)(?=\n \* -|\s*$)/gs)].map(([, name = '', text = '']) => [name, oneLine(text)])
}

/** The fields of the first or the last line of an export of the record. */
export function exportFields(root: string, line: 'ExportStart' | 'ExportEnd'): Described[] {
  const fields = partOf(root, LINE, `export interface ${line} {`, '\n}')
  return [...fields.matchAll(/(?:\/\*\* (.*) \*\/\s+)?(\w+)\??: .*/g)].map(([, text = '', name = '']) => [name, text])
}

/** The tools of coding agents: what the host does, and the arguments that not all of them have. */
export function hostToolRows(): (readonly [name: string, effect: string, text: string, given: string[]])[] {
  const common = ['host', 'hostTool', 'folder', 'options']
  return hostTools().map(({ name, effect, description, inputSchema }) => {
    const { properties = {} } = inputSchema as { properties?: object }
    return [name, effect, description, Object.keys(properties).filter((given) => !common.includes(given))]
  })
}

export const hostToolReference = (): string =>
  [
    '| tool | effect | what the host does | arguments |\n|---|---|---|---|',
    ...hostToolRows().map(
      ([name, effect, text, given]) => `| \`host.${name}\` | ${effect} | ${cell(text)} | ${given.map((one) => `\`${one}\``).join(', ')} |`,
    ),
  ].join('\n')

/** A table of two columns. */
export const describedTable = (heads: Described, rows: readonly Described[]): string =>
  [`| ${heads.join(' | ')} |`, '|---|---|', ...rows.map(([name, text]) => `| \`${name}\` | ${cell(text)} |`)].join('\n')

const oneLine = (text: string) => text.replace(/\s*\n[\s*]*/g, ' ').trim()

/** The part of a file between two texts. */
function partOf(root: string, path: string, from: string, to: string): string {
  const [, after] = readFileSync(join(root, path), 'utf8').split(from)
  const [part, rest] = after?.split(to) ?? []
  if (part === undefined || rest === undefined) throw new Error(`${path} has nothing between "${from}" and "${to}"`)
  return part
}
