/** A repository as in the paths of the API. */
export type Repository = {
  owner: string
  repo: string
}

/** True for `owner/name`. A name that consists of dots would change the path of a request. */
export const isRepositoryName = (text: string): boolean => /^[A-Za-z0-9][\w-]{0,99}\/[\w.-]{1,100}$/.test(text) && !/\/\.{1,2}$/.test(text)

/** Returns the parts of `owner/name`. */
export function repositoryOf(name: string): Repository {
  const slash = name.indexOf('/')
  return { owner: name.slice(0, slash), repo: name.slice(slash + 1) }
}

/** Returns the name from its parts. */
export const nameOf = ({ owner, repo }: Repository): string => `${owner}/${repo}`

/**
 * Returns a function that gives a name the case in which the configuration names it or its owner. GitHub ignores the case, and conditions of
 * rules do not: `ACME/Prod` would be none of the repositories that they name.
 * @param named Names and `owner/*`.
 */
export const openSpelling =
  (named: readonly string[]) =>
  (name: string): string => {
    const like = (wanted: string) => named.find((text) => text.toLowerCase() === wanted.toLowerCase())
    const [owner, ...rest] = name.split('/')
    return like(name) ?? [like(`${owner}/*`)?.slice(0, -2) ?? owner, ...rest].join('/')
  }

/** The repositories that may be read and changed. */
export interface AllowList {
  allows(name: string): boolean
  /** The entries as written; undefined when all repositories are allowed. */
  readonly written: readonly string[] | undefined
  /** Continues a sentence that begins with the name of a repository that is not allowed. */
  readonly refusal: string
}

/** @param written Names and `owner/*`; undefined allows all. Names are compared without case, as GitHub does. */
export function openAllowList(written: readonly string[] | undefined): AllowList {
  const known = written?.map((text) => text.toLowerCase())
  return {
    written,
    allows(name) {
      if (known === undefined) return true
      const plain = name.toLowerCase()
      return known.includes(plain) || known.includes(`${plain.slice(0, plain.indexOf('/'))}/*`)
    },
    refusal: `is not one of the repositories that may be used here: ${shortened(written ?? [])}`,
  }
}

const MAX_NAMED = 5

const shortened = (names: readonly string[]): string =>
  names.length > MAX_NAMED ? `${names.slice(0, MAX_NAMED).join(', ')} and ${names.length - MAX_NAMED} more` : names.join(', ')
