import { resolve } from 'node:path'
import { createRedactor, type SourceKind, type SourceOpening, secretHeaders } from '@countersign/toolkit'
import { credentialOf } from '@countersign/toolkit/internal'
import { KNOWN_SERVERS, knownServer } from './classification.ts'
import { httpTransport } from './http-transport.ts'
import { McpSource } from './mcp-source.ts'
import { PACE, type Pace } from './pace.ts'
import { programName } from './program-name.ts'
import { McpSection } from './section.ts'
import { mcpStarter } from './starter.ts'
import { createStderrLog } from './stderr-log.ts'
import { StdioTransport } from './stdio-transport.ts'

export type { McpInput } from './section.ts'
export { mcpStarter } from './starter.ts'

/** The environment variables that a program inherits from the server, because programs need them to start. It inherits no others. */
const INHERITED = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'TMPDIR', 'TZ', 'TERM']

/** An MCP server that is started as a program or reached at a URL. */
export const mcp = {
  starter: mcpStarter,
  schema: McpSection,
  /** @param pace Only tests change it. */
  async open(section: McpSection, opening: SourceOpening, pace: Partial<Pace> = {}): Promise<McpSource | undefined> {
    const full = { ...PACE, ...pace }
    const source = 'command' in section ? openProgram(section, opening, full) : openRemote(section, opening, full)
    await source?.start()
    return source
  },
} satisfies SourceKind<McpSection>

type ProgramSection = Extract<McpSection, { command: string }>
type RemoteSection = Extract<McpSection, { url: string }>

function openProgram(section: ProgramSection, opening: SourceOpening, pace: Pace): McpSource {
  const secrets: string[] = []
  const fill = (text: string, path: readonly PropertyKey[]) => {
    const filled = opening.fillSecret(text, path)
    secrets.push(...filled.secrets)
    return filled.value
  }
  const args = section.args.map((text, index) => fill(text, ['args', index]))
  const env = Object.fromEntries(Object.entries(section.env).map(([name, text]) => [name, fill(text, ['env', name])]))
  opening.refuseVariables(section.tools, ['tools'])
  const { group, folder, inherit } = opening
  const lastWords: string[] = []
  const { command } = section
  const cwd = resolve(folder, section.cwd)
  // A path is relative to the same folder. A name is looked up in PATH.
  const program = { command: /[/\\]/.test(command) ? resolve(cwd, command) : command, args, env: { ...inherit(INHERITED), ...env }, cwd }
  return new McpSource({
    group,
    isHttp: false,
    destination: `program:${programName(command, section.args)}`,
    // Values that are not secret count too: another value may point the same program at another service.
    credential: credentialOf({ ...env, ...(secrets.length > 0 && { arguments: args.join(' ') }) }),
    written: { command, args: section.args, cwd: section.cwd, env: Object.keys(section.env).sort() },
    known: section.as ? KNOWN_SERVERS[section.as] : knownServer([command, ...section.args]),
    tools: section.tools,
    timeoutMs: section.timeoutMs,
    startWithinMs: section.startWithinMs,
    trustReadOnlyHints: section.trustReadOnlyHints,
    lastWords,
    secrets,
    pace,
    openTransport: (log) => new StdioTransport({ program, onStderr: createStderrLog(group, createRedactor(secrets), log, lastWords) }),
  })
}

function openRemote(section: RemoteSection, opening: SourceOpening, pace: Pace): McpSource | undefined {
  const url = opening.fillAddress(section.url, ['url'])
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol) || new URL(url).username !== '') {
    opening.report({ path: ['url'], message: 'must be an http or https address without a name or password' })
    return undefined
  }
  const secrets: string[] = []
  const headers = Object.fromEntries(
    Object.entries(section.headers).map(([name, text]) => {
      const filled = opening.fillSecret(text, ['headers', name])
      secrets.push(...filled.secrets)
      return [name, filled.value]
    }),
  )
  opening.refuseVariables(section.tools, ['tools'])
  const { origin, host } = new URL(url)
  return new McpSource({
    group: opening.group,
    isHttp: true,
    destination: origin,
    credential: credentialOf(headers),
    // Another address from the same variable may be another tenant. It may hold a key, so only its slow hash is kept.
    written: { url: section.url, ...(url !== section.url && { filled: credentialOf({ url }) }) },
    known: section.as ? KNOWN_SERVERS[section.as] : knownServer([host]),
    tools: section.tools,
    timeoutMs: section.timeoutMs,
    startWithinMs: section.startWithinMs,
    trustReadOnlyHints: section.trustReadOnlyHints,
    secrets: [...secrets, ...secretHeaders(headers)],
    pace,
    openTransport: () => httpTransport({ url, headers }, opening.network),
  })
}
