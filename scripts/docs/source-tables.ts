import { readFileSync } from 'node:fs'
import { join } from 'node:path'
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
