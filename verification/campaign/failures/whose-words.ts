import { type Failure, plant } from './planted-failure.ts'

const WORDS = 'verification/acceptance/whose-words.test.ts'
const NAMES = 'verification/acceptance/agent-names.test.ts'
const EDITS = 'verification/acceptance/edit-floor.test.ts'
const MEMBERS = 'verification/acceptance/members.test.ts'

/** Somebody acts under the name, or with the rights, of somebody else. */
export const WHOSE_WORDS: readonly Failure[] = [
  {
    whose: 'ours',
    failure: 'Anybody who saw a session could write in it, and the agent acted with its owner’s rights',
    held: 'only the owner and invited people write in a session, and policy and grants apply to each author: agent/participants.ts, policy/for-all.ts',
    bugs: [
      plant('whoever sees a session writes in it', [
        WORDS,
        'who sees a session and is not invited cannot write in it, by any route; what waits in it they still decide',
      ]),
      plant('policy is asked for the owner alone', [
        WORDS,
        'a rule that allows the owner does not allow what somebody else’s words led to: the strictest answer of all who asked counts',
      ]),
      plant('a grant of a session is for whoever writes in it later', [
        WORDS,
        'approve all holds for the words of those who had written when it was said, and of nobody after them',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'An agent took another agent’s name, and policy used it',
    held: 'the key determines the agent; an unproven name never loosens the result: gate/propose/agent-name.ts, policy/for-all.ts',
    bugs: [
      plant('an agent is called what it says', [
        NAMES,
        'an agent that gives itself the name of another one is refused, over HTTP and over MCP, and nothing happens',
      ]),
      plant('a name that nothing proves is believed', [
        NAMES,
        'a name that nothing proves is shown as such: no rule allows by it and no grant answers it, and rules that ask or deny still hold',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'One approver rewrote the arguments and approved them alone, although the rule required somebody else',
    held: 'an editor is a requester, and an edit needs at least the first version’s approvals: gate/propose/prepare-again.ts, gate/decide/revise.ts',
    bugs: [
      plant('who edits did not ask for it', [
        EDITS,
        'with notRequester, who edits an action cannot approve it alone, and somebody else can',
      ]),
      plant('an edit takes what its new arguments take', [
        EDITS,
        'an edit never lowers what the first version required, nor does reading its values again',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'Only approvers could ask agents for something',
    held: 'the role `member` asks and decides nothing, whatever a rule names: core `holdsRole`, gate/caller.ts',
    bugs: [plant('a member decides where a rule names the role', [MEMBERS, 'a member decides nothing, even where a rule names the role'])],
  },
]
