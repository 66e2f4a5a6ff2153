import { type Failure, plant } from './planted-failure.ts'

/** Something happens twice, too late, or is lost. */
export const REPEATED: readonly Failure[] = [
  {
    whose: 'vercel/ai 7.0.149, 7.0.135; ha-mcp #2387; sso-elevator #212',
    failure: 'Repeated or conflicting answers, or a double click, ran a tool twice, or ran and denied it',
    held: 'a decision and a start are each one guarded update; a caller that changes no row gets the winner’s result: store/tables/actions.ts, store/tables/attempts.ts',
    bugs: [
      {
        bug: 'the second of two deciders wins as well',
        test: {
          file: 'verification/acceptance/contested.more.test.ts',
          name: 'of many approvals and declines at once exactly one counts, and all others hear which',
        },
      },
      plant('who comes second is told nothing of the first', [
        'verification/acceptance/action-lifecycle.test.ts',
        'of two persons the second learns who was first, with the action as it is now',
      ]),
      {
        bug: 'a retry starts what is under way',
        test: { file: 'verification/acceptance/action-lifecycle.test.ts', name: 'ten parallel retries are one attempt' },
      },
      {
        bug: 'the second click of a double click is sent',
        test: { file: 'packages/react/src/approval-card.browser.test.ts', name: 'a double click is one request' },
      },
      plant('a request under the same key is done again', [
        'verification/acceptance/idempotency.test.ts',
        'a proposal with an Idempotency-Key is made once, answered the same each time, and refused with another body',
      ]),
      plant('a key stands for whatever body comes with it', [
        'verification/acceptance/idempotency.test.ts',
        'a proposal with an Idempotency-Key is made once, answered the same each time, and refused with another body',
      ]),
    ],
  },
  {
    whose: 'openworker #443; crewAI #5802; langgraph #6208',
    failure: 'After a crash between the effect and its record, the approved action ran again',
    held: 'the intent is stored before the send; after a crash only sends that the target recognises by key are repeated: gate/execute/reconcile.ts, gate/execute/verify-binding.ts',
    bugs: [
      plant('after a crash everything is sent again', [
        'packages/server/src/gate/execute/recover.test.ts',
        'sqlite: after a crash an unkeyed attempt is of unknown outcome, and is not sent again',
      ]),
      plant('after a crash it is sent under another key', [
        'packages/server/src/gate/execute/recover.test.ts',
        'sqlite: after a crash a keyed attempt is sent again under its key, at most three times in all however often it crashes',
      ]),
      plant('what a stale process answers is taken', [
        'packages/server/src/gate/execute/recover.test.ts',
        'sqlite: of two processes that recover one attempt exactly one sends it, and the answer of the killed one is stale',
      ]),
      plant('a process that hung sends what was taken over', [
        'packages/server/src/gate/execute/recover.test.ts',
        'sqlite: a process that hung behind its intent, and was taken over meanwhile, sends nothing',
      ]),
    ],
  },
  {
    whose: 'MS agent-framework #7458; Agenta #5592; inngest #1433; mastra #14051, #22413',
    failure: 'The decision was stored and the run never started; a decision before the wait was lost',
    held: 'a decision and its follow-up are one transaction, and a start picks up approved actions: gate/decide/decide.ts, gate/execute/recover.ts',
    bugs: [
      plant('a start forgets what was approved', [
        'verification/acceptance/parallel.more.test.ts',
        'what waits for its turn is not lost by a restart: each approved write is carried out once',
      ]),
      plant('a long poll listens after it has read', [
        'packages/server/src/gateway/read-until.test.ts',
        'a change between the first reading and the listening is not missed',
      ]),
    ],
  },
  {
    whose: 'openclaw #85668; langfuse PR #16387; eve #460',
    failure: 'A lost result was reported as a failure or "try again", and the effect happened twice',
    held: 'a write without a reliable answer has an unknown outcome, for the model and for people: gate/execute/attempt.ts, gate/execute/tool-result.ts',
    bugs: [
      plant('what may have happened is called a failure', [
        'packages/server/src/gate/execute/execute.test.ts',
        'a write without a trustworthy answer is of unknown outcome, whatever became of the answer, and is sent once',
      ]),
      plant('the model is told that it failed', [
        'verification/acceptance/outcome.test.ts',
        'a cut connection is an unknown outcome: shown as such, counted in its session, told to the model, settled by a person, who tells the model',
      ]),
      plant('a cut answer of a write is a refusal', [
        'packages/toolkit/src/routes/route-answers.more.test.ts',
        'a 5xx, a reset, a cut body and silence are unknown outcomes, each sent once',
      ]),
      plant('a refusal of a repeat settles what the send before it did', [
        'packages/server/src/gate/execute/execute.test.ts',
        '"refused" about a repeat settles nothing: the send before it may have acted',
      ]),
      plant('what is not found yet has failed', [
        'packages/server/src/gate/execute/not-found.test.ts',
        'an effect that comes after the first looks did not find it is never called a failure: it is found later',
      ]),
      plant('a retry after an unknown outcome has a new key', [
        'packages/server/src/gate/execute/not-found.test.ts',
        'a retry after an outcome that was ever unknown keeps its key, whatever was found of it and however it failed since',
      ]),
    ],
  },
  {
    whose: 'eve’s own sample (`session:turn` as the key)',
    failure: 'Two calls of one turn shared an idempotency key: the second did nothing',
    held: 'a key belongs to one action and attempt: gate/propose/propose.ts, gate/execute/attempt-key.ts',
    bugs: [
      plant('the key is the run’s', [
        'verification/acceptance/parallel.more.test.ts',
        'what waits for its turn is not lost by a restart: each approved write is carried out once',
      ]),
    ],
  },
  {
    whose: 'NeuralNote #119; opencompany #1490; workers #260; agent-os #1613',
    failure: 'A decision at the deadline was acknowledged and dropped, or a late click counted as approval',
    held: 'the update that stores a decision checks the deadline by the database’s clock: store/tables/actions.ts',
    bugs: [
      plant('a late decision counts', [
        'packages/server/src/gate/decide/expire-late.test.ts',
        'at the deadline itself is too late, a millisecond before it is not',
      ]),
      plant('what was decided expires all the same', [
        'packages/server/src/store/tables/deadlines.test.ts',
        'whether a deadline has passed is part of the update that moves an action (sqlite)',
      ]),
    ],
  },
  {
    whose: 'codex #29627; hermes; the trackers’ "approvals must not silently expire or deny"',
    failure: 'A waiting action was denied, expired or cancelled without a rule, or by the agent that asked',
    held: 'without a rule an approval has no deadline; the end of a long poll changes nothing: gate/deadlines.ts, http/actions.ts',
    bugs: [
      plant('everything expires after a day', [
        'packages/server/src/gate/decide/expire.test.ts',
        'is the earlier of policy and request, counted from the moment that people are asked, and absent where neither names one',
      ]),
      plant('an agent withdraws what it asked for in a session of others', [
        'verification/acceptance/authority.more.test.ts',
        'who may do what on every route: the server answers every cell as the table says',
      ]),
    ],
  },
  {
    whose: 'MCP typescript-sdk #2250',
    failure: 'A client dropped a held call, and its approval, after 60 s of silence',
    held: 'no action depends on a waiting caller: a long poll ends with the current action, and a held answer sends keep-alives: http/slow-answer.ts',
    bugs: [
      plant('a held answer is silent', [
        'packages/server/src/http/slow-answer.test.ts',
        'while an answer is not there, spaces keep its connection alive, and the whole is its JSON',
      ]),
    ],
  },
  {
    whose: 'ours: H12',
    failure: 'A hidden retry of the HTTP client, or a reused connection, sent a write twice',
    held: 'each send has its own connection, without retry or redirect: toolkit/src/net/send.ts',
    bugs: [
      plant('connections are kept', [
        'packages/toolkit/src/http/http-call.test.ts',
        'a connection that another client kept open to the same target is not used',
      ]),
    ],
  },
  {
    whose: 'ours: I1, I6, I9',
    failure: 'A process that froze or lost its connection continued work that others had taken over',
    held: 'reads are checked again in the transaction that relies on them, and all processes resync when a commit is uncertain: agent/outcome.ts, agent/history.ts, gate/execute/retry-failed.ts, dispatch/cluster/resync.ts',
    bugs: [
      plant('a step that stood still fails the run', [
        'packages/server/src/agent/stale-step.test.ts',
        'a loop that stood still does not fail a run that others have gone on with',
      ]),
      plant('a model is asked about a step that was made', [
        'packages/server/src/agent/stale-step.test.ts',
        'no model is asked about a step that was made',
      ]),
      plant('a transaction that is run again goes by what it did before', [
        'packages/server/src/gate/execute/retry-failed.test.ts',
        'a retry whose transaction is lost, while the same request is taken elsewhere, starts nothing of its own',
      ]),
      plant('nobody looks around after a commit of unknown fate', [
        'packages/server/src/dispatch/cluster/resync.test.ts',
        'what a commit said whose fate stays unknown is heard by every process, carried out and done in its time',
      ]),
    ],
  },
  {
    whose: 'ours: I11',
    failure: 'A change was not in the record, or the record could be changed unnoticed',
    held: 'a transition and its row are one transaction, chained and sealed: gate/events.ts, audit/',
    bugs: [
      plant('an event goes out without its row of the record', [
        'verification/acceptance/audit.test.ts',
        'what happens in a session is one chain, and who cancels or stops it is in it',
      ]),
      plant('a row need not follow the one before it', [
        'packages/server/src/audit/tampers.more.test.ts',
        'what is changed in the database before it is sealed is found by the row behind it',
      ]),
      plant('a row may name any row as the one before it', [
        'packages/server/src/audit/tampers.more.test.ts',
        'a row that names another one as the row before it is found, although its head was signed over it',
      ]),
      plant('a head leaves out which row each row follows', [
        'packages/server/src/audit/tampers.more.test.ts',
        'which row a row follows is covered by its head: it cannot be changed where the row before it is not in the file',
      ]),
      plant('the server signs again over rows that were changed', [
        'verification/acceptance/forged-record.more.test.ts',
        'a sealed row that was rewritten, with all hashes recomputed and its heads deleted, is not signed again',
      ]),
      plant('a head does not follow the one before it', [
        'packages/server/src/audit/sealer.more.test.ts',
        'each head follows the one before it, and the newest proves all before it (sqlite)',
      ]),
    ],
  },
]
