import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type ExecuteContext, type JsonObject, type JsonValue, ToolError } from '@countersign/core'
import type { Planned } from '@countersign/toolkit'
import { z } from 'zod'
import { Changed, Fault } from '../fault.ts'
import { type WorkspaceTool, writeTool } from '../tool.ts'
import type { Workspace } from '../workspace.ts'
import { BranchName, branchOf, commitOf, commitOfBranch, Revision, requireBranchName } from './names.ts'
import { PLAIN_DIFF, requireCommit } from './reads.ts'
import { type Git, GitFault } from './run.ts'

const MAX_NAMED = 20

const CreateInput = z.object({
  name: BranchName,
  from: Revision.default('HEAD').describe('The commit or branch it begins at'),
  checkOut: z.boolean().default(true).describe('Work on it from now on; only where it begins at the commit that is checked out'),
})
const SwitchInput = z.object({ name: BranchName })

/** The tools that create and switch branches. */
export const branchTools = (workspace: Workspace, git: Git): WorkspaceTool[] => [createBranch(workspace, git), switchBranch(workspace, git)]

const createBranch = (workspace: Workspace, git: Git): WorkspaceTool =>
  writeTool(workspace, {
    name: 'createBranch',
    description: 'Creates a branch. By default it begins at the commit that is checked out and is worked on from then on.',
    input: CreateInput,
    describe: ({ name, from }) => `Create the branch ${name} from ${from}`,
    plan: (args) => planCreate(git, args),
    show: ({ commit, subject, branch }, { name, checkOut }) => ({
      fields: [
        { field: 'branch', newValue: name },
        { field: 'begins at', newValue: `${commit.slice(0, 12)} ${subject}` },
        ...(checkOut ? [{ field: 'checked out', oldValue: branch ?? commit, newValue: name }] : []),
      ],
      precondition: { name, commit, checkedOut: checkOut ? (branch ?? null) : null },
      version: commit,
    }),
    make: (args, context) => create(git, args, context),
    verify: async ({ name, checkOut }, { version }) => {
      const [at, branch] = await Promise.all([commitOfBranch(git, name), branchOf(git)])
      if (at === undefined) return { done: false }
      return version === at && (!checkOut || branch === name) ? { done: true, output: { branch: name, commit: at } } : { done: 'unknown' }
    },
    changed: ({ from }) => new Changed(from),
  })

async function planCreate(git: Git, { name, from, checkOut }: z.output<typeof CreateInput>) {
  await requireBranchName(git, name)
  const [commit, head, there, branch] = [
    await requireCommit(git, from),
    await commitOf(git, 'HEAD'),
    await commitOfBranch(git, name),
    await branchOf(git),
  ]
  if (there !== undefined) throw new Fault(`There is a branch ${name} already.`)
  if (checkOut && commit !== head)
    throw new Fault(`${from} is not what is checked out: create the branch with checkOut false, then switch to it.`)
  return { commit, branch, subject: await git.text(['log', '-1', '--format=%s', commit]) }
}

async function create(
  git: Git,
  { name, checkOut }: z.output<typeof CreateInput>,
  { plan, version }: Pick<ExecuteContext, 'version'> & Planned<{ commit: string }>,
): Promise<JsonValue> {
  if (version !== undefined && (await commitOfBranch(git, name)) === version) {
    if (checkOut) await git.run(['symbolic-ref', 'HEAD', `refs/heads/${name}`])
    return { branch: name, commit: version }
  }
  const { commit } = await plan()
  // The empty old value makes git create the branch only if it does not exist. Of two concurrent attempts only one then succeeds.
  await git.run(['update-ref', '--create-reflog', '-m', 'branch: created by Countersign', `refs/heads/${name}`, commit, ''])
  if (!checkOut) return { branch: name, commit }
  try {
    await git.run(['symbolic-ref', '-m', `checkout: moving to ${name}`, 'HEAD', `refs/heads/${name}`])
  } catch (error) {
    throw error instanceof GitFault
      ? new ToolError('ambiguous', `The branch ${name} was created, but it is not checked out: ${error.message}`)
      : error
  }
  return { branch: name, commit }
}

const switchBranch = (workspace: Workspace, git: Git): WorkspaceTool =>
  writeTool(workspace, {
    name: 'switchBranch',
    description: 'Checks out another branch. Refused where it would overwrite changes that are not committed.',
    input: SwitchInput,
    describe: ({ name }) => `Switch to the branch ${name}`,
    plan: ({ name }) => planSwitch(workspace, git, name),
    show({ names, ...plan }, { name }) {
      const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
      const files = names.length === 0 ? 'none' : `${names.slice(0, MAX_NAMED).join(', ')}${more}`
      return {
        fields: [
          { field: 'checked out', oldValue: plan.from ?? plan.head, newValue: name },
          { field: 'files that change', newValue: files },
        ],
        precondition: { ...plan, from: plan.from ?? null } satisfies JsonObject,
        version: versionOf(plan),
      }
    },
    async make({ name }, { plan }) {
      if ((await branchOf(git)) === name) return { branch: name }
      const { to, names } = await plan()
      const before = await statesOf(workspace.root, names)
      try {
        // Without --no-overwrite-ignore git overwrites files that it ignores, which no commit holds.
        await git.run(['switch', '--quiet', '--no-guess', '--no-overwrite-ignore', '--no-recurse-submodules', '--no-progress', name])
      } catch (error) {
        if (!(error instanceof GitFault)) throw error
        // Git may have written some of the files before it failed.
        const isTouched = (await branchOf(git)) === name || !isDeepStrictEqual(await statesOf(workspace.root, names), before)
        throw isTouched ? new ToolError('ambiguous', error.message) : error
      }
      return { branch: name, commit: to }
    },
    verify: async ({ name }) => ((await branchOf(git)) === name ? { done: true, output: { branch: name } } : { done: 'unknown' }),
    changed: () => new Changed('One of the branches'),
  })

interface SwitchPlan {
  from: string | undefined
  head: string
  to: string
  /** The names of the files that change. */
  names: readonly string[]
}

/** @throws Fault also when a file would change that the workspace leaves out, or one of the server. */
async function planSwitch({ isIgnored, protection }: Workspace, git: Git, name: string): Promise<SwitchPlan> {
  const to = await commitOfBranch(git, name)
  if (to === undefined) throw new Fault(`There is no branch ${name}.`)
  const head = await requireCommit(git, 'HEAD')
  const names = (await git.text(['diff', ...PLAIN_DIFF, '--no-renames', '--name-only', '-z', head, to])).split('\0').filter(Boolean)
  for (const changed of names) {
    if (isIgnored(changed)) throw new Fault(`The branch ${name} changes ${changed}, which is left out of this workspace.`)
    const why = protection.whyNot(changed, 'write')
    if (why !== undefined) throw new Fault(`The branch ${name} changes ${changed}: ${why}`)
  }
  return { from: await branchOf(git), head, to, names }
}

/** Returns what differs for each of the files once it was written. */
const statesOf = (root: string, names: readonly string[]): Promise<(string | undefined)[]> =>
  Promise.all(
    names.map((name) =>
      lstat(join(root, name)).then(
        ({ ino, size, mtimeMs }) => `${ino} ${size} ${mtimeMs}`,
        () => undefined,
      ),
    ),
  )

const versionOf = ({ from, head, to }: Omit<SwitchPlan, 'names'>): string => `${from ?? ''}>${head}>${to}`
