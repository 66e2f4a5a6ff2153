import type { Addresses } from './shapes.ts'
import type { Repo, State } from './state.ts'

/** The arguments of a handler. */
export interface Call {
  state: State
  at: Addresses
  /** The repository in the path; handlers of paths without one do not look at it. */
  repo: Repo
  params: Readonly<Record<string, string>>
  query: URLSearchParams
  body: Readonly<Record<string, unknown>>
}

export interface Reply {
  status: number
  body?: unknown
  headers?: Record<string, string>
}

/** A method, a path as GitHub's description writes it (the last parameter may span slashes), and what answers. */
export type Route = [method: string, path: string, answer: (call: Call) => Reply]

const DOCS = 'https://docs.github.com/rest'

export const ok = (body: unknown, status = 200): Reply => ({ status, body })

export const problem = (status: number, message: string, headers: Record<string, string> = {}): Reply => ({
  status,
  body: { message, documentation_url: DOCS, status: String(status) },
  headers,
})

/** A refusal that says which fields are wrong. */
export const invalid = (...errors: { resource: string; field?: string; code: string; message?: string }[]): Reply => ({
  status: 422,
  body: { message: 'Validation Failed', documentation_url: DOCS, errors },
})

export const missing = (): Reply => problem(404, 'Not Found')

/** One page of a list, with the link to the next. */
export function paged<T>({ query, at }: Call, items: readonly T[], view: (item: T) => unknown, key?: string): Reply {
  const size = Math.min(100, Number(query.get('per_page') ?? 30))
  const page = Number(query.get('page') ?? 1)
  const shown = items.slice((page - 1) * size, page * size).map(view)
  const next = new URLSearchParams(query)
  next.set('page', String(page + 1))
  const headers = { link: `<${at.api}/next?${next}>; rel="next"` }
  return {
    status: 200,
    body: key === undefined ? shown : { total_count: items.length, [key]: shown },
    ...(page * size < items.length && { headers }),
  }
}

export const textIn = (body: Call['body'], name: string): string | undefined => (typeof body[name] === 'string' ? body[name] : undefined)

export const listIn = (body: Call['body'], name: string): string[] | undefined =>
  Array.isArray(body[name]) ? body[name].filter((item): item is string => typeof item === 'string') : undefined
