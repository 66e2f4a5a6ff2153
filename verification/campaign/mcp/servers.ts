import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Action } from '@countersign/core'
import type { ConfigInput } from '../../../packages/server/src/config/index.ts'
import { mcpStarter } from '../../../packages/tools-mcp/src/starter.ts'
import { type ChildServer, startChildServer } from '../../testing/child-server.ts'
import { counterpart } from '../../testing/counterparts.ts'
import { freePort } from '../../testing/free-port.ts'

const node = process.execPath
const PATIENCE_MS = 60_000

/** A published server: something of it that reads, something that writes, and how to see how often that was done. */
interface Trial {
  mcp: NonNullable<Extract<NonNullable<ConfigInput['tools']>[string], { mcp: unknown }>>['mcp']
  read: [tool: string, args: object]
  write: [tool: string, args: object]
  /** How often the write was carried out. */
  done(): Promise<number>
  /** Part of the command line that its process is known by. */
  process: string
}

async function trials(folder: string, everythingUrl: string): Promise<Record<string, Trial>> {
  const file = join(folder, 'a.txt')
  const graph = join(folder, 'graph.jsonl')
  const repository = join(folder, 'repository')
  await writeFile(file, 'one')
  execFileSync('git', ['init', '-q', repository])
  const everything = counterpart('@modelcontextprotocol/server-everything/dist/index.js')
  const files = counterpart('@modelcontextprotocol/server-filesystem/dist/index.js')
  const memory = counterpart('@modelcontextprotocol/server-memory/dist/index.js')
  const git = counterpart('@cyanheads/git-mcp-server/dist/index.js')
  return {
    everything: {
      mcp: { command: node, args: [everything, 'stdio'] },
      read: ['get-sum', { a: 2, b: 3 }],
      write: ['simulate-research-query', { topic: 'approvals' }],
      done: async () => 1,
      process: `${everything} stdio`,
    },
    everything_http: {
      mcp: { url: everythingUrl, as: 'everything' },
      read: ['get-sum', { a: 2, b: 3 }],
      write: ['simulate-research-query', { topic: 'approvals' }],
      done: async () => 1,
      process: `${everything} streamableHttp`,
    },
    filesystem: {
      mcp: { command: node, args: [files, folder] },
      read: ['read_text_file', { path: file }],
      write: ['write_file', { path: file, content: 'two' }],
      done: async () => ((await readFile(file, 'utf8')) === 'two' ? 1 : 0),
      process: files,
    },
    memory: {
      mcp: { command: node, args: [memory], env: { MEMORY_FILE_PATH: graph } },
      read: ['read_graph', {}],
      write: ['create_entities', { entities: [{ name: 'Ana', entityType: 'person', observations: ['approves'] }] }],
      done: async () => (await readFile(graph, 'utf8').catch(() => '')).split('"Ana"').length - 1,
      process: memory,
    },
    git: {
      mcp: { command: node, args: [git], env: { GIT_USERNAME: 'Ana', GIT_EMAIL: 'ana@example.com', GIT_SIGN_COMMITS: 'false' } },
      read: ['git_status', { path: repository }],
      write: ['git_commit', { path: repository, message: 'Once', allowEmpty: true, author: { name: 'Ana', email: 'ana@example.com' } }],
      done: async () => Number(execFileSync('git', ['-C', repository, 'rev-list', '--count', '--all']).toString()),
      process: git,
    },
  }
}

export interface TrialResult {
  server: string
  tools: number
  problems: string[]
}

/** Puts each published server behind a running Countersign: reads run, writes ask and are carried out once, a killed server comes back. */
export async function tryServers(say: (line: string) => void): Promise<TrialResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'campaign-mcp-'))
  const everything = await startEverything()
  try {
    const servers = await trials(folder, everything.url)
    const config = {
      tools: Object.fromEntries(Object.entries(servers).map(([name, { mcp }]) => [name, { mcp }])),
      policy: { rules: Object.keys(servers).flatMap(mcpStarter) },
    }
    const configFile = join(folder, 'countersign.json')
    await writeFile(configFile, JSON.stringify(config))
    const environment = { PATH: process.env.PATH ?? '', HOME: folder }
    await using server = await startChildServer({ configFile, dataDir: join(folder, 'data'), environment })
    const results: TrialResult[] = []
    for (const [name, trial] of Object.entries(servers)) {
      const kill = name === 'everything_http' ? everything.killAndStart : () => killChild(server.pid, trial.process)
      const result = await tryServer(server, name, trial, kill)
      results.push(result)
      say(`mcp: ${name}: ${result.tools} tools, ${result.problems.length} problems`)
    }
    return results
  } finally {
    await everything.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function tryServer({ admin }: ChildServer, name: string, trial: Trial, kill: () => Promise<void>): Promise<TrialResult> {
  const problems: string[] = []
  const expect = (is: boolean, words: string) => is || problems.push(`${name}: ${words}`)
  const propose = ([tool, args]: [string, object]): Promise<Action> =>
    admin.post('/api/actions', { tool: `${name}.${tool}`, arguments: args })
  const ended = async ({ id }: Action): Promise<Action> => {
    for (let waitedMs = 0; ; waitedMs += 50) {
      const action: Action = await admin.get(`/api/actions/${id}`)
      if (!['approved', 'executing'].includes(action.state) || waitedMs > PATIENCE_MS) return action
      await pause(50)
    }
  }
  const { items } = await admin.get('/api/tools')
  const tools = items.filter((tool: { name: string }) => tool.name.startsWith(`${name}.`)).length
  const read = await ended(await propose(trial.read))
  expect(read.state === 'succeeded' && read.policy.verdict === 'allow', `a read is ${read.state}: ${JSON.stringify(read.error)}`)
  const asked = await propose(trial.write)
  expect(asked.state === 'proposed', `a write is ${asked.state} before anybody decided`)
  await admin.post(`/api/actions/${asked.id}/decision`, { verdict: 'approve', revision: asked.revision, digest: asked.digest })
  const written = await ended(asked)
  expect(written.state === 'succeeded' && written.attempt === 1, `an approved write is ${written.state}: ${JSON.stringify(written.error)}`)
  const times = await trial.done()
  expect(times === 1, `an approved write was carried out ${times} times`)
  await kill()
  let again = await ended(await propose(trial.read))
  for (let waitedMs = 0; again.state !== 'succeeded' && waitedMs < PATIENCE_MS; waitedMs += 200) {
    await pause(200)
    again = await ended(await propose(trial.read))
  }
  expect(again.state === 'succeeded', `after kill -9 a read is ${again.state}: ${JSON.stringify(again.error)}`)
  return { server: name, tools, problems }
}

/** Kills the child of a process that was started with these words. */
async function killChild(parent: number, words: string): Promise<void> {
  const threads = await readdir(`/proc/${parent}/task`)
  const children = await Promise.all(threads.map((thread) => readFile(`/proc/${parent}/task/${thread}/children`, 'utf8').catch(() => '')))
  for (const pid of children.join(' ').trim().split(/\s+/)) {
    const line = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ')
    if (!line.includes(words)) continue
    process.kill(Number(pid), 'SIGKILL')
    return
  }
  throw new Error(`there is no process of ${words}`)
}

/** `server-everything` over Streamable HTTP, in a process of its own. */
export async function startEverything() {
  const port = await freePort()
  const start = async () => {
    const file = counterpart('@modelcontextprotocol/server-everything/dist/index.js')
    const child = spawn(node, [file, 'streamableHttp'], {
      env: { PATH: process.env.PATH, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    for await (const chunk of child.stderr) if (String(chunk).includes('listening')) break
    return child
  }
  let child = await start()
  const stop = async () => {
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    stop,
    async killAndStart() {
      await stop()
      child = await start()
    },
  }
}
