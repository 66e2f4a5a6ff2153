import type { ConfigInput } from '../../../packages/server/src/config/index.ts'
import type { ScriptStep } from '../../../packages/server/src/models/index.ts'
import { type Target, toolsOf } from '../../testing/target.ts'

/** The rounds of messages and decisions in one session. */
export const ROUNDS = 3

const WORDS = 'Schöne Grüße, 你好, 🙂 and some plain words that are long enough to be cut anywhere.'

const call = (tool: string, what: string) => ({ tool, arguments: { what } })

const stepsOf = (chunkDelayMs: number): ScriptStep[] =>
  Array.from({ length: ROUNDS }, (_, round): ScriptStep[] => [
    {
      reasoning: WORDS,
      text: WORDS,
      chunkDelayMs,
      calls: [call('look', `${round}`), call('keyed', `a${round}`), call('unkeyed', `b${round}`)],
    },
    { text: `${WORDS} ${WORDS}`, chunkDelayMs },
  ]).flat()

/**
 * A configuration in which an agent talks, looks and asks in every round, and the script `talk` that it follows.
 * @param chunkDelayMs The pause before each word.
 */
export const streamsSetup = (target: Target, chunkDelayMs = 3): { config: ConfigInput; scripts: { talk: ScriptStep[] } } => ({
  config: { agents: { desk: { model: 'scripted/talk.json', tools: ['*'] } }, tools: toolsOf(target) },
  scripts: { talk: stepsOf(chunkDelayMs) },
})
