import { type Failure, plant } from './planted-failure.ts'

const D0_BRAIN_TEST = 'verification/acceptance/brain.test.ts'
const D0_ORIGINS_TEST = 'verification/acceptance/origins.test.ts'
const DEADLINES_TEST = 'verification/acceptance/deadlines.test.ts'

/** Failures in the messages and answers that brains, pages and agents get. */
export const CALLERS: readonly Failure[] = [
  {
    whose: 'ours',
    failure: 'A remote brain got no secret of its own, or its secret was in an answer',
    held: 'headers of a brain come from the environment and are redacted as secrets: config/remote.ts',
    bugs: [
      plant('a remote brain does not get its headers', [
        D0_BRAIN_TEST,
        'a remote brain gets its own headers, and hears the session, who wrote and which agent it is',
      ]),
      plant('the values of its headers are no secrets', [
        D0_BRAIN_TEST,
        'the secret of a remote brain is in no row, no answer and no log, even when the brain repeats it',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'A page of another origin used a signed-in console',
    held: 'only listed origins read answers, and only with a key: http/cors.ts',
    bugs: [
      plant('a listed origin reads what the console’s sign-in answers', [
        D0_ORIGINS_TEST,
        'a console behind https that is signed in with a cookie stays unreadable to a listed origin',
      ]),
      plant('an origin that begins like a listed one is allowed', [
        D0_ORIGINS_TEST,
        'only the very origins of the list are allowed, only under /api, and by default none',
      ]),
      plant('a listed origin reads addresses outside of the API', [
        D0_ORIGINS_TEST,
        'only the very origins of the list are allowed, only under /api, and by default none',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'Approvals waited forever although the policy set a deadline',
    held: '`expires` of the document applies where no rule sets one: core/src/policy/evaluate.ts',
    bugs: [
      plant('`expires` of the document holds for the default only', [
        DEADLINES_TEST,
        'one line, `expires`, ends every approval that no rule says otherwise about',
      ]),
      plant('`expires` of the document holds for rules only', [
        DEADLINES_TEST,
        'one line, `expires`, ends every approval that no rule says otherwise about',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'An agent was denied without a reason',
    held: 'the model gets the reason of the deny rule: core/src/policy/evaluate.ts, gate/execute/tool-result.ts',
    bugs: [
      plant('the reason of a rule is left out', [DEADLINES_TEST, 'a deny rule says why, and the model hears it as the tool’s result']),
      plant('a model hears of a denial as of a decline without a reason', [
        DEADLINES_TEST,
        'a deny rule says why, and the model hears it as the tool’s result',
      ]),
    ],
  },
]
