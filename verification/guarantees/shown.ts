import type { Guarantee } from './guarantee.ts'

/** The record, the card and the bounds: I11, I12 and I14. */
export const SHOWN_AND_BOUNDED: readonly Guarantee[] = [
  {
    id: 'I11',
    says: 'Every transition writes one hash-chained row in its transaction. Without the row nothing happens. Changes to rows are detected',
    tests: {
      'verification/acceptance/audit.test.ts': [
        'an export is verified without the server; what was changed in it is named, and the command says so',
        'every transition has one row of the record, chained to the one before, with who, what and by which rule',
        'what happens in a session is one chain, and who cancels or stops it is in it',
      ],
      'packages/server/src/audit/record.test.ts': [
        'no audit, no effect: what cannot be recorded does not happen, and nothing is sent (each database)',
        'nothing is sealed past a row that may still be committed',
      ],
      'packages/server/src/audit/no-row-no-move.test.ts': [
        'each database: no audit, no effect: whatever moves an action, nothing of it is there while its row cannot be written',
        'each database: what a target answered is not told before it is recorded, and the target is not asked again',
      ],
      'packages/server/src/audit/tampers.more.test.ts': [
        'a row that is said to follow another one is found, also in a part of the record',
        'a row that names another one as the row before it is found, although its head was signed over it',
        'what is changed in the database before it is sealed is found by the row behind it',
        'which row a row follows is covered by its head: it cannot be changed where the row before it is not in the file',
        'whoever changes an exported record is found out, whatever they change and with all of our code',
        'whoever changes the database is found out by the next export, which has our signature',
      ],
      'verification/campaign/audit': [],
      'verification/acceptance/waiting-limits.test.ts': ['the record has each repeat of a call, and who made it'],
    },
  },
  {
    id: 'I11',
    says: 'The server does not sign over sealed rows that were rewritten, deleted, moved or rolled back. It reports this and continues only after an admin accepts it on the record',
    tests: {
      'verification/acceptance/forged-record.more.test.ts': [
        'a sealed row that was rewritten, with all hashes recomputed and its heads deleted, is not signed again',
        'what is changed while the server runs is noticed with the next row',
        'when sealed rows were changed, nothing is sealed until an admin accepts it',
      ],
      'verification/acceptance/kept-heads.more.test.ts': [
        'a database that was rolled back is held; accepting the copy lets the record go on, and the next head says what is missing',
        'a remembered head that is deleted, or replaced by an older one, is said in the record, and the server goes on',
        'accepting a copy does not accept that a sealed row was changed',
        'an anchor finds that the record was rewritten, cut off or deleted, and without one the command says what it cannot know',
      ],
    },
  },
  {
    id: 'I11',
    says: 'With a head kept elsewhere, a rewritten, truncated or deleted record does not verify',
    tests: {
      'verification/acceptance/kept-heads.more.test.ts': [
        'a database that was rolled back is held; accepting the copy lets the record go on, and the next head says what is missing',
        'a remembered head that is deleted, or replaced by an older one, is said in the record, and the server goes on',
        'accepting a copy does not accept that a sealed row was changed',
        'an anchor finds that the record was rewritten, cut off or deleted, and without one the command says what it cannot know',
      ],
      'packages/server/src/audit/anchor.test.ts': [
        'the newest head is written to the anchor file at once, then at most once an interval, and when the server stops',
      ],
    },
  },
  {
    id: 'I11',
    says: 'At most one head is signed a second',
    tests: {
      'packages/server/src/audit/sealer.more.test.ts': ['under load the sealer signs at most one head a second (each database)'],
    },
  },
  {
    id: 'I12',
    says: 'The card shows everything unaltered. Different bytes look different',
    tests: {
      'packages/core/src/text/show-invisible.test.ts': [
        'every code point that cannot be seen is spelled out, alone and between letters, and everything else stays',
        'of marks that pile up on one letter, the fifth and all later ones are spelled out: more would cover the lines around it',
        'a host in other letters shows the host that will be asked, and an encoded one how it reads',
      ],
      'packages/react/src/approval-card-content.browser.more.test.ts': [
        'markup, links and unseen characters are plain text and fetch nothing',
        'a long argument with its payload in the tail holds a high risk until it is opened',
      ],
      'packages/react/src/looks.browser.more.test.ts': ['what nobody may decide without having seen stands outside the details'],
    },
  },
  {
    id: 'I14',
    says: 'Inputs, patterns and answers are bounded in size and time',
    tests: {
      'packages/core/src/json/parse.test.ts': [
        '64 levels are taken and 65 refused',
        '256 KB of UTF-8 are taken and one byte more is too large',
        'hostile texts are answered at once',
      ],
      'packages/core/src/json/check.test.ts': ['values without an end are answered: endless depth, endless length, a huge string'],
      'packages/toolkit/src/schema/pattern.test.ts': [
        'no pattern of a schema takes more than 50 ms for the longest text there is',
        'a long text against many patterns is refused in bounded time, and many short ones are checked',
      ],
      'packages/server/src/models/remote-brain.test.ts': ['an event over 1 MB and an answer over 16 MB are refused'],
      'packages/server/src/http/intake.test.ts': ['whoever sends a head or a body too slowly is let go, and others are answered meanwhile'],
      'verification/acceptance/inputs.test.ts': [
        'a body that is not acceptable is 400 or 413 in words, on every route, and stores nothing',
        'a client that sends a far too large body reads 413, not a closed connection',
      ],
      'packages/server/src/gate/execute/recover.test.ts': [
        'each database: a read that two processes did not survive is not sent a third time, and the model is told why',
      ],
      'packages/toolkit/src/routes/route-answers.more.test.ts': [
        'an answer over 1 MB is refused for a read and left out for a write that happened',
      ],
    },
  },
  {
    id: 'I14',
    says: 'Every table has an owner: rows are deleted after a limit, bounded, or kept on purpose. A stored answer is kept as long as a repeat may ask for it',
    tests: {
      'verification/campaign/soak': [],
      'packages/server/src/store/tables/retention.more.test.ts': [
        'the answer to an Idempotency-Key is kept for a day and then deleted (each database)',
        'the key of an MCP client is kept until 30 days after its action was settled, however long that takes (each database)',
        'what model calls counted is kept for 400 days (each database)',
      ],
      'packages/server/src/dispatch/retention.test.ts': [
        'old rows are deleted a minute after the start and then every ten minutes, however many there are (each database)',
        'rows are kept for as long as the configuration says',
      ],
    },
  },
  {
    id: 'I14',
    says: 'Rows are kept as long as the configuration says. An unusable duration is refused at the start',
    tests: {
      'packages/server/src/config/retention.test.ts': [
        'a time that cannot be used is refused with its place: %j',
        'the reference says the default and the least of every time, as the server takes them',
      ],
      'packages/server/src/dispatch/retention.test.ts': [
        'old rows are deleted a minute after the start and then every ten minutes, however many there are (each database)',
        'rows are kept for as long as the configuration says',
      ],
    },
  },
  {
    id: 'I14',
    says: "SQLite's log and file, MCP pins and the memory of rate limits stay bounded",
    tests: {
      'packages/server/src/store/sqlite/sqlite.test.ts': [
        'without a reader beside it the write-ahead log stays at 4,000 pages and a transaction, however much is written',
        'the pages of deleted rows are used again: a file that is filled and cleaned again and again does not grow',
      ],
      'packages/tools-mcp/src/hostile.test.ts': [
        'a server that always names other tools is pinned 5,000 of them; what is not pinned is not offered',
      ],
      'packages/server/src/identity/limits.test.ts': [
        'a guesser with a hundred thousand addresses costs the memory of 20,000, and who was refused stays refused',
      ],
    },
  },
]
