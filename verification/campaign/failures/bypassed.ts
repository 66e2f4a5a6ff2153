import { type Failure, plant } from './planted-failure.ts'

/** Something runs that nobody was asked about: by another way in, by a name, by an older permission. */
export const BYPASSED: readonly Failure[] = [
  {
    whose: 'langchain #40166',
    failure: 'An edit turned the call into another one whose policy was not evaluated',
    held: 'an edit cannot change the tool, and the edited call is validated and evaluated like any other: gate/decide/edit.ts, gate/decide/revise.ts',
    bugs: [
      plant('an edited call is not held against policy', [
        'verification/acceptance/edits.test.ts',
        'an edit that does not fit the tool, or that policy denies, changes nothing',
      ]),
      plant('an edited call asks for what the first one asked for', [
        'verification/acceptance/edits.test.ts',
        'an edit into what asks for more waits for more: with the vote of its editor where they may decide, without it where not',
      ]),
    ],
  },
  {
    whose: 'langchain #38838',
    failure: 'A misspelt tool name in the policy silently removed the approval',
    held: 'a rule that names an unknown tool is refused at the start and at every save: policy/problems.ts',
    bugs: [plant('a rule may name a tool that is not there', ['packages/server/src/config/load.test.ts', 'refused: a rule for nothing'])],
  },
  {
    whose: 'mastra #20470; langchain #40492',
    failure: 'A declined action was executed',
    held: 'a start is one guarded update from `approved`; a decline is final and reaches no tool: gate/decide/decide.ts, store/tables/attempts.ts',
    bugs: [
      plant('a decline is stored as an approval', [
        'verification/acceptance/gated-runs.test.ts',
        'a decline with its reason is the tool’s result, and the model answers',
      ]),
      {
        bug: 'a declined action is put up for execution, and starts',
        test: {
          file: 'verification/acceptance/gated-runs.test.ts',
          name: 'a decline with its reason is the tool’s result, and the model answers',
        },
      },
      plant('votes are not counted again when it starts', [
        'verification/campaign/bound/bound.more.test.ts',
        'whatever one thing is otherwise between the decision and the start, it is not sent; what is the same is sent',
      ]),
    ],
  },
  {
    whose:
      'mastra #14996, #15776; mercury #99; goose #11778; MS agent-framework #4963; CopilotKit #4953; docker-agent PR #3694; adk-python #7148',
    failure: 'Another path to the same tool (sub-agent, second transport, nested call, processor) bypassed the approval',
    held: 'one place creates actions and one sends them; sessions, outside agents and remote brains all use gate/propose/propose.ts',
    bugs: [
      plant('what an outside agent proposes is allowed', [
        'verification/acceptance/outside-agent.test.ts',
        'policy may answer at once: a read runs, a forbidden tool is declined with the reason',
      ]),
      plant('an agent calls any tool that there is', [
        'verification/acceptance/gated-runs.test.ts',
        'an agent may not use a tool that it was not given',
      ]),
      {
        bug: 'what a remote brain announces is a call',
        test: {
          file: 'packages/server/src/models/remote-brain.test.ts',
          name: 'a tool-input-available alone is a look-up of the brain and starts nothing',
        },
      },
    ],
  },
  {
    whose: 'claude-code #77212; cline #10499',
    failure: 'A general "go on" overrode a rule that asked or denied',
    held: 'deny beats ask beats allow in any order; a grant replaces only people’s approval: core/src/policy/evaluate.ts, gate/propose/propose.ts',
    bugs: [
      plant('the first rule that fits wins', [
        'packages/core/src/policy/rules.test.ts',
        'every policy says what an independent reading of its rules says',
      ]),
      plant('a grant allows what policy denies', [
        'packages/server/src/gate/grants/grants.test.ts',
        'a grant answers in place of people only: what policy denies stays denied',
      ]),
      plant('a condition that fails lets its call through', [
        'packages/core/src/policy/rules.test.ts',
        'a condition that fails never makes the answer weaker than one that is true, nor than one that is false',
      ]),
    ],
  },
  {
    whose: 'docker-agent #4376, #35; claude-code #69042; codex #11162',
    failure: '"Remember" allowed everything or was not stored; one approval covered a whole turn',
    held: 'a grant names its tool and arguments or condition, expires and is stored; an approval names one action: gate/grants/grants.ts, gate/decide/decide.ts',
    bugs: [
      plant('what is remembered holds for any arguments', [
        'packages/server/src/gate/grants/grants.test.ts',
        'what is remembered with an approval is not asked again: exactly these arguments, and says by which grant',
      ]),
      plant('what is to be remembered is not kept', [
        'packages/server/src/gate/grants/grants.test.ts',
        'what is remembered with an approval is not asked again: exactly these arguments, and says by which grant',
      ]),
      plant('an approval in a session is one of all that wait', [
        'verification/acceptance/chat-decisions.more.test.ts',
        'with two waiting it wants to know which one; a rejection carries its reason to the model',
      ]),
    ],
  },
  {
    whose: 'goclaw #1204',
    failure: '"Always allow" was bound to `sh` and so allowed every command',
    held: 'a suggested rule is the narrowest that fits the approved calls: gate/grants/narrow-rule.ts',
    bugs: [
      plant('a suggested rule allows further arguments', [
        'packages/server/src/gate/grants/narrow-rule.test.ts',
        'is true of every call that it was made from, and of none with another argument more or less',
      ]),
      plant('a grant never ends', [
        'packages/server/src/gate/grants/grants.test.ts',
        'a grant ends: by its time, by its uses, by its revocation, with its tool',
      ]),
    ],
  },
  {
    whose: 'CVE-2025-54136 (Cursor); openhuman #5293',
    failure: 'The definition behind an approved name was replaced',
    held: 'decisions and grants are bound to the hash of the tool’s definition: gate/execute/verify-binding.ts, gate/grants/grants.ts',
    bugs: [
      plant('a grant goes by the name of its tool', [
        'packages/server/src/gate/grants/grants.test.ts',
        'a grant ends: by its time, by its uses, by its revocation, with its tool',
      ]),
      {
        bug: 'a decision goes by the name of its tool',
        test: {
          file: 'verification/campaign/bound/bound.more.test.ts',
          name: 'whatever one thing is otherwise between the decision and the start, it is not sent; what is the same is sent',
        },
      },
    ],
  },
  {
    whose: 'CVE-2025-54795, CVE-2025-66032 (Claude Code)',
    failure: 'The check parsed the input differently from the execution',
    held: 'arguments are parsed once and strictly; ambiguous input is refused, and the stored bytes are shown, hashed and sent: core/src/json/scan.ts',
    bugs: [
      plant('of a key that comes twice, the last counts', [
        'packages/core/src/json/parse.test.ts',
        'a key twice in one object is refused, also behind an escape: {"a":1,"a":1}',
      ]),
    ],
  },
  {
    whose: 'CVE-2025-59944 (Cursor)',
    failure: 'The check used one spelling, the target read another',
    held: 'a path value is checked in every form that a target may decode, hosts as the URL parser reads them: toolkit/src/http/url-template.ts',
    bugs: [
      plant('a value is checked as it is written only', [
        'packages/toolkit/src/routes/route-paths.more.test.ts',
        'a hostile value never reaches a path: refused when proposed, refused again when sent',
      ]),
    ],
  },
  {
    whose: 'Gemini CLI #25865 and its kin',
    failure: 'Only the first of several commands was checked',
    held: 'every call of a step is prepared and evaluated separately: agent/calls.ts',
    bugs: [
      plant('only the first call of a step is asked about', [
        'verification/acceptance/chat-decisions.more.test.ts',
        'with two waiting, "yes" decides nothing and says so; naming one decides that one',
      ]),
    ],
  },
  {
    whose: 'hermes #6735; Anthropic on its auto mode (93 % accept)',
    failure: 'An agent repeated a rejected call until somebody gave in',
    held: 'a declined call is not asked again in its run, and a run that insists is stopped; high risk is never granted: gate/propose/denial-memory.ts',
    bugs: [
      plant('what was declined is asked again', [
        'verification/acceptance/decisions.test.ts',
        'what was declined is not asked again in the run: the model is told why, and is stopped when it insists',
      ]),
      plant('a high risk may be granted', [
        'packages/server/src/gate/grants/grants.test.ts',
        'nothing is granted for a high risk, for what takes two, beyond 30 days, by who may not decide it alone',
      ]),
    ],
  },
]
