import { type Failure, plant } from './planted-failure.ts'

const OWN_FILES_TEST = 'verification/acceptance/own-files.more.test.ts'
const PROTECTION_TEST = 'packages/tools-workspace/src/protection.test.ts'
const SEARCH_TEST = 'verification/acceptance/unbounded-work.more.test.ts'
const BODIES_TEST = 'verification/acceptance/costly-bodies.test.ts'
const ACCESS_TEST = 'packages/server/src/http/access.test.ts'

/** Issue 11: what an agent with a shell could do to the server itself. */
export const INSIDE: readonly Failure[] = [
  {
    whose: 'ours: T8',
    failure: 'A route without its own check answered unauthenticated callers, or read bodies before authentication',
    held: 'every route refuses unauthenticated callers unless declared public: identity/authenticate.ts',
    bugs: [
      plant('a route that declares nothing is public', [
        ACCESS_TEST,
        'a route that says nothing about access is refused to a stranger, and reached by whoever signed in',
      ]),
      plant('a body is judged before its sender', [
        ACCESS_TEST,
        'without a key every route but the public ones answers 401, before it looks at query, parameters or body',
      ]),
      plant('any name under /assets/ is looked for on the disk', [
        'packages/server/src/http/console.test.ts',
        'the console looks for no other names on the disk than its build has',
      ]),
    ],
  },
  {
    whose: 'CVE-2025-53773 (Copilot)',
    failure: 'The agent wrote the setting that turns approvals off',
    held: 'the workspace tools refuse the server’s own files: tools-workspace/src/protection.ts, own-files.ts',
    bugs: [
      plant('the policy file is a file like others', [
        OWN_FILES_TEST,
        'no tool changes a file that decides what this server does at its next start, although policy allows everything',
      ]),
      plant('a branch may bring another policy', [
        OWN_FILES_TEST,
        'no branch is checked out that changes one of these files, or has a file or a link in place of its folder',
      ]),
      plant('a second name hides a secret', [
        PROTECTION_TEST,
        'a second name of a secret is known by the file itself, and refused by every tool',
      ]),
      plant('a protected name counts in one spelling only', [
        PROTECTION_TEST,
        'no spelling of a protected name gets past: case, form, what cannot be seen, streams, dots at the end',
      ]),
    ],
  },
  {
    whose: 'ours: T23',
    failure: 'One search that needed no approval blocked the server for minutes, again after each restart',
    held: 'threads that are ended: toolkit/src/bounded/workers.ts; a count of lost sends: gate/execute/reconcile.ts; bounded bodies: http/json-body.ts',
    bugs: [
      plant('a search may take as long as it likes', [
        SEARCH_TEST,
        'a search with a glob that backtracks is ended, and the server answers while it runs',
      ]),
      plant('a read is sent again although it ended two processes', [
        'packages/server/src/gate/execute/recover.test.ts',
        'sqlite: a read that two processes did not survive is not sent a third time, and the model is told why',
      ]),
      plant('a body has as many values as fit', [BODIES_TEST, 'a body of very many values is refused for that, however few bytes it has']),
      plant('an answer names every issue', [BODIES_TEST, 'an answer names at most 20 issues, each cut, and says how many more there are']),
    ],
  },
]
