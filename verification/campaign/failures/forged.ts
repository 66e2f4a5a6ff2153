import { type Failure, plant } from './planted-failure.ts'

/** Somebody decides who may not, or something that is no decision counts as one. */
export const FORGED: readonly Failure[] = [
  {
    whose: 'vercel/ai #16068, #15947, #19979; MS agent-framework #4596; openclaw #8682',
    failure: 'Client input (a history, an `approved` flag) was accepted as an approval',
    held: 'nobody sends us a history or a state: a person with a key of their own names an action by its id, and a proposal holds a call only',
    bugs: [
      {
        bug: 'a proposal says that it was approved',
        test: {
          file: 'verification/acceptance/outside-agent.test.ts',
          name: 'what cannot be proposed is refused in words and stores nothing',
        },
      },
      plant('a program decides like a person', [
        'packages/server/src/gate/caller.test.ts',
        'no program decides, manages or sees everything, whatever roles it carries',
      ]),
    ],
  },
  {
    whose: 'openclaw #48149; curie #1054, #2885',
    failure: 'The requester approved their own action',
    held: 'requesters are compared as persons, whatever key or agent they used, and excluded: gate/decide/rights.ts',
    bugs: [
      plant('who asked approves', [
        'verification/acceptance/decisions.test.ts',
        'who asked does not approve: neither who owns the session nor who wrote in it',
      ]),
      plant('an agent’s owner is nobody who asked', [
        'packages/server/src/gate/decide/delegations.test.ts',
        'who asked approves by no delegation, their own or another’s',
      ]),
    ],
  },
  {
    whose: 'hermes #81388, #76235; SecObserve #4388; aws-samples #113',
    failure: 'Anybody in the room could approve: there were no designated approvers',
    held: 'each action names the roles that decide about it; core `holdsRole`, gate/decide/rights.ts',
    bugs: [
      plant('every person has a vote', [
        'verification/acceptance/outside-agent.test.ts',
        'a person without a role that decides may look and not act',
      ]),
      plant('an admin has every role', [
        'packages/core/src/decision/tally.test.ts',
        'an admin stands in for an approver and for nobody else',
      ]),
    ],
  },
  {
    whose: 'awaithumans #76',
    failure: 'One approval sufficed where several were required, or one person gave them all',
    held: 'votes are counted by right, under the lock of the action: core `tallyVotes`, gate/decide/decide.ts',
    bugs: [
      plant('the first vote decides', [
        'verification/acceptance/decisions.test.ts',
        'two approvals: typed in the chat by one, given over the chat’s route by another; in between it says 1 of 2',
      ]),
      plant('a right counts as often as it is used', [
        'packages/core/src/decision/tally.test.ts',
        'any votes of up to four persons, in their own right or for others, in any order, come to what the rules say',
      ]),
    ],
  },
  {
    whose: 'autogen #5891; the trackers’ "there is an approval_id and no approver"',
    failure: 'The record did not show who approved',
    held: 'every transition has a row with who, how they signed in and by which rule: gate/events.ts',
    bugs: [
      plant('the record says that the system did it', [
        'verification/acceptance/audit.test.ts',
        'every transition has one row of the record, chained to the one before, with who, what and by which rule',
      ]),
    ],
  },
  {
    whose: 'mastra #21195; eve #312; LibreChat, ADK docs; hermes #81388',
    failure: 'A sentence that contained the word approved, as a model understood it',
    held: 'only exact words count, from a person with a vote, on the session’s own route, for an unchanged action: core/src/commands.ts',
    bugs: [
      plant('a sentence that begins with the word is the word', ['packages/core/src/commands.test.ts', 'any other text is only a message']),
      plant('a word approves all that wait', [
        'verification/acceptance/chat-decisions.more.test.ts',
        'with two waiting, "yes" decides nothing and says so; naming one decides that one',
      ]),
      plant('what was declined is told to the model as done', [
        'verification/acceptance/gated-runs.test.ts',
        'a decline with its reason is the tool’s result, and the model answers',
      ]),
      plant('the exact word is a message', [
        'verification/acceptance/typed-words.more.test.ts',
        '10,000 texts around the command words decide nothing; the exact word of the right person decides, and of nobody else',
      ]),
      plant('a word decides what nobody has shown its author', [
        'verification/acceptance/typed-words-shown.test.ts',
        'a typed word does not decide an action that appeared less than a second before',
      ]),
      plant('a word decides what has critical risk', [
        'verification/acceptance/typed-words-shown.test.ts',
        'a typed word never decides an action of critical risk',
      ]),
      plant('a word decides text that nobody opened', [
        'verification/acceptance/typed-words-shown.test.ts',
        'a typed word never decides text that has to be opened first',
      ]),
      plant('a word approves what was changed since it was asked', [
        'verification/acceptance/typed-words-shown.test.ts',
        'a typed word never approves an action that changed since it was first asked, however long the change was shown',
      ]),
    ],
  },
  {
    whose: 'n8n #25311 (twice), activepieces #14026',
    failure: 'A link preview or a mail scanner approved with its GET',
    held: 'GET changes nothing on any route; decisions are POSTs with a key, or a cookie and our Origin',
    bugs: [
      plant('a link decides', [
        'verification/acceptance/safe-methods.more.test.ts',
        'GET, HEAD and OPTIONS change no row of any table, on any route, for any reader',
      ]),
    ],
  },
  {
    whose: 'CVE-2025-53773 (Copilot)',
    failure: 'An agent wrote the setting that turns approvals off',
    held: 'policy, keys and grants are for admins, and no program is an admin, whatever its roles: gate/caller.ts, identity/keys.ts',
    bugs: [
      plant('an agent with the role changes the policy', [
        'packages/server/src/gate/caller.test.ts',
        'no program decides, manages or sees everything, whatever roles it carries',
      ]),
      plant('an agent is given the role of those who decide', [
        'verification/acceptance/keys.test.ts',
        'no agent and no service can be given what persons do, and only an admin person gives out anything',
      ]),
    ],
  },
  {
    whose: 'CVE-2026-25253 (openclaw)',
    failure: 'A URL parameter was accepted as a credential, or sent one away',
    held: 'keys are read from the header only: identity/authenticate.ts',
    bugs: [
      plant('a key is taken from the address', [
        'verification/acceptance/identity.test.ts',
        'a key is known, or it is nobody’s; it is never read from the address',
      ]),
    ],
  },
  {
    whose: 'ours: identity',
    failure: 'A key, a cookie or a sign-in allowed more, or lasted longer, than intended',
    held: 'identity/keys.ts, console-sessions.ts, oidc.ts, authenticate.ts',
    bugs: [
      plant('a key does all that its owner may, whatever it is limited to', [
        'verification/acceptance/keys.test.ts',
        'a further key of a person carries their roles or fewer, and what it is limited to holds on every way in',
      ]),
      plant('a further key has all roles of its owner', [
        'verification/acceptance/keys.test.ts',
        'a further key of a person carries their roles or fewer, and what it is limited to holds on every way in',
      ]),
      plant('a revoked key goes on', [
        'verification/acceptance/keys.test.ts',
        'a revoked or expired key is nobody’s at once, and what was signed in with it is over',
      ]),
      plant('keys are stored as they are', [
        'verification/acceptance/keys.test.ts',
        'a key is shown once, is nowhere in the database, and says who made it, for whom, and when it was used',
      ]),
      plant('a foreign page acts with what the console signed in with', [
        'verification/acceptance/foreign-pages.more.test.ts',
        'with what the console signs in with, no trick of a foreign page gets past the door of any route that changes something',
      ]),
      plant('a session never ends', [
        'packages/server/src/identity/console-sessions.test.ts',
        'a session ends after its idle time and after its longest time, whatever is done in it (sqlite)',
      ]),
      plant('an answer of the sign-in service is good twice', [
        'verification/acceptance/oidc.test.ts',
        'an answer that is expired, for somebody else, of another sign-in, signed by another or used before signs nobody in',
      ]),
      plant('an answer of the sign-in service need not be for this sign-in', [
        'verification/acceptance/oidc.test.ts',
        'an answer that is expired, for somebody else, of another sign-in, signed by another or used before signs nobody in',
      ]),
      plant('a delegation outlasts the role of who gave it', [
        'packages/server/src/gate/decide/delegations.test.ts',
        'a delegation ends: by its time, by who gave it, with the role of who gave it',
      ]),
      plant('who may not see an action learns that there is one', [
        'verification/acceptance/outside-agent.test.ts',
        'an id that does not exist and one that may not be seen answer the same',
      ]),
    ],
  },
  {
    whose: 'ours: signing in on one machine',
    failure: 'Any local process was admin; the console’s cookie went to every port; one human counted as two persons',
    held: 'identity/sign-in-links.ts, sign-in-file.ts, console-credential.ts, directory.ts',
    bugs: [
      plant('being on the machine is enough to sign in', [
        'verification/acceptance/local-sign-in.test.ts',
        'a local process without a sign-in link is nobody, whatever name of this machine it uses',
      ]),
      plant('a sign-in link is good twice', [
        'packages/server/src/identity/sign-in-links.test.ts',
        'a sign-in link is good once, and is said to be used afterwards, also by a clock that is set back',
      ]),
      plant('a sign-in link need not be made with the secret', [
        'packages/server/src/identity/sign-in-links.test.ts',
        'a sign-in link of another server, of an earlier start, or changed in any letter signs nobody in',
      ]),
      plant('everybody on the machine can read what sign-in links are made with', [
        'verification/acceptance/local-sign-in.test.ts',
        'the file of an earlier server is replaced, whatever its mode, and a link in its place is not followed',
      ]),
      plant('a cookie signs a console in over plain http', [
        'verification/acceptance/identity.test.ts',
        'a console secret that was changed or made up is nobody’s, and none is good as a cookie',
      ]),
      plant('the owner of the bootstrap key is another person than the one at this machine', [
        'verification/acceptance/one-person.test.ts',
        'the person at this machine and the owner of the bootstrap key are one person: together they are one vote of two',
      ]),
    ],
  },
]
