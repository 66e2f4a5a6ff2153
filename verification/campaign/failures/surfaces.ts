import { type Failure, plant } from './planted-failure.ts'

const CHECKPOINT_TEST = 'verification/acceptance/checkpoint.more.test.ts'
const ARCHIVE_SCHEDULE_TEST = 'verification/acceptance/archive-schedule.test.ts'
const QUERY_PARAMETERS_TEST = 'verification/acceptance/query-parameters.test.ts'
const METRICS_TEST = 'verification/acceptance/metrics.test.ts'
const INBOX_COMMAND_TEST = 'verification/acceptance/inbox-command.more.test.ts'
const TAIL_COMMAND_TEST = 'verification/acceptance/tail-command.more.test.ts'

/** Failures between a caller and the gate. */
export const SURFACES: readonly Failure[] = [
  {
    whose: 'ours',
    failure: 'Reading a request ran it, or showed somebody else’s',
    held: 'a request is visible with its session, and reading changes nothing: agent/requests.ts, request-answer.ts',
    bugs: [
      plant('anybody reads any request', [
        CHECKPOINT_TEST,
        'agents execute their own requests, persons approve, and nobody else learns that there is one',
      ]),
      plant('a held request is said to run', [
        CHECKPOINT_TEST,
        'a request runs when it is executed: to the next pause, with its checkpoint, and from there to its end',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'The archive ran in every process, after every restart, or never',
    held: 'all processes share one round, scheduled in the database: archive/schedule.ts',
    bugs: [
      plant('a round is not counted', [
        ARCHIVE_SCHEDULE_TEST,
        'the server archives on its schedule: once for all processes, counted on through restarts, with a row in the record',
      ]),
      plant('a held server archives', [
        ARCHIVE_SCHEDULE_TEST,
        'a schedule that finds nothing writes no row, and one that is held changes nothing',
      ]),
      plant('a round that finds nothing writes a row', [
        ARCHIVE_SCHEDULE_TEST,
        'a schedule that finds nothing writes no row, and one that is held changes nothing',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'A misspelt filter returned everything',
    held: 'a route refuses unknown query parameters: http/known-query.ts',
    bugs: [
      plant('a route that takes no query takes any', [
        QUERY_PARAMETERS_TEST,
        'a query parameter that a route does not take is 400 with its name, on every route of the document',
      ]),
      plant('a stranger is told what a route takes', [
        QUERY_PARAMETERS_TEST,
        'what a route takes is taken, whatever its value; a stranger is not told what it takes',
      ]),
      plant('an unknown name is repeated at any length', [
        QUERY_PARAMETERS_TEST,
        'whatever a parameter is called, an unknown one is refused and never shown whole when it is long',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'The terminal decided an action it had not shown, or reported success wrongly',
    held: 'a decision applies to what was shown, and the exit code reports it: cli/inbox.ts',
    bugs: [
      plant('the terminal does not show with what a tool is called', [
        INBOX_COMMAND_TEST,
        '`inbox` at a terminal shows each action whole and takes a letter for it',
      ]),
      plant('who comes too late is told that all is well', [
        INBOX_COMMAND_TEST,
        '`inbox` shows what waits, `approve` and `decline` decide it, and the exit code says whether it was done',
      ]),
      plant('the terminal lists what the person may not decide', [
        INBOX_COMMAND_TEST,
        '`inbox` lists what the person may decide, and not what they only see',
      ]),
      plant('the terminal prints events without their ids', [
        TAIL_COMMAND_TEST,
        '`tail` prints what happens as it happens, one JSON object a line with --json',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'A monitoring key read tool results, because proposing needed no role',
    held: 'a caller with only the role monitor is refused on every route but /metrics: identity/authenticate.ts',
    bugs: [
      plant('a service that only monitors may propose', [
        METRICS_TEST,
        'the metrics say nothing of what is in an action, and only admins, viewers and services that monitor read them',
      ]),
    ],
  },
]
