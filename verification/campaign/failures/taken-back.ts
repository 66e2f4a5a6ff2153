import { type Failure, plant } from './planted-failure.ts'

const WITHDRAW_TEST = 'verification/acceptance/withdraw.test.ts'
const MCP_CLOSED_TEST = 'verification/acceptance/mcp-closed.more.test.ts'
const MCP_ONCE_TEST = 'verification/acceptance/mcp-once.more.test.ts'
const ONE_KEY_TEST = 'packages/server/src/gate/execute/one-key.test.ts'

/** Failures where a withdrawn action, or one of unknown outcome, ran all the same. */
export const TAKEN_BACK: readonly Failure[] = [
  {
    whose: 'ours',
    failure: 'Somebody else withdrew an action, or a withdrawn action still ran',
    held: 'only the proposer withdraws, in one guarded update: gate/decide/withdraw.ts, store/tables/actions.ts',
    bugs: [
      plant('anybody who sees an action withdraws it', [
        WITHDRAW_TEST,
        'an agent withdraws what it proposed: the card says so, the record and the stream too, and saying it again changes nothing',
      ]),
      plant('what has started is withdrawn', [
        WITHDRAW_TEST,
        'what has started, or was decided against, is not withdrawn: 409 with the action as it is',
      ]),
      plant('the model does not hear that its call was withdrawn', [
        WITHDRAW_TEST,
        'the owner of a session withdraws what its agent asked: the model hears it as the result, and its run goes on',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'A client cancelled its call, and people were still asked',
    held: 'a call can be cancelled on any process, and by closing the connection where the protocol says so: gateway/held-requests.ts',
    bugs: [
      plant('a message takes back only what is held at that moment', [
        MCP_CLOSED_TEST,
        'in the older protocols a connection that ended takes nothing back: a message does, after it too',
      ]),
      plant('a closed connection takes nothing back in any protocol', [
        MCP_CLOSED_TEST,
        'in 2026-07-28 who closes the connection takes the call back: withdrawn after the grace, and the same call is a new one',
      ]),
      plant('a lost connection takes a call back in every protocol', [
        MCP_CLOSED_TEST,
        'in the older protocols a connection that ended takes nothing back: a message does, after it too',
      ]),
      plant('who comes back within the grace finds the action withdrawn', [
        MCP_CLOSED_TEST,
        'a client of 2026-07-28 that comes back within the grace finds its action, which then waits for its people',
      ]),
      plant('what was closed is forgotten with the process', [
        MCP_CLOSED_TEST,
        'what a client closed is withdrawn although the process that heard of it is killed',
      ]),
      plant('a call that is refused because too much waits stays open', [
        MCP_ONCE_TEST,
        'a call that is refused because too much waits leaves no open call behind',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'After an unknown outcome a retry used another key, and both ran',
    held: 'after an unknown outcome the key stays: gate/execute/attempt-key.ts',
    bugs: [
      plant('a retry after an unknown outcome has a key of its own', [
        ONE_KEY_TEST,
        'sqlite: I4 whatever is lost, found, not found, resolved, retried or restarted: after an unknown outcome no second key is ever sent',
      ]),
      plant('an unknown outcome that nobody can look up leaves no doubt', [
        ONE_KEY_TEST,
        'sqlite: I4 whatever is lost, found, not found, resolved, retried or restarted: after an unknown outcome no second key is ever sent',
      ]),
    ],
  },
]
