import { z } from 'zod'

/** The number of an issue or a pull request. */
export const IssueNumber = z.int().min(1).max(2_000_000_000)

/** A title of one line. */
export const Title = z.string().trim().min(1).max(256)

/** A body. GitHub accepts 65,536 characters, which leaves room for the marker. */
export const Body = z.string().max(65_000)

export const Login = z.string().regex(/^[A-Za-z0-9][\w-]{0,99}(\[bot\])?$/)

/** The name of a label. A name that consists of dots would change the path of a request. */
export const Label = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .refine((text) => !/^\.{1,2}$/.test(text), 'must be more than dots')

/** The name of a branch, by git's own rules. */
export const Branch = z.string().min(1).max(244).refine(isBranchName, 'must be a name that git takes for a branch')

export const Ref = Branch.describe('A branch, a tag or the SHA of a commit')

export const Page = z.int().min(1).max(100).default(1)
export const Limit = z.int().min(1).max(100).default(30)

/** True for a name that `git check-ref-format --branch` accepts. */
export function isBranchName(text: string): boolean {
  if (/[\p{Cc} ~^:?*[\\]|\.\.|@\{|\/\/|^[/-]|[/.]$|^@$/u.test(text)) return false
  return text.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'))
}

/** A path inside a repository, without `.` and `..`. */
export const Path = z.string().min(1).max(1_000).refine(isPath, 'must be a path inside the repository, like docs/index.md')

/** True for a path to one place inside a repository, outside its `.git`. */
export function isPath(text: string): boolean {
  if (/[\p{Cc}\\]/u.test(text)) return false
  return text.split('/').every((part) => part !== '' && part !== '.' && part !== '..' && part.toLowerCase() !== '.git')
}

/** The id of a resource without a number: a run, a job, a comment, a release. */
export const GithubId = z.int().min(1)

/** The name of a tag, by git's own rules, which are the same as for branches. */
export const Tag = z.string().min(1).max(244).refine(isBranchName, 'must be a name that git takes for a tag')
