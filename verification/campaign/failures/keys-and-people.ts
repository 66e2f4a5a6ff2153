import { type Failure, plant } from './planted-failure.ts'

const PEOPLE = 'verification/acceptance/people.test.ts'
const KEYS_OF_OTHERS = 'verification/acceptance/keys-of-others.more.test.ts'
const OUT_AT_ONCE = 'a disabled person is out at once: keys, agents, consoles and open streams of theirs end'
const APPROVES_NOTHING =
  'who left approves nothing: open votes are void, grants and delegations end, and what they approved is asked again before it starts'

/** A key or a person does more than somebody decided that they may. */
export const KEYS_AND_PEOPLE: readonly Failure[] = [
  {
    whose: 'ours',
    failure: 'A database copy, or a second user of the machine, revealed the keys',
    held: 'keys are random and their answers hold no secret: identity/directory.ts; files are 0600 whatever the umask: private-files.ts',
    bugs: [
      {
        bug: 'a key follows from what the database holds',
        test: {
          file: 'verification/acceptance/random-keys.test.ts',
          name: 'a thief with a copy of the database cannot compute a key that was made with an Idempotency-Key',
        },
      },
      plant('the umask says who reads the database', [
        'packages/server/src/private-files.test.ts',
        'another user of the machine reads no file of a data folder, whatever the umask is and whoever made the folder',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'An admin acted as a second person: with a key in another’s name, a vote delegated to themselves, a wider key',
    held: 'a key made for another person only reads until they accept it; a limited key extends no rights: identity/keys.ts',
    bugs: [
      plant('a key needs nobody’s acceptance', [
        KEYS_OF_OTHERS,
        'an admin does not vote a second time with a key that they made in another’s name, by any route',
      ]),
      plant('a key that nobody accepted is not limited', [
        KEYS_OF_OTHERS,
        'an admin does not vote a second time with a key that they made in another’s name, by any route',
      ]),
      plant('a limited key makes any key', [
        KEYS_OF_OTHERS,
        'a limited key makes and accepts nothing wider than itself: in scopes, in roles, or for another person',
      ]),
      plant('an admin lends themselves a vote', [
        KEYS_OF_OTHERS,
        'an admin does not lend themselves the vote of somebody else; a third person may be lent it',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'A person who had left still approved: by a grant, a delegate, an old vote, an agent’s key',
    held: 'disabling ends all of it in one transaction, and a disabled person counts nowhere: identity/people.ts, gate/decide/rights.ts',
    bugs: [
      plant('the keys of their agents go on', [PEOPLE, OUT_AT_ONCE]),
      {
        bug: 'their grants go on',
        test: { file: PEOPLE, name: APPROVES_NOTHING },
      },
      plant('their votes stand', [PEOPLE, APPROVES_NOTHING]),
      plant('who is disabled meanwhile still disables others', [
        PEOPLE,
        'nobody disables themselves or changes their own roles; of two admins who disable each other at once, one stays',
      ]),
    ],
  },
]
