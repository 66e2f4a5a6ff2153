import { type Failure, plant } from './planted-failure.ts'

const TWO_CALLS = [
  'verification/acceptance/histories.more.test.ts',
  'with openai-chat/m, two calls of one step, one approved and one declined (approved first), make a history that the provider takes',
] as const

/** Calls of one step are lost or mixed up, the model’s history breaks, what waits is gone after a reload. */
export const HISTORIES: readonly Failure[] = [
  {
    whose: 'langchainjs #11125, PRs #11391, #10186',
    failure: 'One rejection dropped the approved calls beside it',
    held: 'each call of a step is its own action; a decline ends the run only if the agent is configured so: gate/decide/decide.ts',
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
    failure: 'Of several calls in one step the others hung, were lost, were denied or ran again',
    held: 'one transaction stores all calls of a step, and the model continues when the last has settled: agent/outcome.ts, agent/advance.ts',
    bugs: [
      plant('all calls but the first are refused', [
        'verification/acceptance/shop-agent.test.ts',
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
    failure: 'Waiting approvals were gone after a reload',
    held: 'cards come from rows: lists, messages and snapshots name every waiting action: gate/read/view.ts, client stores',
    bugs: [
      plant('a message comes without its actions', [
        'verification/acceptance/action-lifecycle.test.ts',
        'a restart on the same data shows every card in its state, with its message',
      ]),
      plant('a session does not say what waits in it', [
        'verification/acceptance/chat-decisions.more.test.ts',
        'a session is idle, active, waiting, completed or in error, and lists what waits',
      ]),
    ],
  },
  {
    whose: 'vercel/ai #12973, #12709, #13057; cloudflare/agents #955; eve #236; openai-agents-js #1435; OpenHands #11871; pi #4189',
    failure: 'The provider refused a history with a call without result: declined, expired or skipped',
    held: 'every end of an action writes one result, messages wait for all results, and a broken history is not sent: gate/events.ts, models/history.ts',
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
    failure: 'A call of an earlier message could not be approved and stayed pending',
    held: 'an action is found by its id, wherever its message is: agent/messages.ts, gate/decide/decide.ts',
    bugs: [
      plant('only the latest call can be named', [
        'verification/acceptance/chat-decisions.more.test.ts',
        'with two waiting, "yes" decides nothing and says so; naming one decides that one',
      ]),
    ],
  },
  {
    whose: 'mastra #17738',
    failure: 'A suspended run was stored as 170 MB: four copies of its stream',
    held: 'only rows and events are stored; message pieces are deleted when the message is complete: agent/outcome.ts',
    bugs: [
      plant('the pieces of a whole message are kept', [
        'verification/acceptance/resumed-readers.test.ts',
        'wherever a reader was cut off, what it reads on with makes it know what the API says',
      ]),
    ],
  },
]
