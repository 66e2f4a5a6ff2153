/** The text that stands for the rule where no rule of the policy matches a call. All pages use it. */
export const NO_RULE = 'No rule matches'
