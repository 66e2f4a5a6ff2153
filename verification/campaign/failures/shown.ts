import { type Failure, plant } from './planted-failure.ts'

/** A person decides about something else than what they see. */
export const SHOWN: readonly Failure[] = [
  {
    whose: 'CVE-2025-54133 (Cursor)',
    failure: 'The dialog hid the arguments',
    held: 'all arguments are on the card; more than 2,000 hidden characters disable Approve at any risk until they are opened and scrolled to the end: core/src/text/hidden.ts, react/src/card/card-facts.ts',
    bugs: [
      plant('what is hidden holds nothing', [
        'packages/react/src/approval-card-content.browser.more.test.ts',
        'a long argument with its payload in the tail holds a high risk until it is opened',
      ]),
      plant('what is hidden holds a high risk only', [
        'packages/react/src/hidden.browser.more.test.ts',
        '66,900 folded characters hold Approve until they are opened and scrolled to their end: medium risk',
      ]),
      plant('what was opened counts as read', [
        'packages/react/src/hidden.browser.more.test.ts',
        '66,900 folded characters hold Approve until they are opened and scrolled to their end: medium risk',
      ]),
      plant('arguments behind the closed disclosure are not counted', [
        'packages/core/src/text/hidden.test.ts',
        'more than 2,000 hidden characters need opening at any risk, wherever they are',
      ]),
      plant('an approval that is remembered needs no reading', [
        'packages/react/src/hidden.browser.more.test.ts',
        '"don’t ask again" is no way round what is hidden',
      ]),
    ],
  },
  {
    whose: 'openclaw PR 43687 (GHSA-pcqg-f7rg-xfvv)',
    failure: 'Invisible characters hid the text of a command',
    held: 'every such character is spelled out on every surface: core/src/text/show-invisible.ts',
    bugs: [
      plant('characters of no width stay what they are', [
        'packages/core/src/text/show-invisible.test.ts',
        'every code point that cannot be seen is spelled out, alone and between letters, and everything else stays',
      ]),
      plant('the card shows the description as it came', [
        'packages/react/src/approval-card-content.browser.more.test.ts',
        'markup, links and unseen characters are plain text and fetch nothing',
      ]),
      plant('two hosts that look alike look alike', [
        'packages/core/src/text/show-invisible.test.ts',
        'a host in other letters shows the host that will be asked, and an encoded one how it reads',
      ]),
    ],
  },
  {
    whose: 'ours: T4',
    failure: 'A look-alike name in another script was approved as the known one',
    held: 'mixed scripts, look-alikes (Unicode UTS #39) and decomposed letters are marked on every surface, and look-alike old and new values show where they differ: core/src/text/mark-names.ts, core/src/text/look-alike.ts',
    bugs: [
      plant('a letter of another script is a letter like others', [
        'packages/core/src/text/mark-names.test.ts',
        'a letter of another script in a Latin name is marked: user, e-mail address, host, path, article number',
      ]),
      plant('brackets that somebody wrote take a mark away', [
        'packages/core/src/text/mark-names.test.ts',
        'brackets that were written to look like a mark take none away',
      ]),
      plant('values that look alike are shown side by side without a word', [
        'packages/react/src/hidden.browser.more.test.ts',
        'names that look alike are marked and told apart: in the preview, among the arguments, in an edit',
      ]),
    ],
  },
  {
    whose: 'Lies-in-the-Loop; arXiv 2606.02668',
    failure: 'The agent imitated the dialog, and its words were taken for facts',
    held: 'the card is built from the stored call; the agent’s words are separate and marked unverified: gate/propose/prepare.ts, react/src/evidence.tsx',
    bugs: [
      plant('what the agent says is the description', [
        'verification/acceptance/outside-agent.test.ts',
        'what the proposing agent says of its action stays apart from the description that the card is made of',
      ]),
      plant('raw HTML of a model is drawn', [
        'apps/web/src/chat/markdown.test.ts',
        'an image is not drawn, so reading a message asks no other server for anything',
      ]),
      plant('a link of a tool may be a script', [
        'packages/server/src/gate/execute/execute.test.ts',
        'a link that a tool makes is http, https or a path here',
      ]),
    ],
  },
  {
    whose: 'ours: T31, T32',
    failure: 'The card changed under the cursor, and the click hit another action',
    held: 'buttons pause after every change and move, and a decision names the digest that was shown: react/src/use-cooldown.ts, react/src/card/create-approval-card.ts',
    bugs: [
      plant('buttons do not rest', [
        'packages/react/src/approval-card.browser.test.ts',
        'a click within 500 ms of the arrival is ignored, one after 600 ms counts',
      ]),
      plant('a bare Enter approves', [
        'packages/react/src/approval-card.browser.test.ts',
        'Enter and Space on the page or on the card decide nothing',
      ]),
    ],
  },
]
