import { type Failure, plant } from './planted-failure.ts'

const TWO_CALLS = [
  'verification/acceptance/histories.more.test.ts',
  'with openai-chat/m, two calls of one step, one approved and one declined (approved first), make a history that the provider takes',
] as const

/** Calls of one step are lost or mixed up, the model’s history breaks, what waits is gone after a reload. */
export const HISTORIES: readonly Failure[] = [
  {
    whose: 'langchainjs #11125, PRs #11391, #10186',
    failure: 'One reject dropped the calls that were approved beside it',
    held: 'each call of a step is an action of its own; a decline ends the run only where the agent is told so: gate/decide/decide.ts',
    bugs: [
      plant('a decline stops the rest', [
        'verification/acceptance/histories.more.test.ts',
        'with openai-chat/m, two calls of one step, one approved and one declined (declined first), make a history that the provider takes',
      ]),
    ],
  },
  {
    whose:
      'mastra #24377; MS agent-framework #6910, #7692; openai-agents-python #3004; supabase PR #47008; letta-code #101; rancher-ai #136',
    failure: 'Of several calls in one step the others hung, were lost, denied, or ran again',
    held: 'the step stores all its calls in one transaction, and the model is asked when the last is settled: agent/outcome.ts, agent/advance.ts',
    bugs: [
      plant('all calls but the first are refused', [
        'verification/acceptance/d0.test.ts',
        'every require-action of one answer becomes a card of its own, with its state in the database',
      ]),
      plant('the model is asked when the first call is settled', TWO_CALLS),
      plant('results stand in the order in which they came', [
        'verification/acceptance/parallel.more.test.ts',
        'thirty reads of one step: eight at a time, and the model gets all results in the order of its calls',
      ]),
    ],
  },
  {
    whose: 'mastra #14931, #15476, #14818; CopilotKit #2418; assistant-ui #5046; pydantic-ai #4830; openai-agents-js #365',
    failure: 'What waited for approval was gone after a reload',
    held: 'cards are made of rows: lists, messages and snapshots all name what waits: gate/read/view.ts, client stores',
    bugs: [
      plant('a message comes without its actions', [
        'verification/acceptance/d1.test.ts',
        'a restart on the same data shows every card in its state, with its message',
      ]),
      plant('a session does not say what waits in it', [
        'verification/acceptance/d4.more.test.ts',
        'a session is idle, active, waiting, completed or in error, and lists what waits',
      ]),
    ],
  },
  {
    whose: 'vercel/ai #12973, #12709, #13057; cloudflare/agents #955; eve #236; openai-agents-js #1435; OpenHands #11871; pi #4189',
    failure: 'The provider refused a history with a call that had no result: declined, expired, or typed past',
    held: 'every end of an action writes its one result, a message waits until all have theirs, and a broken history is not sent: gate/events.ts, models/history.ts',
    bugs: [
      plant('a decline leaves its call without a result', TWO_CALLS),
      plant('an expiry leaves its call without a result', [
        'packages/server/src/gate/decide/expire.test.ts',
        'passes: the action is expired, the model is told Timeout and goes on',
      ]),
      plant('a cancel leaves its calls without results', [
        'verification/acceptance/histories.more.test.ts',
        'with every provider, a cancelled run leaves a history that the next message can go on with',
      ]),
      plant('what is typed during a wait goes to the model at once', [
        'verification/acceptance/queue.test.ts',
        'messages that come during a wait are queued, and the next run takes them all in their order',
      ]),
      plant('a history with a call that has no result is sent', [
        'packages/server/src/models/history.test.ts',
        'a history with a call that has no result, two results, or a result without a call is refused before anything is sent',
      ]),
      plant('the model is told twice of an action that is tried again', [
        'verification/acceptance/outcome.test.ts',
        'what a person found not done may be tried again: under the same key, and the stream tells all of it',
      ]),
    ],
  },
  {
    whose: 'vercel/ai #21193',
    failure: 'A call of an earlier message could not be approved any more: it stayed pending',
    held: 'an action is found by its id, wherever its message stands: agent/messages.ts, gate/decide/decide.ts',
    bugs: [
      plant('only the latest call can be named', [
        'verification/acceptance/d4.more.test.ts',
        'with two waiting, "yes" decides nothing and says so; naming one decides that one',
      ]),
    ],
  },
  {
    whose: 'mastra #17738',
    failure: 'A suspended run was stored as 170 MB: four copies of its stream',
    held: 'rows and events only; the pieces of a message go when the message is whole: agent/outcome.ts',
    bugs: [
      plant('the pieces of a whole message are kept', [
        'verification/acceptance/d3.test.ts',
        'wherever a reader was cut off, what it reads on with makes it know what the API says',
      ]),
    ],
  },
]
