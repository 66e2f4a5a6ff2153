/** How long a person may take at the sign-in service. */
export const SIGN_IN_SECONDS = 600
