import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AnySourceKind, createRedactor, openNetwork, type ToolDraft } from '@countersign/toolkit'
import { github } from '../../packages/tools-github/src/index.ts'
import { linear } from '../../packages/tools-linear/src/index.ts'
import { objectives } from '../../packages/tools-objectives/src/index.ts'
import { workspace } from '../../packages/tools-workspace/src/index.ts'
import { GITHUB_PERMISSIONS } from './github-permissions.ts'
import { cell } from './schema-table.ts'

/** The tools of each built-in source, as a server opens them. Nothing is sent anywhere. */
export async function builtInTools(): Promise<Readonly<Record<'GitHub' | 'Linear' | 'Objectives' | 'Workspace', ToolDraft[]>>> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-tools-'))
  try {
    // The git tools are there for a repository only.
    execFileSync('git', ['init', '--quiet', folder])
    return {
      GitHub: await toolsOf(github, { token: 'github-token' }),
      Linear: await toolsOf(linear, { apiKey: 'linear-key' }),
      Objectives: await toolsOf(objectives, {}),
      Workspace: await toolsOf(workspace, { root: folder, author: { name: 'Ana', email: 'ana@example.com' } }),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function toolsOf(kind: AnySourceKind, section: object): Promise<ToolDraft[]> {
  const network = openNetwork()
  const report = ({ message }: { message: string }) => {
    throw new Error(message)
  }
  const source = await kind.open(kind.schema.parse(section) as never, {
    ...{ group: 'tools', folder: '/', network, report, inherit: () => ({ PATH: process.env.PATH ?? '' }) },
    fillSecret: (value) => ({ value, secrets: [] }),
    fillAddress: (text) => text,
    refuseVariables: () => {},
  })
  if (!source) throw new Error('the source was not opened')
  const tools = source.drafts({ network, redactor: createRedactor([]) }, report)
  await source.close?.()
  return tools
}

/** Every tool of the built-in sources: its name, its effect, and what its model is told. For GitHub also the permission that it needs. */
export async function toolReference(): Promise<string> {
  const sections = Object.entries(await builtInTools()).map(([title, tools]) => {
    const isGithub = title === 'GitHub'
    const rows = tools.map(({ name, effect, description }) => {
      const permission = isGithub ? ` ${GITHUB_PERMISSIONS[name] ?? ''} |` : ''
      return `| \`${name}\` | ${effect} |${permission} ${cell(description)} |`
    })
    const head = isGithub
      ? '| tool | effect | permission | what it does |\n|---|---|---|---|'
      : '| tool | effect | what it does |\n|---|---|---|'
    return `## ${title}\n\n${head}\n${rows.join('\n')}`
  })
  return sections.join('\n\n')
}
