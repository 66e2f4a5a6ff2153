import { z } from 'zod'
import { Fault } from '../fault.ts'
import { type Git, GitFault } from './run.ts'

/** A branch, a tag or a commit, optionally followed by `~N`. Options, ranges and searches are not allowed. */
export const Revision = z
  .string()
  .max(250)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._/+#-]*(?:[~^]\d{0,4})*$/, 'must be a branch, a tag or a commit')
  .refine((name) => !name.includes('..'), 'must be one commit, not a range')

/** A possible name of a branch. Git makes the final check. */
export const BranchName = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._/+#-]*$/, 'must be a plain name such as fix/typo')

/** Returns the commit that a name refers to, or undefined. */
export async function commitOf(git: Git, name: string, signal?: AbortSignal): Promise<string | undefined> {
  return quiet(() => git.text(['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`], { signal }))
}

/** Returns the current branch; undefined when a commit is checked out. */
export async function branchOf(git: Git, signal?: AbortSignal): Promise<string | undefined> {
  const ref = await quiet(() => git.text(['symbolic-ref', '--quiet', 'HEAD'], { signal }))
  return ref?.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : undefined
}

/** Returns the head commit of a branch; undefined when the branch does not exist. */
export const commitOfBranch = (git: Git, name: string): Promise<string | undefined> => commitOf(git, `refs/heads/${name}`)

/** @throws Fault for a name that git does not accept for a branch. */
export async function requireBranchName(git: Git, name: string): Promise<void> {
  const taken = await quiet(() => git.text(['check-ref-format', '--branch', name]))
  if (taken !== name || /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(name) || name === 'HEAD') throw new Fault(`${name} is no name for a branch.`)
}

async function quiet(ask: () => Promise<string>): Promise<string | undefined> {
  try {
    return (await ask()) || undefined
  } catch (error) {
    if (error instanceof GitFault) return undefined
    throw error
  }
}
