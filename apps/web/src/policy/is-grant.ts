/** Whether the rule that an action names is a grant (*Don't ask again*), which has an id for a name. */
export const isGrant = (rule: string | undefined): boolean => /^grant gra_/.test(rule ?? '')
