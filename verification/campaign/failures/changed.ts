import { type Failure, plant } from './planted-failure.ts'

const BOUND = [
  'verification/campaign/bound/bound.more.test.ts',
  'whatever one thing is otherwise between the decision and the start, it is not sent; what is the same is sent',
] as const

/** Failures where the call that runs differs from the one that was shown or decided. */
export const CHANGED: readonly Failure[] = [
  {
    whose: 'openai-agents-js #1097; vercel/ai #11294, #10070, PR #10720; cymoo/lovia #40',
    failure: 'Other arguments than the edited ones ran, or the model was not told',
    held: 'an edit is a new revision with its own digest, and the result says what ran: gate/decide/revise.ts, gate/execute/tool-result.ts',
    bugs: [
      plant('an edit is shown, and the first arguments run', [
        'verification/acceptance/edits.test.ts',
        'approved with edits: what runs is what the person wrote, under its own revision and digest, and both are in the record',
      ]),
      plant('the model is not told of an edit', [
        'verification/acceptance/histories.more.test.ts',
        'with openai-chat/m, what was edited, edited and declined, and asked again makes a history that the provider takes, its own calls untouched',
      ]),
    ],
  },
  {
    whose: 'eve #758; vercel/ai PR #17185; adk-python #3506',
    failure: 'Terms (a price, a recipient) changed between approval and execution',
    held: 'the target is read again before the start, and the version that was read is sent: gate/execute/revalidate.ts, toolkit/src/http/http-call.ts',
    bugs: [
      plant('the target is not looked at again', [
        'verification/acceptance/bound.test.ts',
        'what changed after it was shown is not carried out: it is asked again, with the values of now and the reason',
      ]),
      plant('the version that was read is not sent', [
        'verification/acceptance/bound.test.ts',
        'a change between the last look and the send is refused by the target, and asked again with the values of now',
      ]),
      plant('values that cannot be read again count as the same', [
        'verification/acceptance/bound.test.ts',
        'values that cannot be read again are no reason to go on: nothing is sent, and it can be started again',
      ]),
    ],
  },
  {
    whose: 'ours: found by planting',
    failure: 'A call refused as stale counted as reported: after it was approved again and done, the model never got its result',
    held: 'going back for approval delivers no result, so the end does: gate/execute/settle.ts',
    bugs: [
      plant('what the target refused as stale counts as told', [
        'verification/acceptance/bound.test.ts',
        'what its target refused as stale is told to the model once, as the result of its call, when the one asked again is done',
      ]),
    ],
  },
  {
    whose: 'GHSA-hjvp-qhm6-wrh2, CVE-2026-32065, GHSA-2j8v-hwgc-x698 (openclaw)',
    failure: 'Environment, white space or arguments differed between approval and execution',
    held: 'the digest covers tool, definition, arguments, destination, credential and precondition, and is recomputed from what is sent: gate/propose/digest.ts',
    bugs: [
      {
        bug: 'with whose rights it runs is not bound',
        test: { file: BOUND[0], name: BOUND[1] },
      },
      plant('the digest leaves the arguments out', BOUND),
      plant('arguments are trimmed on their way to the digest', BOUND),
      plant('the digest is not made again', BOUND),
    ],
  },
  {
    whose: 'mastra #19633; eve #3103',
    failure: 'A decision about an older call was applied to a newer one, or an answer under the old id was lost',
    held: 'actions have ids of ours that nothing changes, a decision names revision and digest, and a provider’s call id is only data',
    bugs: [
      plant('a decision holds for any revision', [
        'verification/acceptance/action-lifecycle.test.ts',
        'a decision about another revision or digest is a 409 with the action to look at again, and decides nothing',
      ]),
      plant('a provider’s id stands for two calls', [
        'verification/acceptance/histories.more.test.ts',
        'with openai-chat/m, refused, failed, unknown, cancelled and repeated calls all end in one result each',
      ]),
      plant('what is asked again keeps its votes', [
        'verification/acceptance/edits.test.ts',
        'an edit voids the votes before it, and a decision about the version before it is refused',
      ]),
    ],
  },
  {
    whose: 'moira #202; agenticos #274',
    failure: 'A deploy that changed only wording ended waiting actions; a missing tool left an action running forever',
    held: 'the definition hash omits wording for people; an action without its tool fails with a plain message: toolkit/src/open-tools.ts, gate/execute/verify-binding.ts',
    bugs: [
      plant('words for people are part of the definition', [
        'packages/toolkit/src/open-tools.test.ts',
        'a definition hash changes with what a tool is, and not with its words for people',
      ]),
    ],
  },
  {
    whose: 'ours: H37',
    failure: 'A permission or a policy was revoked between decision and start',
    held: 'policy, votes and grants are checked again in the transaction that starts the action: gate/decide/approval-validity.ts',
    bugs: [
      plant('a policy that denies by now is not asked', BOUND),
      plant('a grant that is over still carries what it approved', [
        'packages/server/src/gate/grants/grants.test.ts',
        'what a grant approved and has not started is asked again when the grant does not hold any more',
      ]),
    ],
  },
]
