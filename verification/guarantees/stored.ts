import type { Guarantee } from './guarantee.ts'

/** The guarantees about stored rows and events: I6 to I8. */
export const STORED: readonly Guarantee[] = [
  {
    id: 'I6',
    says: 'Every tool call has exactly one result before the next model call',
    tests: {
      'verification/acceptance/histories.more.test.ts': [
        'with each model, refused, failed, unknown, cancelled and repeated calls all end in one result each',
        'with every provider, a cancelled run leaves a history that the next message can go on with',
      ],
      'packages/server/src/agent/races.more.test.ts': [
        'whatever people do at the same time, nothing runs twice or unapproved, nobody is told a wrong winner, nothing is left hanging',
      ],
      'verification/acceptance/bound.test.ts': [
        'what failed, was told so, and is asked again when a person retries it keeps its one result: the model hears the rest as a note',
        'what its target refused as stale is told to the model once, as the result of its call, when the one asked again is done',
      ],
    },
  },
  {
    id: 'I7',
    says: 'A stream has no gap, repeat or reordering, wherever it is resumed',
    tests: {
      'verification/acceptance/streams.more.test.ts': [
        'kill -9 while a message streams: it is begun anew, and nobody sees old and new pieces as one text',
        '100 readers cut at random bytes: each has every event once, in order, and knows what the API says',
      ],
      'packages/server/src/store/tables/log.test.ts': [
        'a reader of the log misses nothing that is committed out of order, and has it in order',
      ],
      'packages/server/src/dispatch/cluster/postgres-hub.test.ts': [
        'what any process commits is handed over once, in order, in every process that follows the session',
        'whoever subscribes at any moment, and whatever breaks, misses nothing and hears nothing twice',
      ],
    },
  },
  {
    id: 'I8',
    says: 'An acknowledged decision survives the loss of any one process or machine',
    tests: {
      'verification/acceptance/crash.more.test.ts': [
        'kill -9 right behind the answers to decisions: every decision that was answered still counts, and runs once',
      ],
      'packages/server/src/store/postgres/postgres.test.ts': ['a COMMIT whose answer is lost counts once: it is looked up, not done again'],
      'packages/server/src/store/postgres/crash.more.test.ts': [
        'what a crash of the database lost is done again, also when another transaction has its number now',
      ],
      'packages/server/src/gate/execute/retry.test.ts': [
        'a disk that is full when the target answers: the answer is stored when there is room, and was asked for once',
        'a process that stops while the database takes nothing leaves the attempt for the next one',
        'the answer of a target is stored when the database takes it again, and the target is not asked twice',
      ],
      'verification/acceptance/copies-postgres.more.test.ts': [
        'failover to a synchronous standby is no copy: nobody is held and no acknowledged decision is lost',
      ],
    },
  },
  {
    id: 'I8',
    says: 'A lost, incomplete or damaged database is refused at the start, and takes no decision if it happens later. `/readyz` shows a full disk',
    tests: {
      'packages/server/src/store/data-folder.test.ts': [
        'a database file that was lost or damaged is refused, the write-ahead log beside it is kept, and --accept-loss begins anew',
        'a database that lost its write-ahead log is refused with how much is missing, and --accept-loss goes on without it',
        'a file that is no database, and one with damaged pages, are refused by their path',
      ],
      'verification/acceptance/damage.more.test.ts': [
        'pages that are damaged while a server runs: no decision is taken, nothing starts, and the file is named',
        'damaged pages of a Postgres table: no decision is taken, nothing starts, until somebody has looked after it',
      ],
      'verification/acceptance/full-disk.more.test.ts': [
        'on a full disk nothing is granted and nothing half stored, and readyz and the metrics say so; with room again the same decision counts, and runs once',
      ],
    },
  },
  {
    id: 'I8',
    says: 'Nothing is acknowledged into an SQLite file that was moved or deleted, nor by a Postgres that takes no writes. `/readyz` says so, and work goes on by itself',
    tests: {
      'packages/server/src/store/sqlite/sqlite.test.ts': [
        'a database whose file or log is moved or deleted under it takes no writes until it is back: they would be gone with the process',
      ],
      'verification/acceptance/no-writes.more.test.ts': [
        'a database that takes no writes for a time, or is moved away: readyz says so, what was acknowledged stays, and all goes on by itself',
      ],
    },
  },
  {
    id: 'I8',
    says: 'A backup of a running server has every decision acknowledged before it began. It is complete or absent, and it restores',
    tests: {
      'verification/acceptance/backup.more.test.ts': [
        'a backup under traffic holds every decision that was answered before it began, and a server runs on what is restored',
        'killed at any moment, a backup leaves no file under its name, or a whole one',
      ],
    },
  },
  {
    id: 'I8',
    says: 'A process that was starved itself declares no other process dead before it has observed it long enough',
    tests: {
      'packages/server/src/dispatch/cluster/failure-detector.test.ts': [
        'who stood still itself calls nobody frozen until it has watched for as long again',
      ],
    },
  },
  {
    id: 'I8',
    says: "Acknowledged decisions, sent attempts, archived events and the record's key file survive a power failure. Data that was readable after a failed fsync is written again before use. The server starts afterwards and is not held",
    tests: {
      'verification/campaign/power/power.more.test.ts': [
        'every answered decision, every attempt that was sent, the archive and the key of the record survive, and the server starts, unheld',
        'what could be read after a failed fsync is not built upon before it is on the disk',
      ],
    },
  },
  {
    id: 'I8',
    says: 'On damage or a failed disk (SQLite), the transactions in the same and the next commit are refused',
    tests: {
      'packages/server/src/store/watch-health.test.ts': [
        'when one transaction finds damage, every transaction of its batch is refused and none is stored',
        'when a read finds damage, transactions that are queued already are refused too',
      ],
    },
  },
  {
    id: 'I8',
    says: 'After a disk failure SQLite accepts no writes until a restart. A request refused for lack of space had no effect',
    tests: {
      'verification/campaign/disk/disk.more.test.ts': [
        'an fsync of the log fails once: nothing more is taken until the next start',
        'there is no room for the log: what was refused was not granted, and with room it goes on',
      ],
      'verification/acceptance/full-disk.more.test.ts': [
        'on a full disk nothing is granted and nothing half stored, and readyz and the metrics say so; with room again the same decision counts, and runs once',
      ],
    },
  },
  {
    id: 'I8',
    says: 'A pooler without the needed session state is refused at the start. Behind PgBouncer in transaction mode, decisions count and actions run once while it is killed, reloaded or paused; another server resumes a session after both were killed',
    tests: {
      'verification/campaign/pooler/pooler.more.test.ts': [
        'without the direct address the server does not start, and says which variable to set',
        'a pooler that loses prepared statements is refused at the start',
        'with both addresses decisions count and run once while the pooler is killed, paused and reloaded and its connections rotate',
        'the main job goes through PgBouncer whole: a chat asks, a person approves at another server, the tool runs once, the session goes on',
      ],
    },
  },
]
