import type { JsonValue } from '@countersign/core'
import type { ConfigInput } from '../../packages/server/src/config/index.ts'
import { type Replay, startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import { type BrainSpeech, brainSays } from './brain-says.ts'
import { type ShiftedClock, shiftedClock } from './shifted-clock.ts'
import { startTarget, type Target, type TargetAnswer, type TargetRequest, toolsOf } from './target.ts'
import { startTestServer, type TestServer } from './test-server.ts'

/** A server with one agent that says what it is given, and the target of its tools; what the agent was told is in `brain.requests`. */
export interface Talk extends AsyncDisposable {
  server: TestServer
  target: Target
  brain: Replay
  /** Puts the server's clock forward by a second: what is shown has been shown long enough for a typed word. */
  letPeopleRead(): void
}

export interface TalkOptions {
  /** The answers of the agent's model, a remote brain, one after the other. */
  says: readonly BrainSpeech[]
  /** The answer of the target; default 200 with `{id: 1}`. */
  answer?(request: TargetRequest, nth: number): TargetAnswer | Promise<TargetAnswer>
  agent?: { maxSteps?: number; actionsPerStep?: 'one' | 'many'; onDecline?: 'continue' | 'stop' }
  policy?: NonNullable<ConfigInput['policy']>
  /** Default: this machine's, which {@link Talk.letPeopleRead} puts forward. */
  clock?: ShiftedClock
}

/** Starts target, stand-in brain and server. The tools are those of {@link toolsOf}. */
export async function startTalk({
  says,
  answer = () => ({ status: 200, body: { id: 1 } }),
  agent,
  policy,
  clock,
}: TalkOptions): Promise<Talk> {
  const stack = new AsyncDisposableStack()
  const time = clock ?? shiftedClock()
  const target = stack.use(await startTarget(answer))
  const brain = stack.use(await startReplayServer()).play(says.map(brainSays))
  const server = stack.use(
    await startTestServer({
      clock: time,
      config: {
        agents: { desk: { model: `remote/${brain.baseUrl}`, tools: ['*'], ...agent } },
        tools: toolsOf(target),
        ...(policy !== undefined && { policy }),
      },
    }),
  )
  return { server, target, brain, letPeopleRead: () => time.pass(1_000), [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

/** A call of a tool of {@link toolsOf}, for {@link BrainSpeech}. */
export const call = (id: string, tool: string, what: JsonValue) => ({ id, tool, input: { what } })
