import { realpath, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, resolve } from 'node:path'
import type { SourceFinding, SourceKind, SourceOpening, ToolSource } from '@countersign/toolkit'
import { NO_CREDENTIAL, openTextWork } from '@countersign/toolkit/internal'
import { z } from 'zod'
import { openFolder } from './folder.ts'
import { branchTools } from './git/branches.ts'
import { commitTool } from './git/commit.ts'
import { gitIgnored, gitReads } from './git/reads.ts'
import { type Git, openGit } from './git/run.ts'
import { walk } from './listing.ts'
import { fitsNothing } from './path.ts'
import { openProtection } from './protection.ts'
import { fileReads } from './reads.ts'
import { workspaceStarter } from './starter.ts'
import type { WorkspaceTool } from './tool.ts'
import { createWorkspace, type Workspace } from './workspace.ts'
import { removeLeftOvers } from './write-file.ts'
import { fileWrites } from './writes.ts'

const Line = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^[^<>\p{Cc}]+$/u, 'must be plain text without < and >')

const WorkspaceSection = z.strictObject({
  /** The folder of the workspace. The tools read and write nothing outside it. */
  root: z.string().min(1).max(4_000),
  /** False: no git tools. Default: they exist when the folder is a repository and git is installed. */
  git: z.boolean().optional(),
  /** Paths that the tools neither show nor write, with everything below them: patterns from the root of the workspace. */
  ignore: z.array(z.string().min(1).max(500)).max(200).default(['**/.env', '**/.env.*', '**/node_modules']),
  /** Larger files are neither read nor written. */
  maxFileBytes: z.int().min(1_000).max(20_000_000).default(1_000_000),
  /** The author of commits. Each commit also contains the action's id. */
  author: z
    .strictObject({
      /** The author's name. */
      name: Line,
      /** The author's email address. */
      email: Line,
    })
    .default({ name: 'Countersign', email: 'countersign@localhost' }),
})

/** The settings in the configuration: `workspace: { root: './work' }`. */
export type WorkspaceInput = z.input<typeof WorkspaceSection>
export { workspaceStarter } from './starter.ts'

/** The files and branches of one folder as a source of tools. */
export const workspace: SourceKind<z.output<typeof WorkspaceSection>> = { starter: workspaceStarter, schema: WorkspaceSection, open }

async function open(section: z.output<typeof WorkspaceSection>, opening: SourceOpening): Promise<ToolSource | undefined> {
  const { folder, report, refuseVariables, inherit } = opening
  refuseVariables(section, [])
  const root = await realpath(resolve(folder, section.root)).catch(() => undefined)
  if (root === undefined || !(await stat(root)).isDirectory()) {
    report({ path: ['root'], message: `is not a folder: ${section.root}; make it, or name another` })
    return undefined
  }
  const lost = section.ignore.flatMap((glob, at) => (fitsNothing(glob) ? [{ glob, at }] : []))
  for (const { glob, at } of lost)
    report({
      path: ['ignore', at],
      message: `${JSON.stringify(glob)} fits nothing here: write it from the root of the workspace, such as private or **/*.pem`,
    })
  if (lost.length > 0) return undefined
  const workspace = createWorkspace({ root, ignore: section.ignore, maxFileBytes: section.maxFileBytes, work: openTextWork() })
  const git =
    section.git === false
      ? { problem: 'git is turned off' }
      : await openGit(root, (inherit(['PATH']).PATH ?? '').split(delimiter).filter(isAbsolute))
  if (section.git === true && 'problem' in git) report({ path: ['git'], message: `cannot be used: the folder ${git.problem}` })
  return sourceOf(workspace, section, git)
}

function sourceOf(workspace: Workspace, section: z.output<typeof WorkspaceSection>, git: Git | { problem: string }): ToolSource {
  const { root, ignore, maxFileBytes } = workspace
  const repository = 'problem' in git ? undefined : git
  const tools: WorkspaceTool[] = [
    ...fileReads(workspace, async (paths, signal) => (repository ? gitIgnored(repository, paths, signal) : new Set())),
    ...fileWrites(workspace),
    ...(repository
      ? [...gitReads(workspace, repository), ...branchTools(workspace, repository), commitTool(workspace, repository, section.author)]
      : []),
  ]
  return {
    kind: 'workspace',
    secrets: [],
    // The location of the workspace is part of what is approved.
    drafts: () =>
      tools.map((tool) => ({
        ...tool,
        destination: 'local',
        credential: NO_CREDENTIAL,
        definition: { root, ignore: [...ignore], maxFileBytes },
      })),
    async attach({ log, ownFiles }) {
      workspace.protection = await openProtection(root, ownFiles)
      await tidy(workspace).catch((error: unknown) =>
        log.warn({ reason: error instanceof Error ? error.message : 'unknown' }, 'workspace.cleanup_failed'),
      )
    },
    check: (_, signal) => check(workspace, tools, git, signal),
    close: async () => workspace.work[Symbol.asyncDispose](),
  }
}

/** Removes temporary files of killed processes. */
async function tidy(workspace: Workspace): Promise<void> {
  const folders: string[][] = [[]]
  for await (const { path, kind } of walk(workspace, [], new AbortController().signal)) if (kind === 'folder') folders.push(path.split('/'))
  for (const segments of folders) {
    await using folder = await openFolder(workspace.root, segments)
    await removeLeftOvers(folder)
  }
}

async function check(
  workspace: Workspace,
  tools: readonly WorkspaceTool[],
  git: Git | { problem: string },
  signal: AbortSignal,
): Promise<SourceFinding[]> {
  try {
    signal.throwIfAborted()
    await using folder = await openFolder(workspace.root, [])
    await folder.names()
  } catch (error) {
    return [{ level: 'problem', message: error instanceof Error ? error.message : 'The folder cannot be read.' }]
  }
  const found: SourceFinding[] = [{ level: 'ok', message: `${tools.length} tools in ${workspace.root}` }]
  if ('problem' in git)
    found.push({
      level: 'note',
      message: `No tools for git: ${git.problem.startsWith('git ') ? git.problem : `the folder ${git.problem}`}.`,
    })
  return found
}
