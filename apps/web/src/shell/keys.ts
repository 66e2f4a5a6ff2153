/** The keys of the console, by the place where they act. The list behind `?` and the guide to the inbox show them. */
export const KEYS: { where: string; keys: [string, string][] }[] = [
  {
    where: 'Anywhere',
    keys: [
      ['Ctrl + K, ⌘ K', 'Go to a page, action, session, tool, rule or person, or run a command'],
      ['G, then I, H, P, T or D', 'Inbox, decided actions, policy, tools, delegations'],
      ['/', 'Search, on every page that has one'],
      ['U', 'Undo what you just approved'],
      ['?', 'This list'],
    ],
  },
  {
    where: 'Writing a message',
    keys: [
      ['Enter', 'Send'],
      ['Shift + Enter', 'New line'],
    ],
  },
  {
    where: 'On an approval card',
    keys: [
      ['A, then Enter', 'Approve'],
      ['D', 'Decline, with a reason'],
      ['Ctrl + Enter', 'Approve at once'],
    ],
  },
  {
    where: 'Editing the policy',
    keys: [
      ['Ctrl + Enter', 'To the reason'],
      ['Enter, in the reason', 'Save'],
    ],
  },
  {
    where: 'In the inbox',
    keys: [
      ['J', 'Next action'],
      ['K', 'Previous action'],
      ['Enter', 'Open it; fold or unfold a group'],
      ['←, →', 'To the group of an action; fold or unfold a group'],
      ['Shift + ← or →', 'Fold or unfold all groups'],
      ['A, then Enter', 'Approve'],
      ['D', 'Decline, with a reason'],
      ['A or D, with a choice or on a group', 'See all of them, before you approve or decline them'],
      ['E', 'Edit before you approve'],
      ['X', 'Choose it or its group, to take several together'],
      ['Shift + X', 'Choose all that are alike'],
      ['S', 'Snooze it, or all that are chosen'],
      ['M', 'Assign it, or all that are chosen'],
      ['Esc', 'Back to the list'],
    ],
  },
]
