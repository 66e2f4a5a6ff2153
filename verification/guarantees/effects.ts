import type { Guarantee } from './guarantee.ts'

/** The guarantees about execution: I1 to I5. */
export const EFFECTS: readonly Guarantee[] = [
  {
    id: 'I1',
    says: 'No effect starts without a stored decision for its digest',
    tests: {
      'packages/server/src/agent/races.more.test.ts': [
        'whatever people do at the same time, nothing runs twice or unapproved, nobody is told a wrong winner, nothing is left hanging',
      ],
      'verification/simulation': [],
      'verification/campaign/features': [],
      'packages/server/src/gate/execute/retry-failed.test.ts': [
        'a retry whose transaction is lost, while the same request is taken elsewhere, starts nothing of its own',
      ],
    },
  },
  {
    id: 'I1',
    says: 'Behind `countersign acp` and `countersign codex`, an agent gets one answer to each request, for what people were shown. What is unclear runs nothing',
    tests: {
      'verification/acceptance/acp-hostile.test.ts': [
        'a second request about a call that was allowed is a question of its own, running or ended',
        'an agent that has two requests open under one id is refused both: an answer could be read as that to the other',
        'the agent gets one answer to a request, however often the editor answers, and the record has that one',
        'an option id that stands for two kinds is never selected: the agent could read either',
        'a call that the agent changes while people are asked about it is refused: they would approve something else',
      ],
      'verification/acceptance/codex-app-server.test.ts': [
        'a patch that Codex changes while people are asked about it is declined: they would approve something else',
      ],
    },
  },
  {
    id: 'I2',
    says: "An action has one final state. Callers that lose a race get the winner's result. Concurrent votes are neither lost nor counted twice",
    tests: {
      'verification/acceptance/contested.more.test.ts': [
        'of many approvals and declines at once exactly one counts, and all others hear which',
        'a decision and a cancellation at once: either the tool ran and says so, or it never did',
        'two decisions about two calls of one step at once: both count, and the model is asked once',
      ],
      'packages/server/src/gate/decide/expire-races.test.ts': [
        'a decision and an expiry at the same moment: exactly one wins and the loser is told',
      ],
      'packages/server/src/gate/decide/votes-races.test.ts': [
        'of votes given at once in two processes none is lost, none is counted twice, and none counts after the last (each database)',
      ],
      'verification/campaign/votes': [],
      'packages/core/src/action/lifecycle.test.ts': [
        'a terminal action never moves again',
        'once it has begun to execute, no decision, deadline or cancel moves an action, until it failed and is asked again',
      ],
      'packages/server/src/gate/decide/undo.test.ts': [
        'each database: however an undo races with the end of the grace period and the start: one of them wins, and what was undone is never sent',
      ],
      'verification/acceptance/undo-crash.more.test.ts': [
        'a server that is killed in the grace period starts the action once after it, and an approval that was taken back never',
      ],
      'packages/server/src/gate/decide/withdraw.test.ts': [
        'each database: however a withdrawal races with decisions and the start: one of them wins, and what was withdrawn is never sent',
      ],
      'packages/server/src/gate/execute/outcome.test.ts': [
        'of persons who settle one outcome at once exactly one counts, and the others hear which',
      ],
      'verification/acceptance/outcome.test.ts': [
        'of two persons who settle an outcome at once one counts, the other hears who; the same again is the same answer',
      ],
    },
  },
  {
    id: 'I3',
    says: 'What people see, decide and send is the same: tool, definition, arguments, destination, credential, precondition. If anything changed, the action goes back for approval',
    tests: {
      'verification/campaign/bound': [],
      'verification/acceptance/bound.test.ts': [
        'what changed after it was shown is not carried out: it is asked again, with the values of now and the reason',
      ],
      'verification/campaign/same-look': [],
      'packages/server/src/gate/execute/same-look.test.ts': [
        'permuting the keys of the arguments or of the target’s answer changes nothing that a decision is bound to: coded tools, routes, documents',
        'an approved PUT and PATCH with members in any order is carried out without being asked again',
      ],
      'verification/acceptance/edits.test.ts': [
        'approved with edits: what runs is what the person wrote, under its own revision and digest, and both are in the record',
        'an edit voids the votes before it, and a decision about the version before it is refused',
        'the arguments that were shown, sent back as an edit, are an approval of the revision that was shown',
      ],
      'packages/tools-mcp/src/http.test.ts': [
        'an address from a variable is part of what an approval is for: another path of the same host is another tool',
      ],
      'verification/acceptance/mcp-pins.test.ts': [
        'MCP: an edit is no approval of a tool that changed since it was shown: the change goes to people first',
      ],
      'verification/acceptance/headlines.test.ts': [
        'an edit that names another thing is approved at once only where the card named all that it is headed by',
      ],
      'packages/server/src/gate/decide/refresh.test.ts': [
        'a fresh preview right after an edit is one of the edited call: the edit stays',
        'a fresh preview right after a start sent the action back does not bring an earlier reading back',
      ],
      'verification/acceptance/coding-agents.test.ts': [
        'an approval is for one call: the one that waited for it first is not allowed as well once another has it',
      ],
      'verification/acceptance/coding-agent-edits.test.ts': [
        'the permission at the editor does not count once a person has approved a changed call: only the changed one may run',
        'what a person changed runs as they approved it: asked again, a host that takes no other command gets no permission for its own',
      ],
      'packages/server/src/gate/execute/claim.test.ts': [
        'each database: what is no longer what was decided is not handed out: people are asked again, and where its tool is gone it fails',
      ],
      'packages/react/src/changes.browser.more.test.ts': [
        'an edit is shown as old and new, counted on the button, and sent with the version that was looked at',
        'a refusal shows the action as it is now and why it was asked again; the buttons rest before they name it',
      ],
      'e2e/rules.spec.ts': ['the target changes under the card: asked again with the new values, and only that is done'],
      'verification/campaign/features': [],
      'verification/campaign/bound/bound.more.test.ts': [
        'whatever one thing is otherwise between the decision and the start, it is not sent; what is the same is sent',
      ],
    },
  },
  {
    id: 'I4',
    says: 'At most one effect with an idempotency key and one attempt without. An unclear outcome is `outcome_unknown`; an effect not found yet is never `failed`',
    tests: {
      'packages/server/src/gate/execute/not-found.test.ts': [
        'a retry after an outcome that was ever unknown keeps its key, whatever was found of it and however it failed since',
        'an effect that comes after the first looks did not find it is never called a failure: it is found later',
        'what is not found until its time is over is for a person: no longer checked, and still not a failure',
      ],
      'verification/acceptance/outcome-late.more.test.ts': [
        'a payment marked not done, retried, and then booked after all was sent under one key both times',
        'a payment that is booked long after its request timed out is never called a failure, and is found by itself',
        'kill -9 while a payment is under way: the next process does not call it a failure, and finds it when it is booked',
      ],
      'packages/server/src/gate/execute/hostile-tools.test.ts': [
        'a write that fails with an error of an unknown kind may have acted: it is of unknown outcome, and no retry has a new key',
        'a look-up that says done and then not, or not and then done, is believed once: nothing is sent again',
      ],
      'packages/server/src/gate/execute/outcome.test.ts': [
        '"not found" settles nothing, however often it was said: the lost request may still be on its way',
        'a tool that can be asked is asked: done is a success with its output',
        'a tool that cannot tell (each answer) leaves the outcome unknown, to be asked again',
      ],
      'packages/server/src/gate/execute/one-key.test.ts': [
        'each database: I4 whatever is lost, found, not found, resolved, retried or restarted: after an unknown outcome no second key is ever sent',
      ],
      'packages/server/src/gate/execute/recover.test.ts': [
        'each database: a tool that can be asked is asked by whoever recovers the attempt',
        'each database: after a crash a keyed attempt is sent again under its key, at most three times in all however often it crashes',
        'each database: after a crash an unkeyed attempt is of unknown outcome, and is not sent again',
        'each database: an attempt whose tool is gone or changed is of unknown outcome: it may have acted',
      ],
      'packages/toolkit/src/http/http-call.test.ts': [
        'each client: a call reaches the target on one connection, once',
        'a connection that another client kept open to the same target is not used',
      ],
      'verification/acceptance/crash.more.test.ts': [
        'kill -9 while tools run: what has no key is of unknown outcome and not sent again, what has one is sent again under it',
      ],
      'verification/crash': [],
      'verification/campaign/features': [],
      'packages/server/src/gate/execute/claim.test.ts': [
        'each database: a client that carries out again what a person marked as not done gets the same key, and a new one only after a refusal',
        'each database: an unknown outcome is claimed again only where the target honours the key, and keeps it; a refusal then settles nothing',
        'each database: of eight clients that claim an action, over two processes, one gets it, and the others hear that it has',
        'each database: what a client is not heard of and the tool does not find is of unknown outcome and is checked again, not failed',
      ],
      'packages/server/src/gate/execute/execute.test.ts': [
        '"any kind of failure" about a repeat settles nothing: the send before it may have acted',
        'a write without a trustworthy answer is of unknown outcome, whatever became of the answer, and is sent once',
        'what a target recognises by its key is sent three times under it, each announced as an attempt, then it is for people',
      ],
      'packages/server/src/gate/execute/known-key.test.ts': [
        'each database: "Check again" a day after the first send sends nothing, however often it was sent since',
        'each database: a client that lost an attempt a day ago does not get it again',
        'each database: a keyed attempt of a process that ended a day ago is not sent again: its target may not know the key any more',
        'each database: a machine that sleeps for a day between two sends does not send a second time',
      ],
      'packages/server/src/gate/execute/retry.test.ts': [
        'a resend and a recovery that were stored without an answer go on, each send under the key',
        'an attempt whose intent was stored without an answer is not left executing: each tool is settled or of unknown outcome',
      ],
      'packages/toolkit/src/http/http-call-tls.test.ts': ['an encrypted connection that breaks is a failure or unclear'],
      'verification/acceptance/outcome-crash.more.test.ts': [
        'kill -9 between two sends of one attempt: the next process sends on under the same key, three times in all',
        'kill -9 while tools run: a keyed one is sent again, one that can be asked is asked, of any other the outcome is unknown',
      ],
      'verification/acceptance/outcome-late-sources.more.test.ts': [
        'an issue that GitHub opens long after the connection broke is never called a failure, and is opened once',
        'an issue that Linear makes long after the connection broke is never called a failure, and a retry of it makes no second one',
        'kill -9 the moment that each write reaches GitHub: the next process finds what was made and makes no second one',
        'what each source makes long after the connection broke is never called a failure, and is made once',
      ],
      'verification/acceptance/outcome.test.ts': [
        'a cut connection is an unknown outcome: shown as such, counted in its session, told to the model, settled by a person, who tells the model',
        'a service that can be asked is asked: no payment is sent twice, whichever way its answer was lost',
        'what a person found not done may be tried again: under the same key, and the stream tells all of it',
        'where the target honours the key, checking again sends the attempt again under it',
      ],
    },
  },
  {
    id: 'I4',
    says: 'A restore that is killed leaves no database that a server would start without holding its actions',
    tests: {
      'verification/acceptance/backup.more.test.ts': [
        'what is restored is held by its own row: its next start carries nothing out, and the record says so once',
      ],
    },
  },
  {
    id: 'I4',
    says: 'A server on a copied database executes nothing and calls no model until a person accepts the copy. Actions in progress in the original are `outcome_unknown`',
    tests: {
      'packages/server/src/instance/guard.test.ts': [
        'after a kill, a copy of the instance file that is a minute old is known when it is written into the file',
      ],
      'verification/acceptance/copies.test.ts': [
        'a copy by any means starts held: it carries nothing out, and the original goes on',
        'an older database put back beside the file of its folder starts held',
        'a copy of the running folder that is put back into its files after a stop starts held',
      ],
      'verification/acceptance/held.more.test.ts': [
        'an accepted copy carries out what was approved once, and of what was under way the outcome is unknown, keyed or not',
      ],
      'packages/server/src/cli/held.more.test.ts': [
        'serve on a copied folder says that it is held and how to go on, carries nothing out, and with --accept-copy goes on once',
      ],
      'apps/web/src/held/held-pages.browser.more.test.ts': [
        'all of 500 held actions can be reached, and the page never holds more than one page of them',
      ],
      'verification/acceptance/copies-postgres.more.test.ts': [
        'a dump that is restored into another database starts held, and a restart on the same database does not',
        'a standby that lacks what was committed holds the processes that know it: what was done is not done again',
      ],
      'verification/simulation': [],
    },
  },
  {
    id: 'I4',
    says: 'Failover to a synchronous standby does not count as a copy and loses no acknowledged decision. A standby that lacks commits is held',
    tests: {
      'verification/acceptance/copies-postgres.more.test.ts': [
        'a dump that is restored into another database starts held, and a restart on the same database does not',
        'a standby that lacks what was committed holds the processes that know it: what was done is not done again',
      ],
    },
  },
  {
    id: 'I5',
    says: 'Start and settle compare and set the epoch',
    tests: {
      'packages/server/src/gate/execute/execute.test.ts': [
        '"any kind of failure" about a repeat settles nothing: the send before it may have acted',
      ],
      'packages/server/src/gate/execute/claim.test.ts': [
        'each database: the result of an earlier hold is refused and writes nothing; that of the present one settles, once',
      ],
      'packages/server/src/store/tables/actions.test.ts': [
        'a settlement with the epoch of an earlier attempt changes nothing (each database)',
        'an attempt begins only from the very row that was read: its revision and its epoch (each database)',
        'of several that take an attempt over one gets it, and the answer of its first owner is stale (each database)',
      ],
      'packages/server/src/gate/execute/outcome.test.ts': ['what a tool finds after somebody else settled the action changes nothing'],
      'packages/server/src/gate/execute/recover.test.ts': [
        'each database: a process that hung behind its intent, and was taken over meanwhile, sends nothing',
        'each database: of two processes that recover one attempt exactly one sends it, and the answer of the killed one is stale',
      ],
      'packages/server/src/gate/execute/retry.test.ts': ['an end that was stored without an answer is stored once'],
      'verification/simulation/kill-phases.test.ts': [
        'such a kill is noticed where nobody takes over what a dead process was carrying out',
      ],
    },
  },
]
