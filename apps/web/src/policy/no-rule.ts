/** What decided about a call that no rule of the policy matches, on every page. */
export const NO_RULE = 'No rule matches'
