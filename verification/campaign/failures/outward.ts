import { type Failure, plant } from './planted-failure.ts'

/** Failures where traffic in or out goes to the wrong place, reveals too much, or stops the process. */
export const OUTWARD: readonly Failure[] = [
  {
    whose: 'CVE-2026-32871 (FastMCP)',
    failure: '`../` in a parameter left the API’s path prefix, with its credentials',
    held: 'a value is one segment in every decoding, and the built address must match the template: toolkit/src/http/url-template.ts',
    bugs: [
      plant('values stand in a path as they are', [
        'packages/toolkit/src/http/url-template.test.ts',
        'of thousands of values made to leave a path, each is refused or stays in its segment, however often it is decoded',
      ]),
      plant('a slash may be encoded twice', [
        'packages/toolkit/src/http/url-template.test.ts',
        'of thousands of values made to leave a path, each is refused or stays in its segment, however often it is decoded',
      ]),
    ],
  },
  {
    whose: 'CVE-2026-45019 (Chainlit)',
    failure: 'An address from configuration or a model led into the internal network',
    held: 'every request resolves, checks and pins its address; redirects are not followed: toolkit/src/net/network.ts, toolkit/src/net/send.ts',
    bugs: [
      plant('a private address is as good as another', [
        'packages/toolkit/src/net/network.test.ts',
        'anybody’s address is admitted when all its addresses are public, and refused when one is not',
      ]),
      plant('addresses that give out credentials are private', [
        'packages/toolkit/src/net/network.test.ts',
        'no name leads to where machines give out credentials, not even one of the configuration',
      ]),
      plant('a name is resolved again for the connection', [
        'packages/toolkit/src/net/ssrf.test.ts',
        'a name that answers differently the second time is connected to at the address that was checked',
      ]),
    ],
  },
  {
    whose: 'CVE-2026-25536, CVE-2026-0621 (MCP TypeScript SDK)',
    failure: 'An answer went to another client; an address pattern hung the process',
    held: 'an idempotency key belongs to one principal and route; patterns run in linear time: identity/authenticate.ts, toolkit/src/schema/pattern.ts',
    bugs: [
      plant('a key of one caller answers another', [
        'verification/acceptance/idempotency.test.ts',
        'a key belongs to one principal and one route',
      ]),
      plant('any pattern is taken', [
        'packages/toolkit/src/schema/pattern.test.ts',
        'what only a backtracking engine can match is refused when the schema is read',
      ]),
    ],
  },
  {
    whose: 'CVE-2026-29085 (Hono), CVE-2026-25223 (Fastify)',
    failure: 'A line break created another event; a tab in the content type bypassed the check',
    held: 'frames hold JSON and integers only; one spelling per content type is accepted: http/sse.ts, http/intake.ts',
    bugs: [
      plant('line breaks of a text go out as they are', [
        'verification/acceptance/stream-injection.test.ts',
        'nothing that a person or a model writes becomes a line of an event stream',
      ]),
      plant('a tab may stand in the content type', [
        'packages/server/src/http/intake.test.ts',
        'bodies are of one content type, and no trick of spelling makes it another',
      ]),
    ],
  },
  {
    whose: 'ours: T19, T20',
    failure: 'A secret in an answer was stored, shown, logged or given to the model',
    held: 'answers are redacted on arrival; internal errors show only an id: toolkit/src/net/secrets.ts, http/errors.ts',
    bugs: [
      plant('what a service echoes is kept', [
        'packages/toolkit/src/routes/route-answers.more.test.ts',
        'a secret of the headers does not come back in a result or an error, even when the service echoes it',
      ]),
      plant('an error of ours says what broke', [
        'packages/server/src/http/errors.test.ts',
        'what is not in the table is told as an id of the log, never in its own words',
      ]),
    ],
  },
  {
    whose: 'ours: T21, T22',
    failure: 'Foreign JSON changed a prototype or had no limits',
    held: 'one strict reader with limits: core/src/json/scan.ts, core/src/json/parse.ts',
    bugs: [
      plant('__proto__ is a key like others', [
        'packages/core/src/json/pollution.test.ts',
        'no JSON from outside changes a prototype, nor yields an object with another one',
      ]),
      plant('nesting has no end', ['packages/core/src/json/parse.test.ts', '64 levels are taken and 65 refused']),
    ],
  },
  {
    whose: 'ours: T10',
    failure: 'One agent filled the inbox until nobody could find what mattered',
    held: 'waiting actions are capped per requester and session, and an unkeyed repeat is the same action: gate/propose/waiting-limits.ts, gate/propose/repeat-ask.ts',
    bugs: [
      plant('nobody counts what waits', [
        'verification/acceptance/waiting-limits.test.ts',
        'an agent has as much waiting as the policy allows and no more, however many calls it makes at once',
      ]),
      plant('a repeat is another action', [
        'verification/acceptance/waiting-limits.test.ts',
        'the same call again without a key is the same action: asked once, done once, and both callers hear of it',
      ]),
      plant('two wishes with keys of their own are one', [
        'verification/acceptance/waiting-limits.test.ts',
        'calls with keys of their own are as many wishes, and happen as often',
      ]),
    ],
  },
  {
    whose: 'ours: T24',
    failure: 'A stalled reader or sender held memory or connections',
    held: 'buffers and times are bounded: http/sse.ts, http/intake.ts',
    bugs: [
      plant('who reads nothing is never hung up on', [
        'packages/server/src/http/follow.test.ts',
        'a reader that takes nothing is hung up on, and goes on from the last id it has',
      ]),
    ],
  },
]
