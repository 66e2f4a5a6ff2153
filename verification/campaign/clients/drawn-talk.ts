import fc from 'fast-check'
import type { ConfigInput } from '../../../packages/server/src/config/index.ts'
import type { ScriptStep } from '../../../packages/server/src/models/index.ts'
import { type Target, toolsOf } from '../../testing/target.ts'

/** The decision about an action that waits: on the page, or by another person elsewhere. `say` writes a message before it is approved. */
const ANSWERS = ['approve', 'decline', 'decline with a reason', 'approve elsewhere', 'edit elsewhere', 'decline elsewhere', 'say'] as const
export type Answer = (typeof ANSWERS)[number]

/** One message of a person, what the agent does about it, and how the actions that wait are answered, in turn. */
export interface DrawnTurn {
  says: string
  steps: ScriptStep[]
  answers: Answer[]
}

// Words that a reader of frames could take for its own, and texts whose characters are several bytes or several characters.
const HARD = [
  ...['data: {"type":"finish"}', 'line\r\n\r\ndata: [DONE]\n\n', ': comment', '\u2028 and \u2029', '\ufeffstart', '[DONE]', '"quoted\\"'],
  ...['👩‍👩‍👧‍👦 fam', 'שלום עולם', 'e\u0301te\u0301', '漢字かな', '\u001b[2J red', '<script>alert(1)</script>', '{"error":"x"}', '   '],
]
const words = fc.oneof(fc.constantFrom(...HARD), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }), fc.lorem({ maxCount: 6 }))
const said = words.filter((text) => text.trim() !== '')

type ScriptCall = NonNullable<ScriptStep['calls']>[number]

/** A call: most wait, some are read, refused by policy, refused by the tool's schema, answered with an error, or of a tool that is not there. */
const call: fc.Arbitrary<ScriptCall> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ tool: fc.constant('keyed'), arguments: fc.record({ what: words }) }) },
  { weight: 2, arbitrary: fc.record({ tool: fc.constant('look'), arguments: fc.record({ what: fc.constantFrom('x', 'y', 'broken') }) }) },
  fc.constantFrom<ScriptCall[]>(
    { tool: 'keyed', arguments: { what: 'frozen' } },
    { tool: 'keyed', arguments: { what: 5 } },
    { tool: 'keyed', arguments: { what: 'broken' } },
    { tool: 'not_there', arguments: {} },
  ),
)
const step = fc.record(
  { reasoning: words, text: words, calls: fc.array(call, { minLength: 1, maxLength: 3 }) },
  { requiredKeys: ['calls'] },
)
const last = fc.record({ reasoning: words, text: said }, { requiredKeys: ['text'] })
const turn = fc
  .record({
    says: said,
    steps: fc.array(step, { maxLength: 2 }),
    last,
    answers: fc.array(fc.constantFrom(...ANSWERS), { minLength: 1, maxLength: 5 }),
  })
  .map(({ steps, last, ...rest }): DrawnTurn => ({ ...rest, steps: [...steps, last] }))

/** Draws conversations of one to three messages. */
export const drawTalks = (seed: number, count: number): DrawnTurn[][] =>
  fc.sample(fc.array(turn, { minLength: 1, maxLength: 3 }), { seed, numRuns: count })

/** One agent for each conversation, named `talk-<n>`, and the given ones. After the drawn steps it answers whatever else is said. */
export function talkSetup(
  target: Target,
  talks: readonly DrawnTurn[][],
  agents: Record<string, ScriptStep[]>,
): { config: ConfigInput; scripts: Record<string, ScriptStep[]> } {
  const names = [...talks.map((_, at) => `talk-${at}`), ...Object.keys(agents)]
  return {
    config: {
      agents: Object.fromEntries(names.map((name) => [name, { model: `scripted/${name}.json`, tools: ['*'] }])),
      tools: toolsOf(target),
      policy: {
        rules: [
          { name: 'frozen', match: { tool: 'keyed', when: 'args.what == "frozen"' }, verdict: 'deny', reason: 'Books are closed' },
          { name: 'reads run', match: { effect: 'read' }, verdict: 'allow' },
        ],
      },
    },
    scripts: {
      ...agents,
      ...Object.fromEntries(
        talks.map((turns, at) => [
          `talk-${at}`,
          [...turns.flatMap(({ steps }) => steps), ...Array.from({ length: SPARE }, () => ({ text: 'And that.' }))],
        ]),
      ),
    },
  }
}

const SPARE = 20
