import { type Failure, plant } from './planted-failure.ts'

const CARDS_TEST = 'packages/tools-mcp/src/cards.test.ts'
const RISK_BY_NAME_TEST = 'packages/toolkit/src/risk-by-name.test.ts'
const HEADLINES_TEST = 'verification/acceptance/headlines.test.ts'
const HEADLINE_TEST = 'packages/toolkit/src/headline.test.ts'
const CHANGES_TEST = 'packages/react/src/changes.browser.more.test.ts'

/** Failures where names and lists hide something. */
export const NAMES: readonly Failure[] = [
  {
    whose: 'ours',
    failure: 'The card of an MCP tool showed the text its server chose',
    held: 'the card names what is called, with which arguments, and what runs: tools-mcp/src/call-words.ts, draft.ts',
    bugs: [
      plant('a title hides the name of the tool', [
        CARDS_TEST,
        'a title that says other words than the name does not hide the name, and its words count for the risk',
      ]),
      plant('arguments without room in a headline are left out without a word', [
        CARDS_TEST,
        'a headline says how many arguments it has no room for',
      ]),
      plant('what a server says stands on a card as if we had looked', [
        CARDS_TEST,
        'the card of a tool that nobody described says what is called with what, what its server says, what runs, and that it is high risk',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'A tool called dropTable had medium risk',
    held: 'risky words in the name of a write mean high risk, in any spelling: toolkit/src/risk-by-name.ts',
    bugs: [
      plant('a word says high risk only where a name begins', [
        RISK_BY_NAME_TEST,
        'a word of the list anywhere in a name makes a write high risk, however the name is written',
      ]),
      plant('a name in camel case is one word', [
        RISK_BY_NAME_TEST,
        'a word of the list anywhere in a name makes a write high risk, however the name is written',
      ]),
      plant('a word that is a thing says high risk anywhere', [
        RISK_BY_NAME_TEST,
        'what is a thing as often as a deed counts where a deed stands',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'A headline named a thing by its id, or by a name that had changed when it ran',
    held: 'names are read with the preview, quoted, and bound with the action: gate/propose/read-preview.ts, toolkit/src/headline.ts',
    bugs: [
      plant('a decision does not rest on the headline', [
        HEADLINES_TEST,
        'what a person approved is what they read: another heading is another action, even where nothing else was shown',
      ]),
      plant('a name may close the quotes that it stands in', [
        HEADLINE_TEST,
        'whatever a target calls something, it is one quoted line that ends where the quotes end',
      ]),
      plant('a name may be of several lines', [
        HEADLINE_TEST,
        'whatever a target calls something, it is one quoted line that ends where the quotes end',
      ]),
    ],
  },
  {
    whose: 'ours',
    failure: 'A table of lines omitted values',
    held: 'a list becomes a table only if every value has a cell: react/src/lines-table.tsx',
    bugs: [
      plant('the first line says which columns there are', [
        CHANGES_TEST,
        'a list of lines is a table with every value, a list of texts has each by itself; other lists are text',
      ]),
      plant('a long list is shown whole', [
        CHANGES_TEST,
        'of a long list the first lines are shown, and all of them when its button is pressed',
      ]),
    ],
  },
]
