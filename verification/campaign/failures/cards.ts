import { type Failure, plant } from './planted-failure.ts'

const SAME_LOOK_TEST = 'packages/server/src/gate/execute/same-look.test.ts'
const IMPOSSIBLE_TEST = 'verification/acceptance/impossible.test.ts'
const PREVIEW_TEST = 'packages/tools-openapi/src/preview.test.ts'

/** Failures where a card differs from the call that would run. */
export const CARDS: readonly Failure[] = [
  {
    whose: 'ours',
    failure: 'An approved PUT went back for approval because its members were reordered',
    held: 'previews, headlines and preconditions use canonical values: gate/propose/prepare.ts, toolkit/src/tool-draft.ts',
    bugs: [
      plant('a preview is read with the arguments in the order of the agent', [
        SAME_LOOK_TEST,
        'permuting the keys of the arguments or of the target’s answer changes nothing that a decision is bound to: coded tools, routes, documents',
      ]),
      plant('a headline is made from the arguments in the order of the agent', [
        SAME_LOOK_TEST,
        'permuting the keys of the arguments or of the target’s answer changes nothing that a decision is bound to: coded tools, routes, documents',
      ]),
      plant('an answer is compared in the order in which the target lists its members', [
        SAME_LOOK_TEST,
        'permuting the keys of the arguments or of the target’s answer changes nothing that a decision is bound to: coded tools, routes, documents',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'A person was asked about an impossible call',
    held: 'a preview may refuse, and then nobody is asked: gate/propose/impossible.ts',
    bugs: [
      plant('what cannot be done is asked about all the same', [
        IMPOSSIBLE_TEST,
        'what cannot be done is refused at once with the reason: no card, nothing waiting, one row in the record',
      ]),
      plant('a refusal of the preview counts as a target that cannot be read', [
        IMPOSSIBLE_TEST,
        'a call of the gateway that cannot be done is answered with the reason, and the same call is a new one once it can',
      ]),
      plant('what became impossible while its card waited is asked about again', [
        IMPOSSIBLE_TEST,
        'what became impossible while its card waited is not carried out and not asked about again: it fails with the reason',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'A PATCH was shown as deleting every field it did not name',
    held: 'a request is compared with the current state leaf by leaf, and only a whole PUT removes fields: tools-openapi/src/compare.ts, preview.ts',
    bugs: [
      plant('what a PATCH does not name is shown as going', [
        PREVIEW_TEST,
        'a PATCH is shown leaf by leaf, and the entries of a list by what they are',
      ]),
      plant('what a whole PUT does not name is not shown as going', [
        PREVIEW_TEST,
        'a PUT shows as going what it replaces and does not name, where its body has to be whole; elsewhere it says that nobody can tell',
      ]),
      plant('entries of a list are compared by their place', [
        PREVIEW_TEST,
        'a PATCH is shown leaf by leaf, and the entries of a list by what they are',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'A response envelope was compared with the body, or another object’s value was shown as changing',
    held: 'only envelopes are removed, on both sides: tools-openapi/src/envelope.ts',
    bugs: [
      plant('an envelope is a value like others', [
        PREVIEW_TEST,
        'envelopes of body and answer are no part of what is compared, and nothing that is not sent is struck out',
      ]),
      plant('any object in an answer is the thing that changes', [
        PREVIEW_TEST,
        'the value of another thing is never shown as the one that changes',
      ]),
    ],
  },
]
