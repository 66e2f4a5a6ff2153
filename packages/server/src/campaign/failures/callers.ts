import { type Failure, plant } from './planted-failure.ts'

const D0_BRAIN_TEST = 'packages/server/src/acceptance/d0-brain.test.ts'
const D0_ORIGINS_TEST = 'packages/server/src/acceptance/d0-origins.test.ts'
const DEADLINES_TEST = 'packages/server/src/acceptance/deadlines.test.ts'

/** What brains, pages and agents could be told or given. */
export const CALLERS: readonly Failure[] = [
  {
    whose: 'ours',
    failure: 'A remote brain got no secret of its own, or its secret was in an answer',
    held: 'headers of a brain are filled from the environment and known as secrets: config/remote.ts',
    bugs: [
      plant(
        'a remote brain does not get its headers',
        ['packages/server/src/models/remote-brain.ts', "headers: { ...options.headers, 'content-type'", "headers: { 'content-type'"],
        [D0_BRAIN_TEST, 'D0.1 a remote brain gets its own headers, and hears the session, who wrote and which agent it is'],
      ),
      plant(
        'the values of its headers are no secrets',
        [
          'packages/server/src/config/remote.ts',
          'secrets: [...secrets.filter((one) => one !== address), ...secretHeaders(headers)]',
          'secrets: []',
        ],
        [D0_BRAIN_TEST, 'D0.1 the secret of a remote brain is in no row, no answer and no log, even when the brain repeats it'],
      ),
    ],
  },
  {
    whose: 'ours',
    failure: 'A page of another origin used the console of whoever opened it',
    held: 'only listed origins read answers, only with a key: http/cors.ts',
    bugs: [
      plant(
        'a listed origin reads what the console’s sign-in answers',
        ['packages/server/src/http/cors.ts', ' || isConsole(request)) return', ') return'],
        [D0_ORIGINS_TEST, 'D0.1 a console behind https that is signed in with a cookie stays unreadable to a listed origin'],
      ),
      plant(
        'an origin that begins like a listed one is allowed',
        ['packages/server/src/http/cors.ts', '!origins.has(origin)', '![...origins].some((one) => origin.startsWith(one))'],
        [D0_ORIGINS_TEST, 'D0.1 only the very origins of the list are allowed, only under /api, and by default none'],
      ),
      plant(
        'a listed origin reads addresses outside of the API',
        ['packages/server/src/http/cors.ts', "if (!request.url.startsWith('/api/')) return", "if (!request.url.startsWith('/')) return"],
        [D0_ORIGINS_TEST, 'D0.1 only the very origins of the list are allowed, only under /api, and by default none'],
      ),
    ],
  },
  {
    whose: 'ours',
    failure: 'Approvals waited for good, although a line of the policy said when they end',
    held: '`expires` of the document holds for what no rule says otherwise about: core policy/evaluate.ts',
    bugs: [
      plant(
        '`expires` of the document holds for the default only',
        ['packages/core/src/policy/evaluate.ts', 'expiryOf(rule.expires ?? policy.expires)', 'expiryOf(rule.expires)'],
        [DEADLINES_TEST, 'D2.5 one line, `expires`, ends every approval that no rule says otherwise about'],
      ),
      plant(
        '`expires` of the document holds for rules only',
        ['packages/core/src/policy/evaluate.ts', "  ...(verdict === 'ask' && expiryOf(expires)),\n", ''],
        [DEADLINES_TEST, 'D2.5 one line, `expires`, ends every approval that no rule says otherwise about'],
      ),
    ],
  },
  {
    whose: 'ours',
    failure: 'An agent was refused and not told why',
    held: 'the reason of a deny rule is what the model hears: core policy/evaluate.ts, gate/tool-result.ts',
    bugs: [
      plant(
        'the reason of a rule is left out',
        ['packages/core/src/policy/evaluate.ts', `const said = rule.reason === undefined ? '' : \`: \${rule.reason}\``, "const said = ''"],
        [DEADLINES_TEST, 'D2.5 a deny rule says why, and the model hears it as the tool’s result'],
      ),
      plant(
        'a model hears of a denial as of a decline without a reason',
        [
          'packages/server/src/gate/tool-result.ts',
          "reason ?? JSON.parse(row.policy).reason ?? 'User declined'",
          "reason ?? 'User declined'",
        ],
        [DEADLINES_TEST, 'D2.5 a deny rule says why, and the model hears it as the tool’s result'],
      ),
    ],
  },
]
