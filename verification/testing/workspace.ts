import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ExecuteContext, JsonObject, JsonValue, Preview, Tool } from '@countersign/core'
import { createRedactor, openNetwork } from '../../packages/toolkit/src/net/index.ts'
import { openTools } from '../../packages/toolkit/src/open-tools.ts'
import type { ToolSource } from '../../packages/toolkit/src/source.ts'
import { NO_OBJECTIVES } from '../../packages/toolkit/src/testing/no-objectives.ts'
import type { WorkspaceInput } from '../../packages/tools-workspace/src/index.ts'
import { workspace } from '../../packages/tools-workspace/src/index.ts'

/** A folder with files in it, gone after the test. */
export interface TempFolder extends Disposable {
  root: string
  write(path: string, content: string | Buffer): void
}

export function tempFolder(files: Readonly<Record<string, string | Buffer>> = {}): TempFolder {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'countersign-workspace-')))
  const write = (path: string, content: string | Buffer) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  for (const [path, content] of Object.entries(files)) write(path, content)
  return { root, write, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) }
}

const IDENTITY = ['-c', 'user.name=Ana', '-c', 'user.email=ana@example.com']

/** git as a person uses it in the folder. */
export const gitIn = (root: string, ...args: string[]): string =>
  execFileSync('git', ['-C', root, ...IDENTITY, ...args], { encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] }).replace(/\n$/, '')

/** A repository with these files in its first commit. */
export function tempRepository(files: Readonly<Record<string, string | Buffer>>): TempFolder {
  const folder = tempFolder(files)
  gitIn(folder.root, 'init', '-q', '-b', 'main')
  gitIn(folder.root, 'add', '-A')
  gitIn(folder.root, 'commit', '-q', '-m', 'begin')
  return folder
}

export interface OpenWorkspace {
  source: ToolSource
  tool(name: string): Tool
  /** Carries a call out as policy's `allow` would. */
  run(name: string, args: JsonObject, context?: Partial<ExecuteContext>): Promise<JsonValue>
  preview(name: string, args: JsonObject): Promise<Preview>
}

/** The tools of a workspace, named without a group. */
export async function openWorkspace(section: WorkspaceInput): Promise<OpenWorkspace> {
  const fail = ({ message }: { message: string }) => {
    throw new Error(message)
  }
  const source = await workspace.open(workspace.schema.parse(section), {
    group: 'files',
    folder: '/',
    network: openNetwork(),
    inherit: () => ({ PATH: process.env.PATH ?? '' }),
    report: fail,
    fillSecret: (value) => ({ value, secrets: [] }),
    fillAddress: (text) => text,
    refuseVariables: () => {},
  })
  if (!source) throw new Error('the workspace was not opened')
  const tools = openTools({ files: { prefix: false, source } })
  const tool = (name: string): Tool => {
    const found = tools.byName(name)
    if (!found) throw new Error(`there is no tool ${name}`)
    return found
  }
  const checked = (name: string, args: JsonObject): JsonObject => {
    const check = tool(name).check(args)
    if (!check.ok) throw new Error(JSON.stringify(check.issues))
    return check.value
  }
  const signal = new AbortController().signal
  return {
    source,
    tool,
    run: async (name, args, context) =>
      tool(name).execute(checked(name, args), { actionId: 'act_1', idempotencyKey: 'k', principalId: undefined, signal, ...context }),
    async preview(name, args) {
      const preview = await tool(name).preview?.(checked(name, args), signal)
      if (!preview) throw new Error(`${name} has no preview`)
      return preview
    },
  }
}

/** The outbound context of a source whose calls go nowhere. */
export const NO_WAY = { network: openNetwork(), redactor: createRedactor([]) }

/** The services of a server for a source that uses none of them. */
export const NO_GROUND = {
  log: { info: () => {}, warn: () => {} },
  pins: { all: async () => [], keep: async () => {}, replace: async () => {} },
  objectives: NO_OBJECTIVES,
  ownFiles: [],
}
