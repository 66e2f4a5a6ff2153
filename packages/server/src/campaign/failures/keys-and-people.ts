import { type Failure, plant } from './planted-failure.ts'

const PEOPLE = 'packages/server/src/acceptance/people.test.ts'
const KEYS_OF_OTHERS = 'packages/server/src/acceptance/keys-of-others.test.ts'
const OUT_AT_ONCE = 'a disabled person is out at once: keys, agents, consoles and open streams of theirs end'
const APPROVES_NOTHING =
  'who left approves nothing: open votes are void, grants and delegations end, and what they approved is asked again before it starts'

/** A key or a person does more than somebody decided that they may. */
export const KEYS_AND_PEOPLE: readonly Failure[] = [
  {
    whose: 'ours (issue 11)',
    failure: 'A copy of the database, or a second user of the machine, gave the keys away',
    held: 'keys are random and their answers hold no secret: http/identity/directory.ts; files are 0600 whatever the umask: private-files.ts',
    bugs: [
      {
        bug: 'a key follows from what the database holds',
        patches: [
          {
            file: 'packages/server/src/http/identity/directory.ts',
            find: "import { timingSafeEqual } from 'node:crypto'",
            replace: "import { createHmac, timingSafeEqual } from 'node:crypto'",
          },
          {
            file: 'packages/server/src/http/identity/directory.ts',
            find: 'const drawn = drawKey()',
            replace: `const drawn = once ? \`cs_\${createHmac('sha256', principal.id).update(\`\${once.scope} \${once.key}\`).digest('base64url')}\` : drawKey()`,
          },
        ],
        test: {
          file: 'packages/server/src/acceptance/random-keys.test.ts',
          name: 'a thief with a copy of the database cannot compute a key that was made with an Idempotency-Key',
        },
      },
      plant(
        'the umask says who reads the database',
        ['packages/server/src/store/sqlite.ts', '    makePrivateFile(file)\n    db = new', '    db = new'],
        [
          'packages/server/src/private-files.test.ts',
          'another user of the machine reads no file of a data folder, whatever the umask is and whoever made the folder',
        ],
      ),
    ],
  },
  {
    whose: 'ours (issue 11)',
    failure: 'An admin was a second person: by a key made in another’s name, a vote lent to themselves, a wider key',
    held: 'a person’s key that somebody else made only reads until its person accepts it; a limited key makes nothing wider: http/identity/keys.ts',
    bugs: [
      plant(
        'a key needs nobody’s acceptance',
        [
          'packages/server/src/http/identity/keys.ts',
          '|| by.id === principal.id ? nowMs : null',
          '|| by.id === principal.id ? nowMs : nowMs',
        ],
        [KEYS_OF_OTHERS, 'an admin does not vote a second time with a key that they made in another’s name, by any route'],
      ),
      plant(
        'a key that nobody accepted is not limited',
        ['packages/server/src/http/identity/keys.ts', '...(isUnaccepted && { scopes: [], unaccepted: true as const }),', ''],
        [KEYS_OF_OTHERS, 'an admin does not vote a second time with a key that they made in another’s name, by any route'],
      ),
      plant(
        'a limited key makes any key',
        ['packages/server/src/http/identity/keys.ts', '  if (by) yield* requireNoWiderKey(by, body, principal)\n', ''],
        [KEYS_OF_OTHERS, 'a limited key makes and accepts nothing wider than itself: in scopes, in roles, or for another person'],
      ),
      plant(
        'an admin lends themselves a vote',
        ['packages/server/src/gate/delegations.ts', 'body.to === principal.id) {', "body.to === '') {"],
        [KEYS_OF_OTHERS, 'an admin does not lend themselves the vote of somebody else; a third person may be lent it'],
      ),
    ],
  },
  {
    whose: 'ours (issue 11)',
    failure: 'Who had left went on approving: by a grant, a delegate, an old vote, an agent’s key',
    held: 'disabling ends all of it in one transaction, and whoever is disabled counts nowhere: http/identity/people.ts, gate/rights.ts',
    bugs: [
      plant(
        'the keys of their agents go on',
        [
          'packages/server/src/store/keys.ts',
          "eb.or([eb('principal.id', '=', p.person_id), eb('principal.person_id', '=', p.person_id)])",
          "eb('principal.id', '=', p.person_id)",
        ],
        [PEOPLE, OUT_AT_ONCE],
      ),
      {
        bug: 'their grants go on',
        patches: [
          {
            file: 'packages/server/src/http/identity/people.ts',
            find: '  for (const grant of given) yield* grants.revokeGrant.run({ id: grant.id, revoked_by: by.id, now })\n',
            replace: '',
          },
          { file: 'packages/server/src/gate/rights.ts', find: 'row.disabled_at === null && ', replace: '' },
        ],
        test: { file: PEOPLE, name: APPROVES_NOTHING },
      },
      plant(
        'their votes stand',
        [
          'packages/server/src/http/people.ts',
          '      // Not counted any more already. A repeat after a crash finds what is left.\n      await gate.voidVotesOf(id, caller)\n',
          '',
        ],
        [PEOPLE, APPROVES_NOTHING],
      ),
      plant(
        'who is disabled meanwhile still disables others',
        [
          'packages/server/src/http/identity/people.ts',
          'const isAdmin = admin?.disabled_at === null && ',
          'const isAdmin = admin !== undefined && ',
        ],
        [PEOPLE, 'nobody disables themselves or changes their own roles; of two admins who disable each other at once, one stays'],
      ),
    ],
  },
]
