/** A repository as GitHub's addresses name it. */
export type Repository = {
  owner: string
  repo: string
}

/** True for `owner/name`. A name of dots would lead elsewhere in an address. */
export const isRepositoryName = (text: string): boolean => /^[A-Za-z0-9][\w-]{0,99}\/[\w.-]{1,100}$/.test(text) && !/\/\.{1,2}$/.test(text)

/** The parts of an `owner/name`. */
export function repositoryOf(name: string): Repository {
  const slash = name.indexOf('/')
  return { owner: name.slice(0, slash), repo: name.slice(slash + 1) }
}

/** The name that the parts make. */
export const nameOf = ({ owner, repo }: Repository): string => `${owner}/${repo}`

/** Which repositories may be read and changed. */
export interface AllowList {
  allows(name: string): boolean
  /** As they were written; undefined where all are allowed. */
  readonly written: readonly string[] | undefined
  /** Reads on from the name of a repository that is not allowed. */
  readonly refusal: string
}

/** @param written Names and `owner/*`; undefined allows all. GitHub tells names apart without their case, and so does this. */
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
