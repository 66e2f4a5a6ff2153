import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Model, PolicyDocument, Principal } from '@countersign/core'
import { defineTool, type Engine, openConfig, openEngine } from 'countersign'
import { pino } from 'pino'
import { z } from 'zod'

export const person: Principal = { id: 'prn_bench', kind: 'person', name: 'Bench', roles: ['admin', 'approver'] }

/** The message that is answered at once, without an action. */
export const ONLY_TALK = 'hello'

/** Proposes one action per message and answers once it has the result: the shortest run with an approval. */
const shortestRun: Model = {
  id: 'scripted/bench',
  async *stream({ messages }) {
    const last = messages.at(-1)
    if (last?.role === 'tool' || (last?.role === 'user' && last.content === ONLY_TALK)) {
      yield { type: 'text', delta: 'Done.' }
      yield { type: 'finish', reason: 'stop' }
      return
    }
    yield { type: 'tool_call', key: '0', name: 'setStatus', argumentsText: '{"orderId":"ORD-001","status":"processing"}' }
    yield { type: 'finish', reason: 'tool_calls' }
  },
}

/** Comparable between the processes of one machine. */
export const nowMs = (): number => performance.timeOrigin + performance.now()

const preview = async ({ status }: { status: string }) => [{ field: 'status', oldValue: 'pending', newValue: status }]

/** The tool of the gated cycles. Its result says when it started. */
export const statusTool = ({ resultBytes = 0, hasPreview = true }: Pick<BenchOptions, 'resultBytes' | 'hasPreview'> = {}) =>
  defineTool({
    name: 'setStatus',
    description: 'Sets the status of an order',
    input: z.object({ orderId: z.string(), status: z.string() }),
    effect: 'write',
    describe: ({ orderId, status }) => `Set order ${orderId} to ${status}`,
    ...(hasPreview && { preview }),
    execute: async () => ({ atMs: nowMs(), ...(resultBytes > 0 && { text: 'x'.repeat(resultBytes) }) }),
  })

export interface Bench {
  engine: Engine
  dataDir: string
  close(): Promise<void>
}

export interface BenchOptions {
  /** How large the result of the tool is, default a few bytes. */
  resultBytes?: number
  /** How many tools the agent has, default one. */
  tools?: number
  /** False for a tool without a preview, which is not read again before it starts. Default true. */
  hasPreview?: boolean
}

/**
 * The engine as `serve` opens it: on a fresh folder of the disk (SQLite, WAL, an fsync on every commit), or on a Postgres.
 * @param url Of the Postgres database.
 * @param policy Default: what stands when none is configured.
 */
export async function openBench(
  url?: string,
  policy?: PolicyDocument,
  { resultBytes = 0, tools: count = 1, hasPreview = true }: BenchOptions = {},
): Promise<Bench> {
  const dataDir = await mkdtemp(join(tmpdir(), 'countersign-bench-'))
  const setStatus = statusTool({ resultBytes, hasPreview })
  const others = Array.from({ length: count - 1 }, (_, i) =>
    defineTool({
      name: `setField${i}`,
      description: `Sets field ${i} of an order`,
      input: z.object({ orderId: z.string(), value: z.string(), note: z.string().optional() }),
      effect: 'write',
      execute: async () => ({ ok: true }),
    }),
  )
  const configured = await openConfig(
    { tools: { shop: { prefix: false, tools: [setStatus, ...others] } } },
    { environment: {}, folder: dataDir },
  )
  const { tools } = configured
  const agent = {
    name: 'desk',
    model: shortestRun,
    instructions: '',
    tools: tools.all(),
    maxSteps: 20,
    actionsPerStep: 'many' as const,
    onDecline: 'continue' as const,
    suggestions: [],
  }
  const database = url === undefined ? { kind: 'sqlite' as const, dataDir } : { kind: 'postgres' as const, url }
  const engine = await openEngine({ database, agents: [agent], tools, policy: policy ?? configured.policy, log: pino({ level: 'silent' }) })
  await engine.savePrincipal(person)
  return {
    engine,
    dataDir,
    async close() {
      await engine.close()
      await rm(dataDir, { recursive: true })
    },
  }
}
