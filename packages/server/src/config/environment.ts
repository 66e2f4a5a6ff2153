import type { SetupProblem } from '@countersign/toolkit'
import type { RouteTable } from '@countersign/toolkit/internal'

/** The environment variables of the process. */
export type Environment = Readonly<Record<string, string | undefined>>
type Report = (problem: SetupProblem) => void

const VARIABLE = /\$\{([^{}]*)\}/g

/**
 * Replaces `${NAME}` in the headers and base addresses of a route table from the environment. Only there: every other text is shown to
 * people or to the model, and {@link refuseVariables} keeps secrets out of it.
 * @param report Takes each problem with its path inside the table; values of variables are never part of it.
 * @returns The table, and the values that went into its headers.
 */
export function fillTable(table: RouteTable, environment: Environment, report: Report): { routes: RouteTable; secrets: string[] } {
  const secrets = Object.values(table.headers).flatMap((text) => variablesOf(text, environment))
  const headers = Object.entries(table.headers).map(([name, text]) => [name, fill(text, ['headers', name], environment, report)])
  const publicUrl = table.publicUrl && fillAddress(table.publicUrl, ['publicUrl'], environment, report)
  const routes = {
    ...table,
    baseUrl: fillAddress(table.baseUrl, ['baseUrl'], environment, report),
    ...(publicUrl !== undefined && { publicUrl }),
    headers: Object.fromEntries(headers),
  }
  return { routes, secrets }
}

/** Returns the values of the variables in a text, which are secret. */
export const variablesOf = (text: string, environment: Environment): string[] =>
  [...text.matchAll(VARIABLE)].map((match) => environment[match[1] ?? ''] ?? '').filter((value) => value !== '')

/** Accepts a variable only as a whole address: the origin of an address is shown, and a secret pasted into it would be, too. */
export function fillAddress(text: string, path: readonly PropertyKey[], environment: Environment, report: Report): string {
  if (text.lastIndexOf('${') > 0) {
    report({ path, message: 'may have a variable only at its start, holding a whole address: it is shown' })
    return text
  }
  return fillUrl(text, path, environment, report)
}

const REMOTE = 'remote/'

/** Resolves the model of an agent: a remote brain's address may come from a variable; any other model is a name. */
export function fillModel(model: string, path: readonly string[], environment: Environment, report: Report): string {
  if (!model.startsWith(REMOTE)) {
    refuseVariables(model, path, report)
    return model
  }
  const address = model.slice(REMOTE.length)
  if (address.lastIndexOf('${') > 0) {
    report({ path, message: 'may have a variable only right after remote/, holding a whole address: it is shown' })
    return model
  }
  return REMOTE + fillUrl(address, path, environment, report)
}

type Fill = (text: string, path: readonly PropertyKey[], environment: Environment, report: Report) => string

/** @param standIn Replaces a missing value, so that the rest can be checked in the same run. */
const fillOr =
  (standIn: string): Fill =>
  (text, path, environment, report) =>
    text.replace(VARIABLE, (whole, name: string) => {
      const value = Object.hasOwn(environment, name) ? environment[name] : undefined
      if (!/^[A-Za-z_]\w*$/.test(name)) report({ path, message: `has ${whole}, which is not the name of a variable` })
      else if (value === undefined || value === '') report({ path, message: `needs the environment variable ${name}, which is not set` })
      return value || standIn
    })

/** Replaces the variables in a text that is not shown. */
export const fill = fillOr('unset')
const fillUrl = fillOr('http://unset.invalid')

/** Reports every string with `${NAME}` in capitals in a place that is shown: it is not replaced there, although it looks as if it were. */
export function refuseVariables(value: unknown, path: readonly PropertyKey[], report: Report): void {
  if (typeof value === 'string') {
    const name = /\$\{([A-Z][A-Z0-9_]*)\}/.exec(value)?.[1]
    if (name !== undefined) report({ path, message: `cannot hold \${${name}}: it is shown. Variables belong into headers` })
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, child] of Object.entries(value)) refuseVariables(child, [...path, key], report)
  }
}
