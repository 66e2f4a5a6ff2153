import type { Guarantee } from './guarantee.ts'

/** The guarantees about deciders and decisions: I9 and I10. */
export const DECIDED: readonly Guarantee[] = [
  {
    id: 'I9',
    says: 'A pending action settles or waits for a person',
    tests: {
      'verification/acceptance/processes.more.test.ts': [
        'kill -9 of all three processes while an approval waits: the card, the word and the agent go on at others',
        'kill -9 of the process that carries actions out: what has no key is of unknown outcome, what has one is sent again',
        'a rolling restart with sessions in flight loses nothing, does nothing twice and asks no model twice at a time',
      ],
      'verification/acceptance/database-away.more.test.ts': [
        'a database that goes away and comes back: told by readyz, answered with 503, and nothing is lost or done twice',
        'a server that is stopped while its database is gone ends, and the next one takes over the attempt it left',
      ],
      'packages/server/src/gate/execute/retry.test.ts': [
        'a resend and a recovery that were stored without an answer go on, each send under the key',
        'an action that its target refused as stale is asked again although the database was away meanwhile',
        'an action whose target changed is asked again, and not failed, when the database is away while the new question is prepared',
        'an attempt whose intent was stored without an answer is not left executing: each tool is settled or of unknown outcome',
        'what a retry began without an answer is found when the database is back, however long that takes',
        'what is approved starts when the database takes it again, once',
        'what was begun is sent once although its process stood still and the database was away when it went on',
      ],
      'packages/server/src/gate/execute/hostile-tools.test.ts': [
        'whatever pause a tool names, its action is not left executing, and is looked at again',
        'whatever a tool throws, its action is not left executing, and is sent once',
      ],
      'verification/acceptance/stood-still.more.test.ts': [
        'a process that stands still while it carries out many actions and takes decisions: the others notice, nothing is done twice or decided late',
      ],
      'verification/acceptance/set-clock.test.ts': [
        'a clock that is set ahead and back: what expired stays expired, what waits waits as much longer, and nothing is done twice',
        'a clock that is wrong for an hour locks nobody out: sign-ins, keys, tokens, grants and chat words end with it, and are good again',
      ],
      'verification/simulation': [],
      'verification/campaign/features': [],
      'packages/server/src/gate/execute/claim.test.ts': [
        'each database: a client that is never heard of again leaves an unknown outcome when its hold is over, and may still say what happened',
      ],
      'verification/simulation/kill-phases.test.ts': ['a process that is killed in any phase loses nothing and does nothing twice'],
    },
  },
  {
    id: 'I9',
    says: 'On Postgres, a lost answer to a job fetch delays work and loses none',
    tests: {
      'verification/acceptance/lost-fetch.more.test.ts': [
        'an approved action whose job fetches are never answered is an alarm, which ends when one is',
        'a session that calls for work and that nobody takes up for 10 s is an alarm, which ends by itself',
        'an approved action whose job is not there gets a new one and is carried out once',
      ],
      'verification/campaign/fetches': [],
      'verification/simulation': [],
    },
  },
  {
    id: 'I9',
    says: 'A call that its MCP client cancelled, on any process or by closing the connection (2026-07-28), is withdrawn unless another call waits for it',
    tests: {
      'verification/acceptance/mcp-closed.more.test.ts': [
        'a call that a client takes back is withdrawn when its message reaches another process',
        'an action that a call to another process waits for is not withdrawn',
        'in 2026-07-28 who closes the connection takes the call back: withdrawn after the grace, and the same call is a new one',
      ],
      'verification/acceptance/mcp-once.more.test.ts': [
        'a client that takes its call back withdraws its action, and the same call after that is a new one',
        'an action that another call waits for is not withdrawn with the first',
      ],
    },
  },
  {
    id: 'I9',
    says: 'A restart of the server refuses nothing that an agent behind `countersign hook`, `acp`, `codex` or `opencode` asks',
    tests: {
      'verification/acceptance/hook-restart.more.test.ts': [
        'a server that is restarted while people are asked keeps the question of a hook of %s: the approval after it counts, once',
        'what came of a call is told again after a restart; the end of a session and a canary are told once',
      ],
      'verification/acceptance/acp-hostile.test.ts': [
        'a server that is restarted while people are asked keeps the question: the approval after it counts, once',
      ],
      'verification/acceptance/codex-app-server.test.ts': [
        'a server that is restarted while people are asked keeps the question, and an approval after it counts',
      ],
      'verification/acceptance/opencode-bridge.test.ts': [
        'a server that is restarted while people are asked keeps the question, and an approval after it counts',
      ],
    },
  },
  {
    id: 'I9',
    says: 'An approved action that has not started 10 s after its turn raises an alarm in log, metrics and `/readyz`, which clears by itself',
    tests: {
      'verification/acceptance/overdue.more.test.ts': [
        'an approved action that cannot start is an alarm in log, metrics and readyz, and no alarm once it starts',
      ],
    },
  },
  {
    id: 'I9',
    says: 'An action that cannot start is `failed` and nothing is sent',
    tests: {
      'packages/server/src/gate/execute/start-failures.test.ts': [
        'an action whose start fails each time ends as failed, with nothing sent',
      ],
    },
  },
  {
    id: 'I9',
    says: 'Deny beats ask, ask beats allow. A failing condition weakens no verdict, votes, grace period or deadline and ends in bounded time',
    tests: {
      'packages/core/src/policy/rules.test.ts': [
        'every policy says what an independent reading of its rules says',
        'a condition that fails never makes the answer weaker than one that is true, nor than one that is false',
      ],
      'packages/server/src/policy/condition.test.ts': [
        'a condition that cannot be answered fails, and says why',
        'a condition has 16,000 steps, and all conditions of a call have 160,000',
      ],
      'verification/acceptance/policy.test.ts': ['a condition that fails asks, and says which and why'],
    },
  },
  {
    id: 'I9',
    says: 'After a policy save is acknowledged, no process uses an older version',
    tests: {
      'verification/acceptance/policy-processes.more.test.ts': ['once a save is answered, no process decides by the version before'],
      'packages/server/src/policy/seed.test.ts': [
        'each database: the file makes a version when it changes, and only then; several that start make one',
      ],
    },
  },
  {
    id: 'I10',
    says: 'Only a person with the role who did not ask may decide, checked at the vote and at the start',
    tests: {
      'packages/core/src/decision/tally.test.ts': [
        'an admin stands in for an approver and for nobody else',
        'a member decides nothing, even where a rule names that role',
        'where several lists of roles are required, a voter needs one role of each',
      ],
      'verification/campaign/votes': [],
      'packages/server/src/gate/decide/delegations.test.ts': ['who asked approves by no delegation, their own or another’s'],
      'packages/server/src/gate/grants/grants.test.ts': ['a grant never does what its maker could not do alone now'],
      'verification/acceptance/decisions.test.ts': ['who asked does not approve: neither who owns the session nor who wrote in it'],
      'verification/campaign/features': [],
      'packages/server/src/gate/caller.test.ts': ['no program decides, manages or sees everything, whatever roles it carries'],
      'verification/acceptance/outcome.test.ts': ['only a person who may decide about an action settles its outcome or has it looked into'],
    },
  },
  {
    id: 'I10',
    says: 'A stream ends with the key, session or role that opened it, on any process. Each event is checked against current access. A person who may decide an action sees it and nothing else',
    tests: {
      'verification/acceptance/open-streams.test.ts': [
        'what is open ends with the key that opened it: revoked here, by a command beside the server, or expired',
        'what is open ends with the session at the console: signed out here or everywhere, its key revoked, or at rest for too long',
      ],
      'verification/acceptance/delegates.test.ts': [
        'who votes in somebody’s place sees what they have a vote on, here and in the inbox, and nothing else of what that person sees',
      ],
    },
  },
  {
    id: 'I10',
    says: 'An action approved for a client expires if no client claims it by its deadline',
    tests: {
      'verification/acceptance/deadlines.test.ts': [
        'an approved action that no client claims expires at its deadline; one that was claimed in time does not',
      ],
    },
  },
  {
    id: 'I10',
    says: 'A person who may only read a session writes nothing in it. Policy and grants apply to every author whose words led to a call; another author never loosens the result',
    tests: {
      'verification/acceptance/whose-words.test.ts': [
        'who sees a session and is not invited cannot write in it, by any route; what waits in it they still decide',
        'a rule that allows the owner does not allow what somebody else’s words led to: the strictest answer of all who asked counts',
      ],
      'packages/server/src/policy/for-all.test.ts': [
        'one more requester never makes a policy looser, and the order of the requesters changes nothing',
        'a name that nothing proves never makes a policy looser than no name, and never looser than the name itself',
      ],
      'packages/core/src/policy/strictest.test.ts': ['one more answer never makes what is said together looser'],
      'verification/acceptance/authority.more.test.ts': ['who may do what on every route: the server answers every cell as the table says'],
    },
  },
  {
    id: 'I10',
    says: "An agent's name is the one its key proves. An unproven name loosens nothing",
    tests: {
      'verification/acceptance/agent-names.test.ts': [
        'an agent that gives itself the name of another one is refused, over HTTP and over MCP, and nothing happens',
        'a name that nothing proves is shown as such: no rule allows by it and no grant answers it, and rules that ask or deny still hold',
      ],
      'packages/server/src/policy/for-all.test.ts': [
        'one more requester never makes a policy looser, and the order of the requesters changes nothing',
        'a name that nothing proves never makes a policy looser than no name, and never looser than the name itself',
      ],
    },
  },
  {
    id: 'I10',
    says: 'An editor becomes a requester. An edit never needs less approval than the first version',
    tests: {
      'verification/acceptance/edit-floor.test.ts': [
        'with notRequester, who edits an action cannot approve it alone, and somebody else can',
        'an edit never lowers what the first version required, nor does reading its values again',
      ],
      'verification/acceptance/edits.test.ts': [
        'an edit into what asks for more waits for more: with the vote of its editor where they may decide, without it where not',
      ],
    },
  },
  {
    id: 'I10',
    says: 'A member asks agents and decides nothing',
    tests: {
      'verification/acceptance/members.test.ts': [
        'a member starts sessions, writes and proposes, sees what is theirs, and decides nothing; a group alone does none of it',
        'a member decides nothing, even where a rule names the role',
      ],
      'verification/acceptance/authority.more.test.ts': ['who may do what on every route: the server answers every cell as the table says'],
    },
  },
  {
    id: 'I10',
    says: "Keys cannot be computed from a copy of the database. Other users of the machine cannot read the server's files",
    tests: {
      'verification/acceptance/random-keys.test.ts': [
        'a thief with a copy of the database cannot compute a key that was made with an Idempotency-Key',
      ],
      'packages/server/src/private-files.test.ts': [
        'another user of the machine reads no file of a data folder, whatever the umask is and whoever made the folder',
      ],
    },
  },
  {
    id: 'I10',
    says: 'An admin is one person: a key they create for somebody else only reads, a limited key extends no rights, and nobody delegates votes to themselves',
    tests: {
      'verification/acceptance/keys-of-others.more.test.ts': [
        'an admin does not vote a second time with a key that they made in another’s name, by any route',
        'a limited key makes and accepts nothing wider than itself: in scopes, in roles, or for another person',
        'an admin does not lend themselves the vote of somebody else; a third person may be lent it',
      ],
      'verification/acceptance/key-scopes.test.ts': [
        'a key does on every route what it is limited to, and what it may not do with it changes nothing',
      ],
    },
  },
  {
    id: 'I10',
    says: 'A person is one vote, whichever ways it comes and however many people they stand in for',
    tests: {
      'verification/acceptance/one-person.test.ts': [
        'one person by key, second key, console, chat word, bulk and every chat route is one vote of two, with two delegations as well',
        'a delegate of two people is one person and one vote, and stands in for the one of them who has not voted',
        'a host’s person with two embed tokens is one vote of two, and the id of a person here makes nobody that person',
      ],
      'verification/acceptance/delegates.test.ts': [
        'a delegation that was ended and given again brings no earlier vote back, and the delegate is listed the action again',
      ],
      'verification/acceptance/oidc.test.ts': [
        'two accounts with one address are two people, and an address that nobody verified is not shown as a name',
      ],
    },
  },
  {
    id: 'I10',
    says: 'A disabled person loses access at once in every process; their votes and grants no longer count',
    tests: {
      'verification/acceptance/people.test.ts': [
        'a disabled person is out at once: keys, agents, consoles and open streams of theirs end',
        'who left approves nothing: open votes are void, grants and delegations end, and what they approved is asked again before it starts',
        'what somebody approved who was disabled since does not start once they are let in again, nor does what their grant allowed',
      ],
      'verification/acceptance/oidc.test.ts': [
        'somebody disabled does not come in by the provider; roles given here stay over sign-ins, those of the provider are its own to take',
      ],
    },
  },
]
