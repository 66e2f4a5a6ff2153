import { type Failure, plant } from './planted-failure.ts'

/** A person decides about something else than what they see. */
export const SHOWN: readonly Failure[] = [
  {
    whose: 'CVE-2025-54133 (Cursor)',
    failure: 'The dialog hid the arguments',
    held: 'all arguments are on the card; a long text shows how much is hidden, and holds a high risk until it is opened: react use-opened.ts',
    bugs: [
      plant(
        'what is hidden holds nothing',
        ['packages/react/src/use-opened.ts', 'isHidden: isHighRisk(action) && long.some', 'isHidden: !isHighRisk(action) && long.some'],
        [
          'packages/react/src/approval-card.browser.test.ts',
          'a long argument with its payload in the tail holds a high risk until it is opened',
        ],
      ),
    ],
  },
  {
    whose: 'openclaw PR 43687 (GHSA-pcqg-f7rg-xfvv)',
    failure: 'Characters that cannot be seen hid the text of a command',
    held: 'every such character is spelled out, on every surface: core text/show-invisible.ts',
    bugs: [
      plant(
        'characters of no width stay what they are',
        ['packages/core/src/text/show-invisible.ts', '[\\p{Cc}\\p{Cf}\\p{Cs}', '[\\p{Cc}\\p{Cs}'],
        [
          'packages/core/src/text/show-invisible.test.ts',
          'T2 every code point that cannot be seen is spelled out, alone and between letters, and everything else stays',
        ],
      ),
      plant(
        'the card shows the description as it came',
        [
          'packages/react/src/approval-card.tsx',
          'const description = showInvisible(action.description)',
          'const description = action.description',
        ],
        ['packages/react/src/approval-card.browser.test.ts', 'markup, links and unseen characters are plain text and fetch nothing'],
      ),
      plant(
        'two hosts that look alike look alike',
        [
          'packages/core/src/text/show-hosts.ts',
          '    return other === undefined || other === host.toLowerCase() ? host :',
          '    return other !== null ? host :',
        ],
        [
          'packages/core/src/text/show-invisible.test.ts',
          'T4 a host in other letters shows the host that will be asked, and an encoded one how it reads',
        ],
      ),
    ],
  },
  {
    whose: 'Lies-in-the-Loop; arXiv 2606.02668',
    failure: 'The agent narrated its own dialog, and its words were taken for facts',
    held: 'the card is made of the stored call; the agent’s words stand apart and are called unverified: gate/prepare.ts, react evidence.tsx',
    bugs: [
      plant(
        'what the agent says is the description',
        [
          'packages/server/src/gate/propose.ts',
          '    agent_says: input.agentSays || null,\n',
          '    agent_says: input.agentSays || null,\n    ...(input.agentSays && { description: input.agentSays }),\n',
        ],
        [
          'packages/server/src/acceptance/outside-agent.test.ts',
          'what the proposing agent says of its action stays apart from the description that the card is made of',
        ],
      ),
      plant(
        'raw HTML of a model is drawn',
        [
          'apps/web/src/chat/markdown.tsx',
          '<Markdown skipHtml rehypePlugins={PLUGINS} disallowedElements={FORBIDDEN} unwrapDisallowed',
          '<Markdown rehypePlugins={PLUGINS}',
        ],
        ['apps/web/src/chat/markdown.test.ts', 'an image is not drawn, so reading a message asks no other server for anything'],
      ),
      plant(
        'a link of a tool may be a script',
        ['packages/server/src/gate/attempt.ts', 'return url !== undefined && (/^https?:', 'return url !== undefined || (/^https?:'],
        ['packages/server/src/gate/execute.test.ts', 'a link that a tool makes is http, https or a path here'],
      ),
    ],
  },
  {
    whose: 'ours: T31, T32',
    failure: 'The card changed under the cursor: the click was for another one',
    held: 'buttons rest after every change and move, and a decision names what was seen: react use-cooldown.ts, use-decision.ts',
    bugs: [
      plant(
        'buttons do not rest',
        ['packages/react/src/use-cooldown.ts', 'const COOLDOWN_MS = 500', 'const COOLDOWN_MS = 0'],
        ['packages/react/src/approval-card.browser.test.ts', 'a click within 500 ms of the arrival is ignored, one after 600 ms counts'],
      ),
      plant(
        'a bare Enter approves',
        ['packages/react/src/card-keys.ts', "  if (armed && event.key === 'Enter' && target", "  if (event.key === 'Enter' && target"],
        ['packages/react/src/approval-card.browser.test.ts', 'Enter and Space on the page or on the card decide nothing'],
      ),
    ],
  },
]
