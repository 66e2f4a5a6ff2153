import { type Failure, plant, waiting } from './planted-failure.ts'

const WITHDRAW_TEST = 'packages/server/src/acceptance/withdraw.test.ts'
const MCP_CLOSED_TEST = 'packages/server/src/acceptance/mcp-closed.test.ts'
const MCP_ONCE_TEST = 'packages/server/src/acceptance/mcp-once.test.ts'
const ONE_KEY_TEST = 'packages/server/src/gate/one-key.test.ts'

/** What was taken back, or is of unknown outcome, and ran all the same. */
export const TAKEN_BACK: readonly Failure[] = [
  {
    whose: 'ours',
    failure: 'Who had not asked took an action back, or it was taken back and ran all the same',
    held: 'whoever proposed it, in one guarded update: gate/withdraw.ts, store/actions.ts',
    bugs: [
      plant(
        'anybody who sees an action withdraws it',
        ['packages/server/src/gate/withdraw.ts', 'row.requested_by !== principal.id', 'row.requested_by === undefined'],
        [
          WITHDRAW_TEST,
          'an agent withdraws what it proposed: the card says so, the record and the stream too, and saying it again changes nothing',
        ],
      ),
      plant(
        'what has started is withdrawn',
        [
          'packages/server/src/store/actions.ts',
          "    .where(isUnstarted)\n    .where((eb) => eb.or([eb('state', '=', lit('approved')), isInTime(dialect, p.now)])),\n)\n\nexport type OpenAction",
          "    .where((eb) => eb.or([eb('state', '<>', lit('proposed')), isInTime(dialect, p.now)])),\n)\n\nexport type OpenAction",
        ],
        [WITHDRAW_TEST, 'what has started, or was decided against, is not withdrawn: 409 with the action as it is'],
      ),
      plant(
        'the model does not hear that its call was withdrawn',
        ['packages/server/src/gate/withdraw.ts', '  yield* writeToolResult(writer, withdrawn, error.message, nowMs)\n', ''],
        [WITHDRAW_TEST, 'the owner of a session withdraws what its agent asked: the model hears it as the result, and its run goes on'],
      ),
    ],
  },
  {
    whose: 'ours',
    failure: 'A client took its call back, and people were asked about it all the same',
    held: 'a call is taken back in any process, and by a closed connection where the protocol says so: http/mcp/held-requests.ts',
    bugs: [
      plant(
        'a message takes back only what is held at that moment',
        ['packages/server/src/http/mcp/routes.ts', 'if (cancelled.isWithdrawn) await', 'if (!cancelled.isWithdrawn) await'],
        [MCP_CLOSED_TEST, 'in the older protocols a connection that ended takes nothing back: a message does, after it too'],
      ),
      waiting(
        'a closed connection takes nothing back in any protocol',
        ['packages/server/src/http/mcp/call-tool.ts', 'isClosedByHangUp: ctx.mcpReq.envelope !== undefined', 'isClosedByHangUp: false'],
        [
          MCP_CLOSED_TEST,
          'in 2026-07-28 who closes the connection takes the call back: withdrawn after the grace, and the same call is a new one',
        ],
      ),
      waiting(
        'a lost connection takes a call back in every protocol',
        ['packages/server/src/http/mcp/call-tool.ts', 'isClosedByHangUp: ctx.mcpReq.envelope !== undefined', 'isClosedByHangUp: true'],
        [MCP_CLOSED_TEST, 'in the older protocols a connection that ended takes nothing back: a message does, after it too'],
      ),
      waiting(
        'who comes back within the grace finds the action withdrawn',
        [
          'packages/server/src/store/gateway-requests.ts',
          "deleteFrom('gateway_call').where('action_id', '=', p.action_id).where('once_key', '=', lit('closed'))",
          "deleteFrom('gateway_call').where('action_id', '=', p.action_id).where('once_key', '=', lit('none'))",
        ],
        [MCP_CLOSED_TEST, 'a client of 2026-07-28 that comes back within the grace finds its action, which then waits for its people'],
      ),
      waiting(
        'what was closed is forgotten with the process',
        ['packages/server/src/http/mcp/held-requests.ts', '  lookIn(graceMs)\n  return {', '  return {'],
        [MCP_CLOSED_TEST, 'what a client closed is withdrawn although the process that heard of it is killed'],
      ),
      plant(
        'a call that is refused because too much waits stays open',
        ['packages/server/src/http/mcp/open-calls.ts', "  'too_many_waiting',\n", ''],
        [MCP_ONCE_TEST, 'a call that is refused because too much waits leaves no open call behind'],
      ),
    ],
  },
  {
    whose: 'ours',
    failure: 'After an unknown outcome a retry was sent under another key, and both were done',
    held: 'once an outcome was unknown the key stays for good: gate/attempt-key.ts',
    bugs: [
      plant(
        'a retry after an unknown outcome has a key of its own',
        ['packages/server/src/gate/attempt-key.ts', 'in_doubt ? idempotency_key :', 'in_doubt && attempt > 99 ? idempotency_key :'],
        [
          ONE_KEY_TEST,
          'sqlite: I4 whatever is lost, found, not found, resolved, retried or restarted: after an unknown outcome no second key is ever sent',
        ],
      ),
      plant(
        'an unknown outcome that nobody can look up leaves no doubt',
        [
          'packages/server/src/gate/settle.ts',
          '!settled.error.retryable) return { in_doubt: 1, checks',
          '!settled.error.retryable) return { in_doubt: 0, checks',
        ],
        [
          ONE_KEY_TEST,
          'sqlite: I4 whatever is lost, found, not found, resolved, retried or restarted: after an unknown outcome no second key is ever sent',
        ],
      ),
    ],
  },
]
